// Takes the types away for webpack.
const { transform } = require('esbuild');

module.exports = function (source) {
  const done = this.async();
  const options = { loader: 'ts', sourcemap: true, sourcefile: this.resourcePath };
  transform(source, options).then((made) => done(null, made.code, JSON.parse(made.map)), done);
};

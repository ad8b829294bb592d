// Bundles the program with webpack.
const path = require('node:path');
const webpack = require('webpack');

const config = {
  mode: 'development', target: 'node', devtool: 'source-map', context: __dirname, entry: './src/main.ts',
  output: { filename: 'packed.cjs', path: path.join(__dirname, 'out') },
  resolve: { extensionAlias: { '.js': ['.ts'] } },
  module: { rules: [{ test: /\.ts$/, use: path.join(__dirname, 'loader.cjs') }] },
};
webpack(config, (error, stats) => {
  if (error || stats.hasErrors()) throw error ?? new Error(stats.toString());
});

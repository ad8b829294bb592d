// Bundles what is in src, again at every change, and says what webpack says.
import { fileURLToPath } from 'node:url';
import webpack from 'webpack';

const compiler = webpack({
  mode: 'development',
  devtool: 'source-map',
  entry: './src/index.js',
  context: fileURLToPath(new URL('.', import.meta.url)),
  output: { path: fileURLToPath(new URL('dist', import.meta.url)), publicPath: '/dist/' },
});
compiler.watch({ aggregateTimeout: 50 }, (error, stats) => {
  console.log(error ?? stats.toString({ preset: 'errors-warnings', timings: true, colors: false }));
});

// The programs of `debugged`, each with what an agent asks of it and the words that a right answer holds.
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, freePort } from './stage.mjs';
import { until } from './until.mjs';

/** Starts a server under the debugger with breakpoints and waits until it answers. */
async function serve({ stage, agent }, program, ...breakpoints) {
  const port = await freePort();
  await agent.call('debug_launch', { program, env: { PORT: String(port) }, breakpoints, wait_ms: 500 });
  await until(`${program} answers`, () => answers(port, '/none'));
  return port;
}

function build(stage, command, ...words) {
  const done = spawnSync(command, words, { cwd: stage.directory, env: { ...process.env, ...stage.environment, HOME: process.env.HOME }, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${command} ${words[0]}: ${done.error ?? done.stdout + done.stderr}`);
}

const line = (place) => Number(place.split(':')[1]);

async function flask(scene) {
  const { stage, agent, ask } = scene;
  const at = stage.place('app.py', '# OVERWRITES');
  const port = await serve(scene, 'app.py', at);
  const answer = answers(port, '/orders/1');
  await ask('where does the request stand?', 'debug_state', { wait_ms: 20_000 }, 'price', at);
  await agent.call('breakpoint_remove', { id: 'bp-1' });
  await ask('who changes the amount?', 'run_until_change', { expression: 'amount' }, at, '0 -> 10');
  await ask('and next?', 'run_until_change', { expression: 'amount' }, at, '10 -> 3');
  const stores = stage.place('app.py', '# STORES');
  await agent.call('debug_control', { action: 'run_to', file: 'app.py', line: line(stores) });
  await ask('what does storing it change?', 'step_and_diff', {}, /order\S*total: 0 -> 3/);
  await ask('what is in the order?', 'variables_get', { expand: 'order' }, 'Ada', 'total');
  await agent.call('debug_control', { action: 'continue', wait_ms: 500 });
  const { text } = await answer;
  if (!text.includes('3')) throw new Error(`the server said ${text}`);
}

async function pandas(scene) {
  const { stage, ask } = scene;
  const at = stage.place('report.py', '# CELL');
  await ask('where is the table changed?', 'debug_launch', { program: 'report.py', breakpoints: [at], wait_ms: 20_000 }, at);
  await ask('which table did the line change?', 'step_and_diff', {}, /modified:[^]*sales|not compared[^]*sales/);
  await ask('and which matrix?', 'step_and_diff', {}, /weights\[2\]\[1\]: 1\.0 -> 0\.5/);
  await ask('what is in the matrix?', 'variables_get', { expand: 'weights' }, '40');
  await ask('what does grouping make?', 'step_and_diff', {}, 'grouped');
  await ask('and the next line?', 'step_and_diff', {}, /modified:[^]*grouped|not compared[^]*grouped/);
}

async function pytest({ ask, agent }) {
  const test = (name) => ({ test: `test_report.py::${name}`, wait_ms: 30_000 });
  await ask('why does the test fail?', 'debug_launch', test('test_prices_are_reduced'), 'the test fails here', 'the first price', 'first', '7.5', 'rate', '0.25');
  await ask('what was found?', 'evaluate', { expression: 'rate' }, '0.25');
  await agent.call('debug_disconnect', {});
  await ask('does the other test pass?', 'debug_launch', test('test_a_rate_above_one_is_refused'), 'passed');
}

async function express(scene) {
  const { stage, agent, ask } = scene;
  const at = stage.place('server.js', '// TAKES');
  const port = await serve(scene, 'server.js', at);
  const sell = (path) => fetch(`http://127.0.0.1:${port}/sell/${path}`, { method: 'POST' }).then((response) => response.text());
  const answer = sell('apple/2');
  await ask('where does the sale stand?', 'debug_state', { wait_ms: 20_000 }, 'sell', at);
  await ask('what does the line change?', 'step_and_diff', {}, /article\.count: 5 -> 2/);
  await ask('and the next?', 'step_and_diff', {}, 'article.sold[0]');
  await ask('who asked for it?', 'stacktrace_get', {}, 'sell', at.replace(/\d+$/, String(line(at) + 2)));
  await agent.call('debug_control', { action: 'continue', wait_ms: 300 });
  if (!(await answer).includes('2')) throw new Error('the server gave another answer');
  await agent.call('breakpoint_set', { exception: 'all' }).catch(() => agent.call('breakpoint_set', { exceptions: 'all' }));
  const second = sell('plum/1');
  await agent.call('debug_state', { wait_ms: 20_000 });
  await ask('why does selling a plum fail?', 'debug_control', { action: 'continue', wait_ms: 5000 }, 'TypeError', 'undefined', at);
  await agent.call('debug_disconnect', {});
  await second.catch(() => {});
}

async function typescript({ stage, tools, agent, ask }) {
  const modules = join(tools, 'runners', 'node_modules');
  build(stage, 'node', join(modules, 'typescript/bin/tsc'), '-p', '.');
  build(stage, join(modules, '.bin/esbuild'), 'src/main.ts', '--bundle', '--platform=node', '--format=esm', '--sourcemap', '--outfile=out/bundle.mjs', '--log-level=error');
  build(stage, 'node', 'pack.cjs');
  const at = stage.place('src/cart.ts', '// ADDS');
  const ways = { tsc: 'dist/main.js', esbuild: 'out/bundle.mjs', webpack: 'out/packed.cjs', tsx: 'src/main.ts' };
  for (const [way, program] of Object.entries(ways)) {
    await ask(`${way}: where in the source?`, 'debug_launch', { program, breakpoints: [at], wait_ms: 20_000 }, 'total', at);
    await ask(`${way}: what does the line change?`, 'step_and_diff', {}, /sum: 0 -> 4/);
    await agent.call('debug_disconnect', {});
  }
}

async function vitest({ stage, ask }) {
  const at = stage.place('src/cart.test.ts', '// FAILS');
  await ask('why does the test fail?', 'debug_launch', { test: 'src/cart.test.ts::half of all', wait_ms: 30_000 }, 'the test fails here', at, 'expected 3 to be 6', 'found');
}

async function jest({ stage, ask, agent }) {
  const at = stage.place('basket.test.js', '// FAILS');
  const test = 'basket.test.js::what is taken out is gone';
  const stop = await ask('why does the test fail?', 'debug_launch', { test, wait_ms: 30_000 }, 'the test fails here', at, 'Expected: 1', 'kinds');
  await ask('what is left in the basket?', 'variables_get', { expand: 'basket', frame: stop.frame?.index ?? 0 }, '#counts');
  await agent.call('debug_disconnect', {});
  const leaves = stage.place('basket.js', '// LEAVES');
  await agent.call('debug_launch', { test, breakpoints: [leaves], wait_ms: 30_000 });
  await ask('what does removing change?', 'step_and_diff', {}, /#counts"?\]?\[apple\]: 1 -> 0/);
}

async function go({ stage, ask, agent }) {
  const at = stage.place('cart/cart_test.go', '// FAILS');
  const test = 'cart/cart_test.go::TestTotalTwice';
  await ask('why does the test fail?', 'debug_launch', { test, wait_ms: 60_000 }, 'the test fails here', at, 'the second total is 5, the first was 7', 'first');
  await agent.call('debug_disconnect', {});
  const before = stage.place('cart/cart_test.go', 'first := ');
  await agent.call('debug_launch', { test, breakpoints: [before], wait_ms: 60_000 });
  const writes = stage.place('cart/cart.go', '// WRITES');
  await ask('who changes the catalogue?', 'run_until_change', { expression: 'catalogue', wait_ms: 30_000 }, writes, '8 -> 4');
}

async function tokio({ stage, tools, ask, agent }) {
  copyFileSync(join(tools, '../../Cargo.lock'), join(stage.directory, 'Cargo.lock'));
  build(stage, 'cargo', 'build', '--quiet', '--offline', '--target-dir', join(tools, '../tmp/debugged-tokio'));
  copyFileSync(join(tools, '../tmp/debugged-tokio/debug/debugged-tokio'), join(stage.directory, 'sold'));
  const at = stage.place('src/main.rs', '// COUNTS');
  await ask('where does a worker count?', 'debug_launch', { program: 'sold', breakpoints: [at], wait_ms: 30_000 }, 'take', at);
  await ask('what does the line change?', 'step_and_diff', {}, /by_article\[apple\]/);
  await ask('and the next?', 'step_and_diff', {}, /orders\[1\]/);
  await agent.call('debug_control', { action: 'continue' });
  await agent.call('debug_control', { action: 'continue' });
  await ask('and for the third order?', 'step_and_diff', {}, /by_article\[apple\]: 1 -> 4/);
}

async function containers({ stage, ask, agent }) {
  build(stage, 'g++', '-g', '-O0', '-std=c++17', '-o', 'stock', 'stock.cpp');
  const at = stage.place('stock.cpp', '// TAKES');
  await ask('where is it taken?', 'debug_launch', { program: 'stock', breakpoints: [at], wait_ms: 30_000 }, 'reserve', at);
  const lines = [[/count: 5 -> 3/, 'pointers in a map'], [/places\[7\]: .*changed at \[40\]/, 'a vector in an unordered_map'],
    [/waiting|not compared[^]*stock/, 'a tuple in a deque'], [/stock\.last/, 'an optional'], [/stock\.state/, 'a variant']];
  for (const [words, what] of lines) await ask(`what does the line change: ${what}?`, 'step_and_diff', { depth: 4 }, words);
  await ask('what is left of the pears?', 'debug_control', { action: 'continue' }, '3');
}

export const programs = {
  flask: { play: flask },
  pandas: { play: pandas },
  pytest: { source: 'pandas', play: pytest },
  express: { made: 'apps', play: express },
  typescript: { play: typescript },
  vitest: { source: 'typescript', play: vitest },
  jest: { play: jest },
  go: { play: go },
  tokio: { play: tokio },
  containers: { play: containers },
};

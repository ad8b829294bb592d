// Bundles with source maps by webpack in watch mode, served by Express; the user loads the page again after a build.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../stage.mjs';
import { until } from '../until.mjs';
import { line, reload, restarted } from './acts.mjs';

/** A change of a source, and the build after it. */
const source = (file, from, to) => async (scene) => {
  scene.stage.edit(file, from, to);
  const isWhole = (text) => text.includes(to.split('\n')[0].trim()) && text.includes('sourceMappingURL');
  await until('webpack builds', () => isWhole(bundle(scene)));
};
/** A change of a source that does not build. */
const broken = (file, from, to) => ({ stage }) => stage.edit(file, from, to);
const server = (from, to) => async (scene) => {
  scene.stage.edit('server.mjs', from, to);
  await restarted(scene, 'web');
};

const BUGS = [
  {
    name: 'mapped',
    kind: 'TypeError in a bundle with a source map',
    plant: source('src/sum.js', 'total += price', 'total += price.value.amount'),
    act: reload,
    says: ["Cannot read properties of undefined (reading 'amount')"],
    at: line('src/sum.js', 'price.value.amount'),
    severity: 'error',
  },
  {
    name: 'build',
    kind: 'module that webpack does not find',
    plant: broken('src/index.js', './sum.js', './sums.js'),
    says: ["Can't resolve './sums.js'"],
    at: () => ['src/index.js:1', './src/index.js 1:'],
    severity: 'error',
  },
  {
    name: 'parse',
    kind: 'source that webpack cannot parse',
    plant: broken('src/sum.js', 'total += price;', 'total += ;'),
    says: ['Module parse failed', 'Unexpected token'],
    at: () => ['src/sum.js:4', './src/sum.js 4:'],
    severity: 'error',
  },
  {
    name: 'lazy chunk',
    kind: 'chunk of a bundle that is not there',
    plant: source('src/index.js', "load('/api/prices'", "const base = '/gone/';\n__webpack_public_path__ = base;\nload('/api/prices'"),
    act: reload,
    says: ['Loading chunk', '404'],
    at: () => ['GET /gone/src_chart_js.js'],
    severity: 'error',
  },
  {
    name: 'XHR timeout',
    kind: 'XMLHttpRequest.timeout on a slow endpoint',
    plant: async (scene) => {
      await source('src/index.js', '  request.send();', '  request.timeout = 300;\n  request.send();')(scene);
      await server('response.json([4, 7])', 'setTimeout(() => response.json([]), 5000)')(scene);
    },
    act: reload,
    says: ['timed out'],
    at: () => ['GET /api/prices'],
    severity: 'error',
  },
  {
    name: '401',
    kind: 'endpoint answers 401 with text',
    plant: server('response.json([4, 7])', "response.status(401).type('text').send('\"sign in first\"')"),
    act: reload,
    says: ['401', 'sign in first'],
    at: () => ['GET /api/prices'],
    severity: 'error',
  },
  {
    name: 'redirects',
    kind: 'redirect to itself for ever',
    plant: server('response.json([4, 7])', "response.redirect('/api/prices')"),
    act: reload,
    says: ['ERR_TOO_MANY_REDIRECTS'],
    at: () => ['GET /api/prices'],
    severity: 'error',
  },
  {
    name: 'stylesheet',
    kind: 'stylesheet that is not there',
    plant: server('href="/style.css"', 'href="/styles.css"'),
    act: reload,
    // Express answers 404 with a page, and Chromium refuses that before it tells of the answer.
    says: ['404'],
    at: () => ['GET /styles.css'],
    severity: 'error',
  },
  {
    name: 'event stream',
    kind: 'event stream that answers 503',
    plant: source('src/index.js', "load('/api/prices'", "new EventSource('/api/events');\nload('/api/prices'"),
    act: reload,
    // Chromium drops the words of an event stream that is refused.
    says: ['503'],
    at: () => ['GET /api/events'],
    severity: 'error',
  },
  {
    name: 'silent stream',
    kind: 'event stream that never answers',
    plant: async (scene) => {
      await source('src/index.js', "load('/api/prices'", "new EventSource('/api/events');\nload('/api/prices'")(scene);
      await server("response.status(503).send('no events today')", "request.on('close', () => {})")(scene);
    },
    act: reload,
    says: ['without an answer'],
    at: () => ['GET /api/events'],
    severity: 'warning',
  },
  {
    name: 'ended stream',
    kind: 'event stream that its server ends and does not take up again',
    plant: async (scene) => {
      await source('src/index.js', "load('/api/prices'", "new EventSource('/api/events');\nload('/api/prices'")(scene);
      const once = "app.locals.once ??= response.type('text/event-stream').send('data: 1\\n\\n')";
      await server("response.status(503).send('no events today')", once)(scene);
    },
    act: reload,
    says: ['event stream'],
    at: () => ['/api/events'],
    severity: 'warning',
  },
  {
    name: 'worker script',
    kind: "worker whose script is not there",
    plant: source('src/index.js', "load('/api/prices'", "new Worker('/gone.js');\nload('/api/prices'"),
    act: reload,
    says: ['404'],
    at: () => ['GET /gone.js'],
    severity: 'error',
  },
];

export const app = {
  bugs: BUGS,

  async start(scene) {
    const { stage, agent, node, user } = scene;
    scene.ports = { web: await freePort() };
    await stage.start('build', null, [node, 'build.mjs']);
    await stage.start('web', scene.ports.web, [node, '--watch', 'server.mjs'], { PORT: scene.ports.web });
    await restarted(scene, 'web');
    await until('webpack builds', () => bundle(scene).includes('sourceMappingURL'));
    scene.bundle = bundle(scene);
    await agent.call('browser_attach', { port: user.port });
    await user.open(`http://127.0.0.1:${scene.ports.web}/`);
    await user.sees('#sum', 'sum 11');
  },

  async fixed(scene, files) {
    if (files.includes('server.mjs')) await restarted(scene, 'web');
    await until('webpack builds what was mended', () => bundle(scene) === scene.bundle);
    await scene.user.reload();
    await scene.user.sees('#sum', 'sum 11');
  },

  reload,
};

/** What was built; nothing before the first time. */
function bundle({ stage }) {
  const file = join(stage.directory, 'dist/main.js');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

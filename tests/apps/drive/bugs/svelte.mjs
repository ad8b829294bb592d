// Vite, Svelte and a Lit element before FastAPI under uvicorn, with what runs beside a page: worklets, workers, streams, a
// database. Whatever of it breaks, the page itself looks well.
import { join } from 'node:path';
import { answers, freePort } from '../stage.mjs';
import { until } from '../until.mjs';
import { edit, line, reload } from './acts.mjs';

/** A change of the API, waited for until another process runs it. */
const server = (from, to) => async (scene) => {
  scene.stage.edit('app.py', from, to);
  await restarted(scene);
};
/** A line of a file that Vite serves as it is, under another name. */
const served = (file, text) => ({ stage }) => [stage.place(file, text).replace('public/', '')];
/** More that the page starts. */
const starts = (code) => edit('src/start.js', 'keep([{ id: 1 }', `${code}\n  keep([{ id: 1 }`);

const BUGS = [
  {
    name: 'aggregate',
    kind: 'AggregateError whose inner errors say why',
    plant: edit('src/load.js', "[read('/api/order')]", "[read('/api/ordre'), read('/api/orders/1')]"),
    says: ['AggregateError: All promises were rejected', '/api/ordre answered 404', '/api/orders/1 answered 404'],
    at: line('src/load.js', 'throw new Error'),
    severity: 'error',
  },
  {
    name: 'cause',
    kind: 'error in a Lit element with a cause',
    plant: edit('src/badge.js', "return 'studio';", "try {\n      return this.names[0];\n    } catch (cause) {\n      throw new Error('no label', { cause });\n    }"),
    says: ['Error: no label', 'caused by TypeError: Cannot read properties of undefined'],
    at: line('src/badge.js', 'this.names[0]'),
    severity: 'error',
  },
  {
    name: 'key',
    kind: 'each block of Svelte with a key twice',
    plant: edit('src/App.svelte', '{ id: 2,', '{ id: 1,'),
    says: ['each_key_duplicate'],
    at: () => [/App\.svelte/],
    severity: 'error',
  },
  {
    name: 'compile',
    kind: 'Svelte that does not compile',
    plant: edit('src/App.svelte', '{/each}', '{/if}'),
    says: ['Expected token each'],
    at: line('src/App.svelte', '{/if}'),
    severity: 'error',
    after: reload,
  },
  {
    name: 'worklet',
    kind: 'audio worklet that throws',
    plant: edit('public/sound.js', "registerProcessor('quiet'", "registerProcessor(quiet.name"),
    act: reload,
    says: ['ReferenceError: quiet is not defined'],
    at: served('public/sound.js', 'quiet.name'),
    severity: 'error',
    after: reload,
  },
  {
    name: 'shared worker',
    kind: 'shared worker that throws when a page connects',
    plant: edit('public/shared.js', 'prices.cup', 'price.cup'),
    act: reload,
    says: ['ReferenceError: price is not defined'],
    at: served('public/shared.js', 'price.cup'),
    severity: 'error',
    after: reload,
  },
  {
    name: 'nested worker',
    kind: 'worker of a worker that throws',
    plant: edit('public/inner.js', 'rows.length', 'row.length'),
    act: reload,
    says: ['ReferenceError: row is not defined'],
    at: served('public/inner.js', 'row.length'),
    severity: 'error',
    after: reload,
  },
  {
    name: 'terminated worker',
    kind: 'worker that its page ends upon the error',
    plant: edit('public/outer.js', 'const totals = [1, 2];', 'const totals = total;'),
    act: reload,
    says: ['ReferenceError: total is not defined'],
    at: served('public/outer.js', '= total;'),
    severity: 'error',
    after: reload,
  },
  {
    name: 'image',
    kind: 'image whose data is broken',
    plant: edit('public/cover.svg', '<rect', '<<rect'),
    act: reload,
    says: ['an image cannot be shown'],
    at: () => ['/cover.svg'],
    severity: 'warning',
    after: reload,
  },
  {
    name: 'film',
    kind: 'film that cannot be played',
    plant: edit('index.html', '<img src', '<video src="/cover.svg" muted autoplay></video>\n    <img src'),
    says: ['a film cannot be played'],
    at: () => ['/cover.svg'],
    severity: 'warning',
  },
  {
    name: 'database',
    kind: 'transaction of IndexedDB that is undone',
    plant: edit('src/start.js', '{ id: 2 }', '{ id: 1 }'),
    says: ['IndexedDB undid a transaction of seen', 'ConstraintError'],
    at: () => ['IndexedDB'],
    severity: 'warning',
  },
  {
    name: 'endless reload',
    kind: 'page that loads itself again and again',
    plant: edit('src/start.js', 'keep([{ id: 1 }', 'setTimeout(() => location.reload(), 100);\n  keep([{ id: 1 }'),
    says: ['loads itself again and again', 'location.reload()'],
    at: line('src/start.js', 'location.reload()'),
    severity: 'error',
    // While it loads there is no page to speak to.
    after: ({ user }) => until('the page loads', () => user.reload().then(() => true, () => false)),
  },
  {
    name: 'download',
    kind: 'download of an address that answers 404',
    plant: edit('src/App.svelte', 'href="/api/report"', 'href="/api/reports"'),
    act: async ({ user }) => {
      await until('the link has changed', () => user.ask('document.querySelector("#save").href.endsWith("reports")'));
      await user.click('#save');
    },
    says: ['the download got no file'],
    at: () => ['GET /api/reports'],
    severity: 'error',
  },
  {
    name: 'socket hangs',
    kind: 'WebSocket that never connects',
    plant: async (scene) => {
      await server('    await socket.accept()', '    await asyncio.sleep(3600)\n    await socket.accept()')(scene);
      starts("new WebSocket(`ws://${location.host}/api/prices`);")(scene);
    },
    says: ['without an answer'],
    at: () => ['/api/prices'],
    severity: 'warning',
  },
  {
    name: 'lost stream',
    kind: 'event stream that its server ends and refuses afterwards',
    plant: async (scene) => {
      // It ends at once: as long as it is open nothing is lost, and an answer in that time is rightly clean.
      const lasting = '        while True:\n            yield "data: 1\\n\\n"\n            await asyncio.sleep(1)\n';
      scene.stage.edit('app.py', lasting, '        yield "data: 1\\n\\n"\n');
      const refused = '    if STOCK.pop("cup", None) is None:\n        return PlainTextResponse("no more events", 503)\n';
      await server('    async def ticks():', `${refused}    async def ticks():`)(scene);
      starts("new EventSource('/api/events');")(scene);
    },
    says: ['event stream'],
    at: () => ['/api/events'],
    severity: 'error',
  },
  {
    name: 'response model',
    kind: 'answer that does not fit its response_model',
    plant: server('"total": 11}', '"total": "eleven"}'),
    act: reload,
    says: ['ResponseValidationError', '500', 'GET /api/order'],
    at: ({ stage }) => [stage.place('app.py', '@app.get("/api/order"'), stage.place('app.py', 'async def order()')],
    severity: 'error',
    after: reload,
  },
  {
    name: 'lifespan',
    kind: 'exception while uvicorn starts',
    plant: async ({ stage, ports }) => {
      stage.edit('app.py', 'STOCK["cup"]', 'STOCK["cups"]');
      await until('the API is down', async () => !(await answers(ports.api, '/api/health')));
    },
    says: ["KeyError: 'cups'"],
    at: line('app.py', 'STOCK["cups"]'),
    severity: 'error',
    after: reload,
  },
  {
    name: 'config',
    kind: 'Vite that cannot start again',
    plant: edit('vite.config.js', 'plugins: [svelte()]', 'plugins: [svelt()]'),
    says: ['svelt is not defined'],
    // Vite says of its settings only which file they are in.
    at: () => ['vite.config.js'],
    severity: 'error',
  },
];

export const app = {
  bugs: BUGS,

  async start(scene) {
    const { stage, agent, node, user } = scene;
    scene.ports = { web: await freePort(), api: await freePort() };
    await startApi(scene);
    const environment = { PORT: scene.ports.web, API_PORT: scene.ports.api };
    await stage.start('web', scene.ports.web, [node, 'node_modules/vite/bin/vite.js'], environment);
    await agent.call('browser_attach', { port: user.port });
    await user.open(`http://127.0.0.1:${scene.ports.web}/`);
    await user.sees('h1', 'order 7');
  },

  async fixed(scene, files, bug) {
    if (files.includes('app.py') && !bug.fix) await restarted(scene);
  },

  reload,
};

async function startApi(scene) {
  const { stage, ports } = scene;
  const uvicorn = join(stage.tools, 'venv/bin/uvicorn');
  const words = [uvicorn, 'app:app', '--port', String(ports.api), '--reload', '--timeout-graceful-shutdown', '1'];
  await stage.start('api', ports.api, words, { PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' });
  await restarted(scene);
}

/** Waits until another process answers. */
async function restarted(scene) {
  scene.process = await until('uvicorn starts anew', async () => {
    const health = await answers(scene.ports.api, '/api/health');
    return health?.status === 200 && health.text !== scene.process && health.text;
  });
}

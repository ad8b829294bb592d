// Vite and React in StrictMode, with an Express server behind Vite's proxy and another one for a WebSocket.
import { answers, freePort } from '../stage.mjs';
import { until } from '../until.mjs';
import { click, edit, line, reload, restarted } from './acts.mjs';

/** A change of the server, which starts anew by itself. */
const server = (from, to) => async (scene) => {
  scene.stage.edit('server.js', from, to);
  await restarted(scene, 'api');
};

const BUGS = [
  {
    name: 'type error',
    kind: 'TypeError in a component',
    plant: edit('src/Cart.jsx', '{items.map((item)', '{items.rows.map((item)'),
    says: ["TypeError: Cannot read properties of undefined (reading 'map')"],
    at: line('src/Cart.jsx', 'items.rows.map'),
    severity: 'error',
  },
  {
    name: 'click',
    kind: 'ReferenceError in an event handler',
    plant: edit('src/Cart.jsx', '  async function buy() {', '  async function buy() {\n    total += 1;', '>Buy<', '>Buy now<'),
    act: async ({ user }) => {
      await user.sees('#buy', 'Buy now');
      await user.click('#buy');
    },
    says: ['ReferenceError: total is not defined'],
    at: line('src/Cart.jsx', 'total += 1'),
    severity: 'error',
  },
  {
    name: 'syntax',
    kind: 'JSX that does not compile',
    plant: edit('src/Cart.jsx', '</ul>', '</ul'),
    says: ['PARSE_ERROR'],
    at: line('src/Cart.jsx', '<button id="buy"'),
    severity: 'error',
  },
  {
    name: 'import',
    kind: 'import of a file that is not there',
    plant: edit('src/App.jsx', './Stock.jsx', './Stocks.jsx'),
    says: ['Failed to resolve import "./Stocks.jsx"'],
    at: line('src/App.jsx', './Stocks.jsx'),
    severity: 'error',
  },
  {
    name: 'rejection',
    kind: 'unhandled rejection',
    plant: edit('src/Stock.jsx', '  useEffect(refresh', "  useEffect(() => {\n    Promise.reject(new Error('no stock at all'));\n  }, []);\n  useEffect(refresh"),
    says: ['no stock at all'],
    at: line('src/Stock.jsx', 'no stock at all'),
    severity: 'error',
  },
  {
    name: 'endless render',
    kind: 'an effect that renders for ever',
    plant: edit('src/Cart.jsx', '  async function buy', '  useEffect(() => setItems([...items]));\n\n  async function buy'),
    says: ['Maximum update depth exceeded'],
    at: line('src/Cart.jsx', 'setItems([...items])'),
    severity: 'error',
  },
  {
    name: 'key',
    kind: 'list without keys',
    plant: edit('src/Cart.jsx', '<li key={item.id}>', '<li>'),
    says: ['unique "key" prop'],
    // React warns from its own code; where the element was made is in the asynchronous stack alone.
    at: line('src/Cart.jsx', '<li>{item.name}'),
    severity: 'error',
  },
  {
    name: 'container',
    kind: 'root element that is not there',
    plant: edit('src/main.jsx', "'root'", "'rooot'"),
    says: ['Target container is not a DOM element'],
    at: line('src/main.jsx', "'rooot'"),
    severity: 'error',
  },
  {
    name: '500 JSON',
    kind: 'endpoint answers 500 with JSON',
    plant: server('response.json(goods)', "response.status(500).json({ error: 'database is gone' })"),
    act: reload,
    says: ['500', 'database is gone'],
    at: () => ['GET /api/items'],
    severity: 'error',
    after: reload,
  },
  {
    name: '500 HTML',
    kind: "handler throws, Express' error page",
    plant: server('response.json({ cup: 3', 'response.json({ cup: shelf.cup'),
    act: click('#refresh'),
    says: ['500', 'GET /api/stock', 'ReferenceError: shelf is not defined'],
    at: line('server.js', 'shelf.cup'),
    severity: 'error',
    after: click('#refresh'),
  },
  {
    name: '404 unread',
    kind: '404, no-store, its body unread',
    plant: server('response.json({ cup: 3, plate: 5 })', "response.status(404).set('cache-control', 'no-store').json({})"),
    act: click('#refresh'),
    says: ['404'],
    at: () => ['GET /api/stock'],
    severity: 'error',
    after: click('#refresh'),
  },
  {
    name: 'hang',
    kind: 'endpoint that never answers',
    plant: server('response.json({ cup: 3, plate: 5 })', "request.on('close', () => {})"),
    act: click('#refresh'),
    says: ['GET /api/stock'],
    at: () => ['GET /api/stock'],
    severity: 'warning',
    after: click('#refresh'),
  },
  {
    name: 'GraphQL',
    kind: 'GraphQL errors in a 200',
    plant: server("{ data: { user: { name: 'Ada' } } }", "{ data: null, errors: [{ message: 'Not authorised' }] }"),
    act: click('#refresh'),
    says: ['Not authorised'],
    at: () => ['POST /api/graphql#GetUser'],
    severity: 'error',
    after: click('#refresh'),
  },
  {
    name: 'CORS',
    kind: 'fetch from another origin without CORS',
    plant: edit('src/api.js', "fetch('/api/stock')", "fetch(__API__ + '/api/stock')"),
    act: reload,
    says: ['CORS'],
    at: () => ['/api/stock'],
    severity: 'error',
  },
  {
    name: 'image',
    kind: 'missing image, Vite answers with its page',
    plant: edit('src/App.jsx', '/logo.svg', '/images/logo.png'),
    says: ['text/html'],
    at: () => ['GET /images/logo.png'],
    severity: 'warning',
  },
  {
    name: 'CSP',
    kind: 'fetch blocked by the content security policy',
    plant: ({ stage, ports }) =>
      stage.edit(
        'index.html',
        '<title>',
        `<meta http-equiv="Content-Security-Policy" content="connect-src ws://127.0.0.1:${ports.web} ws://127.0.0.1:${ports.live}" />\n    <title>`,
      ),
    says: ['blocked by the content security policy', 'connect-src'],
    at: () => ['GET /api/items'],
    severity: 'error',
  },
  {
    name: 'page timeout',
    kind: 'AbortSignal.timeout on a slow endpoint',
    plant: async (scene) => {
      scene.stage.edit('src/api.js', "fetch('/api/stock')", "fetch('/api/stock', { signal: AbortSignal.timeout(300) })");
      await server('response.json({ cup: 3, plate: 5 })', 'setTimeout(() => response.json({}), 5000)')(scene);
    },
    act: click('#refresh'),
    says: ['timed out'],
    at: () => ['GET /api/stock'],
    severity: 'error',
    after: click('#refresh'),
  },
  {
    name: 'socket closed',
    kind: 'WebSocket server closes with 1011',
    plant: async (scene) => {
      scene.stage.edit('live.js', "  socket.send('4.50');", "  socket.send('4.50');\n  socket.close(1011, 'prices are gone');");
      await restarted(scene, 'live');
    },
    act: reload,
    says: ['1011', 'prices are gone'],
    at: () => ['/live'],
    severity: 'warning',
    after: reload,
  },
  {
    name: 'socket refused',
    kind: 'WebSocket at a port where no program listens',
    plant: ({ stage, ports }) => stage.edit('src/Live.jsx', '__LIVE__', `'ws://127.0.0.1:${ports.nobody}/live'`),
    act: reload,
    says: ['ERR_CONNECTION_REFUSED'],
    at: ({ ports }) => [`ws://127.0.0.1:${ports.nobody}/live`],
    severity: 'error',
  },
  {
    name: 'chunk',
    kind: 'dynamic import of a file that is not there',
    plant: edit('src/Stock.jsx', '  useEffect(refresh', "  useEffect(() => {\n    const path = './Chart.jsx';\n    import(path);\n  }, []);\n  useEffect(refresh"),
    says: ['Failed to fetch dynamically imported module', '/src/Chart.jsx'],
    at: line('src/Stock.jsx', 'import(path)'),
    severity: 'error',
  },
  {
    name: 'worker',
    kind: 'worker that throws',
    plant: ({ stage }) => {
      stage.add('src/sums.js', '// Adds up.\nonmessage = ({ data }) => {\n  postMessage(data.prices.length);\n};\n');
      stage.edit('src/Stock.jsx', '  useEffect(refresh', "  useEffect(() => {\n    new Worker(new URL('./sums.js', import.meta.url)).postMessage({});\n  }, []);\n  useEffect(refresh");
    },
    says: ["TypeError: Cannot read properties of undefined (reading 'length')"],
    at: line('src/sums.js', 'data.prices'),
    severity: 'error',
  },
  {
    name: 'console.error',
    kind: "the app's own console.error with a changing number",
    plant: edit('src/Stock.jsx', '  useEffect(refresh', "  useEffect(() => {\n    for (let n = 0; n < 20; n++) console.error(`price of item ${40000 + n} is missing`);\n  }, []);\n  useEffect(refresh"),
    says: ['is missing'],
    at: line('src/Stock.jsx', 'console.error'),
    severity: 'error',
  },
  {
    name: 'quota',
    kind: 'localStorage is full',
    plant: edit('src/Stock.jsx', '  useEffect(refresh', "  useEffect(() => {\n    localStorage.setItem('all', 'x'.repeat(6e6));\n  }, []);\n  useEffect(refresh"),
    says: ['exceeded the quota'],
    at: line('src/Stock.jsx', 'setItem'),
    severity: 'error',
  },
  {
    name: 'frame',
    kind: 'iframe whose address is refused',
    plant: ({ stage, ports }) => stage.edit('src/App.jsx', '<h1>Shop</h1>', `<h1>Shop</h1>\n      <iframe title="map" src="http://127.0.0.1:${ports.nobody}/map" />`),
    says: ['ERR_CONNECTION_REFUSED'],
    at: () => ['/map'],
    severity: 'error',
  },
  {
    name: 'async handler',
    kind: 'rejection in an asynchronous event handler',
    plant: edit('src/Cart.jsx', '    const answer = await order(items);', "    const answer = await order(items);\n    if (answer.number) throw new Error('card declined');", '>Buy<', '>Buy now<'),
    act: async ({ user }) => {
      await user.sees('#buy', 'Buy now');
      await user.click('#buy');
    },
    says: ['Error: card declined'],
    at: line('src/Cart.jsx', 'card declined'),
    severity: 'error',
  },
  {
    name: '413',
    kind: 'endpoint refuses what the page sends as too large',
    plant: server("response.json({ ok: true, number: 7 })", "response.status(413).send('at most 10 kB')"),
    act: click('#buy'),
    says: ['413', 'at most 10 kB'],
    at: () => ['POST /api/orders'],
    severity: 'error',
    after: click('#buy'),
  },
  {
    name: '429',
    kind: 'endpoint answers 429 and says when to come back',
    plant: server('response.json({ cup: 3, plate: 5 })', "response.status(429).set('retry-after', '30').json({ detail: 'slow down' })"),
    act: click('#refresh'),
    says: ['429', 'slow down'],
    at: () => ['GET /api/stock'],
    severity: 'error',
    after: click('#refresh'),
  },
  {
    name: 'half JSON',
    kind: 'JSON that does not parse',
    plant: server('response.json({ cup: 3, plate: 5 })', "response.type('json').send('{\"cup\": 3,')"),
    act: click('#refresh'),
    // Nothing of the app is on the stack of a body that is parsed; the endpoint says where it came from.
    says: ['SyntaxError', 'is none: {"cup": 3,'],
    at: () => ['GET /api/stock'],
    severity: 'error',
    after: click('#refresh'),
  },
  {
    name: 'IndexedDB',
    kind: 'object store that IndexedDB does not have',
    plant: edit('src/Stock.jsx', '  useEffect(refresh', "  useEffect(() => {\n    indexedDB.open('shop', 1).onsuccess = ({ target }) => {\n      target.result.transaction('carts');\n    };\n  }, []);\n  useEffect(refresh"),
    says: ['NotFoundError'],
    at: line('src/Stock.jsx', "transaction('carts')"),
    severity: 'error',
  },
  {
    name: 'formats',
    kind: 'console.error with format specifiers and an object',
    plant: edit('src/Stock.jsx', '  useEffect(refresh', "  useEffect(() => {\n    console.error('%s has %d left: %o', 'cup', 0, { shelf: 'B4' });\n  }, []);\n  useEffect(refresh"),
    says: ['cup has 0 left:', 'B4'],
    at: line('src/Stock.jsx', 'console.error'),
    severity: 'error',
  },
  {
    name: 'hydration',
    kind: 'markup of the server that React does not expect',
    plant: ({ stage }) => {
      const from = "import { createRoot } from 'react-dom/client';\nimport { App } from './App.jsx';\n\ncreateRoot(document.getElementById('root')).render(";
      const to = "import { hydrateRoot } from 'react-dom/client';\nimport { App } from './App.jsx';\n\nhydrateRoot(\n  document.getElementById('root'),";
      stage.edit('src/main.jsx', from, to);
      stage.edit('index.html', '<div id="root"></div>', '<div id="root"><main><h1>Closed</h1></main></div>');
    },
    says: ["Hydration failed"],
    at: line('src/App.jsx', '<img src'),
    severity: 'error',
  },
  {
    name: 'service worker',
    kind: 'service worker that is not there, Vite answers with its page',
    plant: edit('src/Stock.jsx', '  useEffect(refresh', "  useEffect(() => {\n    navigator.serviceWorker.register('/offline.js');\n  }, []);\n  useEffect(refresh"),
    // Browsers give such a rejection no stack, and no place is better than the first line of the page.
    says: ['Failed to register a ServiceWorker'],
    at: () => [/offline\.js'\).*\(in p(?!.*@ http)/],
    severity: 'error',
  },
  {
    name: 'server crash',
    kind: 'the API crashes when it starts',
    plant: async (scene) => {
      scene.stage.edit('server.js', "response.json({ data: { user: { name: 'Ada' } } });\n});", "response.json({ data: { user: { name: 'Ada' } } });\n});\napp.use(sessions());");
      await until('the API is gone', async () => !(await answers(scene.ports.api, '/health')));
    },
    act: click('#refresh'),
    says: ['ReferenceError: sessions is not defined', 'GET /api/stock'],
    at: line('server.js', 'sessions()'),
    severity: 'error',
    after: click('#refresh'),
  },
  {
    name: 'dev server gone',
    kind: 'the dev server is ended',
    plant: ({ stage }) => stage.stop('web'),
    says: ['web'],
    at: () => ['vite', 'terminal: web', 'process web'],
    severity: 'warning',
    fix: startVite,
  },
  {
    name: 'page not loaded',
    kind: 'a load while the dev server is down',
    plant: ({ stage }) => stage.stop('web'),
    act: ({ user, ports }) => user.open(`http://127.0.0.1:${ports.web}/`),
    says: ['ERR_CONNECTION_REFUSED'],
    at: () => ['GET /'],
    severity: 'error',
    fix: startVite,
    after: ({ user, ports }) => user.open(`http://127.0.0.1:${ports.web}/`),
  },
];

export const app = {
  bugs: BUGS,

  async start(scene) {
    const { stage, agent, node, user } = scene;
    const ports = (scene.ports = { web: await freePort(), api: await freePort(), live: await freePort(), nobody: await freePort() });
    await stage.start('api', ports.api, [node, '--watch', 'server.js'], { API_PORT: ports.api });
    await stage.start('live', ports.live, [node, '--watch', 'live.js'], { LIVE_PORT: ports.live });
    await startVite(scene);
    await restarted(scene, 'api');
    await restarted(scene, 'live');
    await agent.call('browser_attach', { port: user.port });
    await user.open(`http://127.0.0.1:${ports.web}/`);
    await user.sees('#price', '4.50');
  },

  /** After the files were written as they were: the servers run what is in them. */
  async fixed(scene, files) {
    if (files.includes('server.js')) await restarted(scene, 'api');
    if (files.includes('live.js')) await restarted(scene, 'live');
  },

  reload,
};

function startVite({ stage, ports, node }) {
  const variables = { PORT: ports.web, API_PORT: ports.api, LIVE_PORT: ports.live };
  return stage.start('web', ports.web, [node, 'node_modules/vite/bin/vite.js'], variables);
}

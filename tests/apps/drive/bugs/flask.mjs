// Flask in debug mode, which starts anew by itself after an edit, and a page without any framework.
import { join } from 'node:path';
import { answers, freePort } from '../stage.mjs';
import { until } from '../until.mjs';
import { click, edit, line, reload } from './acts.mjs';

/** A change of the app, waited for until another process runs it. */
const server = (from, to) => async (scene) => {
  scene.stage.edit('app.py', from, to);
  await restarted(scene);
};

const BUGS = [
  {
    name: 'traceback',
    kind: 'Python traceback in a request',
    plant: server('order["total"]', 'order["totals"]'),
    act: reload,
    says: ['500', 'GET /api/total', "KeyError: 'totals'"],
    at: line('app.py', 'order["totals"]'),
    severity: 'error',
    after: reload,
  },
  {
    name: 'page',
    kind: 'the page itself answers 500: error in a Jinja template',
    plant: edit('templates/index.html', '{{ item }}', '{{ item.name.first }}'),
    act: reload,
    says: ['500 GET /', 'UndefinedError'],
    at: line('templates/index.html', 'item.name.first'),
    severity: 'error',
    after: reload,
  },
  {
    name: 'form',
    kind: 'endpoint refuses what the page sends with 422',
    plant: server('    return jsonify(number', '    return jsonify(errors=["items: too few"]), 422\n    return jsonify(number'),
    act: click('#order'),
    says: ['422', 'items: too few'],
    at: () => ['POST /api/orders'],
    severity: 'error',
    after: click('#order'),
  },
  {
    name: 'log',
    kind: 'error that a program only logs',
    plant: server('    order = ORDERS["first"]', '    app.logger.error("stock is below zero")\n    order = ORDERS["first"]'),
    act: reload,
    says: ['stock is below zero'],
    at: () => ['ERROR in app'],
    severity: 'error',
    after: reload,
  },
  {
    name: 'script',
    kind: 'script that is not there',
    plant: edit('templates/index.html', '/static/orders.js', '/static/order.js'),
    act: reload,
    says: ['404'],
    at: () => ['GET /static/order.js'],
    severity: 'error',
    after: reload,
  },
  {
    name: 'inline script',
    kind: 'error in a script of the page',
    plant: edit('templates/index.html', '<script src', '<script>showTotal();</script>\n<script src'),
    act: reload,
    says: ['ReferenceError: showTotal is not defined'],
    // The list has two items, which take four lines more in the page than in the template.
    at: ({ port }) => [`http://127.0.0.1:${port}/:13`, '/:13'],
    severity: 'error',
    after: reload,
  },
  {
    name: 'page redirects',
    kind: 'the page redirects to itself for ever',
    plant: server('return render_template("index.html", order=ORDERS["first"])', 'return redirect("/")'),
    act: reload,
    says: ['ERR_TOO_MANY_REDIRECTS'],
    at: () => ['GET /'],
    severity: 'error',
    after: ({ user, port }) => user.open(`http://127.0.0.1:${port}/`),
  },
  {
    name: 'Python syntax',
    kind: 'Python that does not compile',
    plant: async ({ stage, port }) => {
      stage.edit('app.py', 'return jsonify(total=', 'return jsonify(total=(');
      await until('Flask reads the edit', async () => (await answers(port, '/health'))?.status === 500);
    },
    act: reload,
    says: ['SyntaxError'],
    at: line('app.py', 'return jsonify(total=('),
    severity: 'error',
    after: reload,
  },
  {
    name: 'killed',
    kind: 'the server dies in the middle of a request',
    plant: server('    order = ORDERS["first"]', '    os._exit(1)\n    order = ORDERS["first"]'),
    act: reload,
    says: ['ERR_EMPTY_RESPONSE'],
    at: () => ['GET /api/total'],
    severity: 'error',
    fix: start,
    after: reload,
  },
];

export const app = {
  bugs: BUGS,

  async start(scene) {
    scene.port = await freePort();
    await start(scene);
    await scene.agent.call('browser_attach', { port: scene.user.port });
    await scene.user.open(`http://127.0.0.1:${scene.port}/`);
    await scene.user.sees('#total', 'total 11');
  },

  async fixed(scene, files, bug) {
    if (files.includes('app.py') && !bug.fix) await restarted(scene);
  },

  reload,
};

async function start(scene) {
  const { stage, port } = scene;
  const flask = join(stage.tools, 'venv/bin/flask');
  await stage.start('web', port, [flask, '--app', 'app', 'run', '--debug', '--port', String(port)], { PYTHONDONTWRITEBYTECODE: '1' });
  await restarted(scene);
}

/** Waits until another process answers. */
async function restarted(scene) {
  scene.process = await until('Flask starts anew', async () => {
    const health = await answers(scene.port, '/health');
    return health?.status === 200 && health.text !== scene.process && health.text;
  });
}

// A small shop that two agents and a person worked on: steps, an outside change, checkpoints, an error and its fix, a
// milestone. Everything is made by the real program, through its command line and its API.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export class Stage {
  constructor(program, python) {
    this.program = program;
    this.python = python;
    this.base = mkdtempSync(join(tmpdir(), 'backsight-dashboard-'));
    this.root = join(this.base, 'shop');
    mkdirSync(this.root);
    this.environment = { ...process.env, HOME: this.base, XDG_STATE_HOME: join(this.base, 'state'), XDG_CONFIG_HOME: join(this.base, 'config'), USER: 'ada', DISPLAY: '', WAYLAND_DISPLAY: '' };
  }

  path = (file) => join(this.root, file);
  read = (file) => readFileSync(this.path(file), 'utf8');
  write(file, text) {
    mkdirSync(dirname(this.path(file)), { recursive: true });
    writeFileSync(this.path(file), text);
  }

  /** Runs a command and gives its answer. */
  run(...words) {
    return JSON.parse(execFileSync(this.program, ['--json', ...words], { cwd: this.root, env: this.environment, encoding: 'utf8' }));
  }

  /** Writes files and records them as a step. */
  step(files, description, { session, tool = 'Edit', message } = {}) {
    for (const [file, text] of Object.entries(files)) this.write(file, text);
    const more = [session && ['--session', session], message && ['--message', message]].filter(Boolean).flat();
    return this.run('track', '-m', description, '--tool', tool, ...more).sequence_number;
  }

  /** Starts the server; `open` gives addresses for browsers. */
  async serve() {
    this.server = spawn(this.program, ['--json', 'serve', '--port', '0'], { cwd: this.root, env: this.environment, stdio: ['ignore', 'pipe', 'inherit'] });
    const line = await new Promise((resolve, reject) => {
      createInterface({ input: this.server.stdout }).once('line', resolve);
      this.server.once('exit', (status) => reject(new Error(`the server ended with ${status}`)));
    });
    Object.assign(this, JSON.parse(line));
  }

  open = (person = 'ada') => this.run('open', '--print', '--as', person).url;

  async ask(path, body) {
    const response = await fetch(this.url + path, { method: body ? 'POST' : 'GET', headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
    const answer = await response.json();
    if (answer.ok === false) throw new Error(`${path}: ${JSON.stringify(answer.error)}`);
    return answer;
  }

  /** Reports something that happened in the app. */
  async report(category, events) {
    const taken = await this.ask(`/ingest/${category}`, { source: 'page: shop', watches: ['console', 'network', 'websocket', 'actions'], events });
    if (taken.rejected) throw new Error(JSON.stringify(taken));
  }
  console = (level, message, more = {}) => this.report('console', [{ level, message, page: 'http://localhost:5173/', ...more }]);
  request = (method, url, status, more = {}) => this.report('network', [{ method, url, status, duration_ms: 40, ...more }]);
  checkpoint = (name) => this.ask('/api/browser/checkpoints', { name });

  async end() {
    if (this.server && this.server.exitCode === null) {
      const gone = new Promise((resolve) => this.server.once('exit', resolve));
      this.server.kill('SIGINT');
      await gone;
    }
    rmSync(this.base, { recursive: true, force: true });
  }
}

const CART = (tax, note = '') => `// The cart: what is in it, and what it costs.
import { format } from './money.js';

export class Cart {
  constructor(items = []) {
    this.items = items;
  }

  add(item) {
    this.items.push(item);
    return this;
  }

  total() {
    const sum = this.items.reduce((sum, item) => sum + item.price * item.count, 0);
    return ${tax};
  }

  render() {
    return \`Total: \${format(this.total())}\`;${note}
  }
}
`;

const MONEY = `export const TAX = 1.19;

/** An amount as people write it. */
export function format(amount) {
  return amount.toFixed(2) + ' EUR';
}
`;

const AUTH = (strict) => `# Who may do what.
import hashlib

SESSIONS = {}


def token_of(user, secret):
    """The token a user carries; nothing of the secret is in it."""
    return hashlib.sha256(f"{user}:{secret}".encode()).hexdigest()


def check(user, token, secret):
${strict ? '    if user not in SESSIONS:\n        raise PermissionError(f"{user} has no session")\n    return SESSIONS[user] == token' : '    return token == token_of(user, secret)'}
`;

const PRICES = `def total(items):
    sum = 0
    for name, price in items:
        sum = sum + price
        note = name.upper()
    return sum


print(total([("tea", 3), ("cup", 8), ("pot", 21), ("tray", 13)]))
`;

/** Debugs a program: a place whose values are captured whenever it comes by, and a stop at its end. */
export async function debug(stage, runtime) {
  stage.write('prices.py', PRICES);
  await stage.ask('/api/debug/launch', { program: 'prices.py', runtime, stop_on_entry: true, wait_ms: 20_000 });
  await stage.ask('/api/debug/points', { file: 'prices.py', line: 5, name: 'totals' });
  await stage.ask('/api/debug/breakpoints', { file: 'prices.py', line: 6 });
  await stage.ask('/api/debug/control', { action: 'continue', wait_ms: 20_000 });
  await stage.ask('/api/debug/snapshots', { label: 'at the end' });
}

/** Plays the story; numbers of the steps that matter are in the answer. */
export async function play(stage) {
  stage.write('README.md', '# Shop\n\nA small shop.\n');
  stage.step({ 'src/cart.js': CART('sum * 1.19'), 'src/money.js': MONEY, 'server/auth.py': AUTH(false), 'package.json': '{\n  "name": "shop",\n  "version": "1.0.0"\n}\n' }, 'as I found it', { tool: 'manual' });
  await stage.serve();
  await stage.report('console', []);
  await stage.checkpoint('session_start');
  await stage.request('GET', 'http://localhost:5173/api/cart', 200);
  const first = stage.step({ 'server/auth.py': AUTH(false) + '\n\ndef forget(user):\n    SESSIONS.pop(user, None)\n' }, 'forget a session on logout', { session: 'auth-refactor', message: 'm1' });
  await stage.checkpoint('before_auth_refactor');
  const auth = stage.step({ 'server/auth.py': AUTH(true) + '\n\ndef forget(user):\n    SESSIONS.pop(user, None)\n', 'server/session.py': 'class Session:\n    """One login."""\n\n    def __init__(self, user):\n        self.user = user\n' }, 'sessions are kept on the server', { session: 'auth-refactor', message: 'm2', tool: 'MultiEdit' });
  await stage.console('warning', 'DeprecationWarning: hashlib.sha256 without a salt is deprecated', { stack: [{ file: 'server/auth.py', line: 10 }] });
  await stage.checkpoint('after_auth_refactor');
  await stage.request('GET', 'http://localhost:5173/api/cart', 200);
  await stage.checkpoint('before_commit');
  stage.run('milestone', 'create', 'Auth refactor', '--tag', 'auth');
  stage.write('notes.txt', 'buy milk\n');
  const money = stage.step({ 'src/money.js': MONEY + '\nexport const round = (amount) => Math.round(amount * 100) / 100;\n' }, 'round amounts', { session: 'prices', message: 'm1' });
  const broken = stage.step({ 'src/cart.js': CART('round(sum * TAX)') }, 'use the tax of money.js', { session: 'prices', message: 'm2' });
  await stage.console('error', 'Uncaught ReferenceError: round is not defined', {
    speaker: 'exception',
    stack: [{ file: 'http://localhost:5173/src/cart.js', line: 16, column: 12, function: 'total' }, { file: 'http://localhost:5173/src/cart.js', line: 20, column: 34, function: 'render' }],
  });
  await stage.request('GET', 'http://localhost:5173/api/orders/17', 500);
  return { first, auth, money, broken };
}

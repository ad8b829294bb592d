// The user in front of the page: a Chromium with a debugging port, as a developer starts it, and a hand that clicks.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { keep } from './keeper.mjs';
import { until } from './until.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const QUIET = ['--no-first-run', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-breakpad'];

export class User {
  #child;
  #socket;
  #session;
  #last = 0;
  #waiting = new Map();

  /** Starts a browser with a profile of its own. */
  static async start(profile) {
    const user = new User();
    mkdirSync(profile, { recursive: true });
    const sandbox = process.getuid() === 0 ? ['--no-sandbox'] : [];
    const options = ['--headless=new', ...QUIET, ...sandbox, '--remote-debugging-port=0', `--user-data-dir=${profile}`];
    user.#child = spawn(find(), [...options, 'about:blank'], { stdio: 'ignore', detached: true });
    keep('group', user.#child.pid);
    const file = join(profile, 'DevToolsActivePort');
    const [port, path] = await until('the browser listens', () => {
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
      return lines.length === 2 && lines;
    });
    user.port = Number(port);
    await user.#connect(`ws://127.0.0.1:${port}${path}`);
    return user;
  }

  /** Opens a page in the only tab. */
  async open(address) {
    await this.#call('Page.navigate', { url: address });
  }

  async reload() {
    await this.#call('Page.reload');
  }

  /** Clicks in the middle of an element, which must come. */
  async click(selector) {
    const script = `(() => { const box = document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect();
      return box && [box.x + box.width / 2, box.y + box.height / 2]; })()`;
    const [x, y] = await until(`${selector} is there`, () => this.ask(script));
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.#call('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    }
  }

  /** What the page's document says to an expression. */
  async ask(expression) {
    const { result } = await this.#call('Runtime.evaluate', { expression, returnByValue: true });
    return result.value;
  }

  /** Waits until an element shows this text. */
  async sees(selector, text) {
    const script = `document.querySelector(${JSON.stringify(selector)})?.textContent`;
    await until(`${selector} says ${text}`, async () => (await this.ask(script))?.includes(text));
  }

  leave() {
    this.#socket?.close();
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // It has gone by itself.
    }
  }

  async #connect(address) {
    this.#socket = new WebSocket(address);
    await new Promise((resolve, reject) => Object.assign(this.#socket, { onopen: resolve, onerror: reject }));
    this.#socket.onmessage = ({ data }) => this.#heard(JSON.parse(data));
    const { targetInfos } = await this.#call('Target.getTargets');
    const { targetId } = targetInfos.find((target) => target.type === 'page');
    this.#session = (await this.#call('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  }

  #heard(message) {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) waiting?.reject(new Error(JSON.stringify(message.error)));
    else waiting?.resolve(message.result);
  }

  #call(method, params = {}) {
    const id = ++this.#last;
    const answer = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), 30_000);
      this.#waiting.set(id, { resolve: (value) => (clearTimeout(timer), resolve(value)), reject });
    });
    this.#socket.send(JSON.stringify({ id, method, params, ...(this.#session && { sessionId: this.#session }) }));
    return answer;
  }
}

function find() {
  const directories = process.env.PATH.split(delimiter);
  const all = NAMES.flatMap((name) => directories.map((directory) => join(directory, name)));
  const found = all.find((program) => existsSync(program));
  if (!found) throw new Error('no browser: apt-get install --no-install-recommends chromium');
  return found;
}

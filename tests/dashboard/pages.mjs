// The pages of tools' answers (MCP Apps) in a real browser. A small host page plays the client: it puts each page into a sandbox,
// hands it the answer of the real `backsight mcp`, and passes its calls on. What strangers wrote tries to get out.
import { mkdirSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import assert from 'node:assert/strict';
import { launch, tools as installed } from './browser.mjs';
import { Stage } from './stage.mjs';

const { values } = parseArgs({ options: { program: { type: 'string' }, tools: { type: 'string' }, browser: { type: 'string', default: 'chromium' }, out: { type: 'string' } } });
mkdirSync(values.out, { recursive: true });
const KIND = 'text/html;profile=mcp-app';
const EVIL = '<img src=x onerror="top.owned=1"></script><script>top.owned=1</script>';

/** The agent's side: MCP over the program's pipes, as a client that shows pages. */
class Client {
  constructor(stage) {
    this.child = spawn(stage.program, ['mcp'], { cwd: stage.root, env: stage.environment, stdio: ['pipe', 'pipe', 'inherit'] });
    this.waiting = new Map();
    this.last = 0;
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.waiting.get(message.id)?.(message);
    });
  }
  async ask(method, params) {
    const id = ++this.last;
    const answered = new Promise((done) => this.waiting.set(id, done));
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }
  async open() {
    const capabilities = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [KIND] } } };
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'host', version: '1' } });
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    this.pages = Object.fromEntries((await this.ask('tools/list', {})).tools.filter((tool) => tool._meta?.ui).map((tool) => [tool.name, tool._meta.ui.resourceUri]));
  }
  call = (name, args) => this.ask('tools/call', { name, arguments: args });
  async end() {
    const gone = new Promise((done) => this.child.once('exit', done));
    this.child.stdin.end();
    await gone;
  }
}

/** The client's side of the sandbox; runs in the host page. */
function host({ html, args, result, theme }) {
  window.heard = [];
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.srcdoc = html;
  frame.style.width = '100%';
  window.addEventListener('message', async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    window.heard.push(data.method ?? 'answer');
    const say = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
    switch (data.method) {
      case 'ui/initialize':
        return say({ id: data.id, result: { protocolVersion: '2026-01-26', hostInfo: { name: 'host', version: '1' }, hostCapabilities: { serverTools: {} }, hostContext: { theme, styles: { variables: { '--font-sans': 'sans-serif' } } } } });
      case 'ui/notifications/initialized':
        say({ method: 'ui/notifications/tool-input', params: { arguments: args } });
        return say({ method: 'ui/notifications/tool-result', params: result });
      case 'ui/notifications/size-changed':
        frame.style.height = `${data.params.height + 8}px`;
        return undefined;
      case 'tools/call':
        return say({ id: data.id, result: await window.callTool(data.params.name, data.params.arguments) });
      default:
        return undefined;
    }
  });
  document.body.replaceChildren(frame);
}

const stage = new Stage(resolve(values.program));
const held = [];
let browser;
let client;
try {
  stage.write('src/cart.js', 'let total = 1;\n');
  stage.step({}, 'start');
  stage.step({ 'src/cart.js': `let total = 2; // ${EVIL}\n`, [`evil ${EVIL.replaceAll('/', '')}.txt`]: `${EVIL}\n` }, `say ${EVIL}`, { session: 's1' });
  stage.step({ 'src/long.txt': `${Array.from({ length: 3000 }, (_, line) => `line ${line}`).join('\n')}\n` }, 'a long file');
  await stage.serve();
  await stage.console('error', `TypeError: ${EVIL}`);
  client = new Client(stage);
  await client.open();
  assert.deepEqual(client.pages, { files_diff: 'ui://backsight/diff', history_query: 'ui://backsight/history', get_changes_since: 'ui://backsight/changes' });

  browser = await launch(values.tools, values.browser);
  const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
  const page = await context.newPage();
  const requests = [];
  const complaints = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.exposeFunction('callTool', (name, args) => client.call(name, args));
  const axe = installed(values.tools).resolve('axe-core');

  /** Shows a tool's answer and gives the frame it is in. */
  async function show(name, args, theme) {
    const result = await client.call(name, args);
    const { contents: [{ text: html, mimeType }] } = await client.ask('resources/read', { uri: client.pages[name] });
    assert.equal(mimeType, KIND);
    await page.goto('about:blank');
    await page.evaluate(host, { html, args, result, theme });
    const frame = page.frames().at(-1);
    await frame.waitForSelector('section h1');
    return { frame, result };
  }
  /** Nothing of a stranger became more than text. */
  async function unharmed(frame, words) {
    assert.ok((await frame.evaluate(() => document.body.innerText)).includes(words), words);
    assert.equal(await frame.locator('img, script:not(:last-of-type), iframe, a[href]').count(), 0);
    assert.equal(await frame.locator('script').count(), 1);
    assert.equal(await page.evaluate(() => window.owned), undefined);
    assert.deepEqual(requests.filter((url) => !url.startsWith('about:')), []);
    assert.deepEqual(complaints, []);
  }
  /** A script that got in all the same would not run. */
  async function refuses(frame) {
    const ran = await frame.evaluate(() => {
      const script = document.createElement('script');
      try {
        script.text = 'window.got_in = 1';
        document.body.append(script);
      } catch { /* refused already */ }
      script.remove();
      return window.got_in ?? null;
    });
    assert.equal(ran, null);
    complaints.length = 0;
  }
  const hold = async (name, frame) => {
    await page.screenshot({ path: join(values.out, `${name}.png`), fullPage: true });
    await page.waitForTimeout(0);
    held.push(name);
    console.log(`holds: ${name}`);
    void frame;
  };

  {
    const { frame, result } = await show('files_diff', { step: '#2' }, 'light');
    assert.ok(result.content[0].text.includes('total = 2'), 'the text is complete');
    await unharmed(frame, EVIL);
    assert.equal(await frame.locator('details').count(), 2);
    assert.equal(await frame.locator('.add', { hasText: 'total = 2' }).count(), 1);
    assert.equal(await frame.locator('.del', { hasText: 'total = 1' }).count(), 1);
    await frame.addScriptTag({ path: axe }).then(() => assert.fail('a foreign script ran'), () => { complaints.length = 0; });
    await refuses(frame);
    await hold('diff', frame);
  }
  {
    const { frame } = await show('files_diff', { step: '#3', max_tokens: 600 }, 'dark');
    const before = await frame.locator('.add').count();
    await frame.getByRole('button', { name: 'Show more' }).click();
    await frame.waitForFunction((before) => document.querySelectorAll('.add').length > before, before);
    assert.equal(await frame.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await hold('diff goes on', frame);
  }
  {
    const { frame } = await show('history_query', {}, 'light');
    await unharmed(frame, EVIL);
    await frame.locator('.row', { hasText: '#2' }).getByRole('button', { name: 'Diff' }).click();
    await frame.waitForSelector('details');
    await unharmed(frame, 'total = 2');
    await refuses(frame);
    await hold('history', frame);
  }
  {
    const { frame } = await show('get_changes_since', { checkpoint: 'start' }, 'light');
    await unharmed(frame, 'TypeError');
    assert.equal(await frame.locator('.badge.is-error').count(), 1);
    await refuses(frame);
    await hold('changes', frame);
  }
  {
    // Another window that speaks to the page is not heard.
    const { frame } = await show('history_query', { limit: 1 }, 'light');
    const before = await frame.evaluate(() => document.body.innerText);
    await frame.evaluate(() => window.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: { structuredContent: { summary: 'forged' } } }, '*'));
    await page.waitForTimeout(100);
    assert.equal(await frame.evaluate(() => document.body.innerText), before);
    const error = await client.call('files_diff', { step: '#99' });
    await page.evaluate((result) => document.querySelector('iframe').contentWindow.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: result }, '*'), error);
    await frame.waitForSelector('h1.is-error');
    assert.ok((await page.evaluate(() => window.heard)).includes('ui/notifications/size-changed'));
    await hold('failure', frame);
  }
} finally {
  await browser?.close();
  await client?.end();
  await stage.end();
}
assert.equal(held.length, 5);

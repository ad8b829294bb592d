// Plays the dashboard in a real browser against a real server: every page at two widths and in both themes, the keyboard,
// what changes while one looks, a step taken back with the bytes checked on disk, attempts to inject, and the three things a
// person wants to know. Screenshots are left in the folder of `--out`. Ends with status 1 when anything did not hold.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readLines } from '../../crates/backsight-server/src/dashboard/web/lines.js';
import { flatten } from '../../crates/backsight-server/src/dashboard/web/rows.js';
import { launch, longestTask, tools } from './browser.mjs';
import { debug, play, Stage } from './stage.mjs';

const { values } = parseArgs({ options: { program: { type: 'string' }, tools: { type: 'string' }, browser: { type: 'string', default: 'chromium' }, out: { type: 'string' }, only: { type: 'string' } } });
const axe = readFileSync(tools(values.tools).resolve('axe-core/axe.min.js'), 'utf8');
mkdirSync(values.out, { recursive: true });

const stage = new Stage(resolve(values.program));
let browser;
let page;
const problems = [];

/** Waits until something holds; what was said last when it does not. */
async function until(what, check, patience = 30_000) {
  const end = Date.now() + patience;
  let last;
  do {
    try {
      if (await check()) return;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  } while (Date.now() < end);
  throw new Error(`${what} did not come to be${last ? `: ${last.message}` : ''}`);
}
const text = () => page.evaluate(() => document.querySelector('main')?.innerText ?? '');
const says = (part) => until(`"${part}"`, async () => (await text()).includes(part));
const visit = async (path) => {
  await page.goto(stage.url + path);
  await until(`the page ${path}`, () => page.evaluate(() => document.querySelector('main') && !document.querySelector('main .loading')), 30_000);
};

async function enter(context, person = 'ada') {
  page = await context.newPage();
  page.on('pageerror', (error) => problems.push(`page error: ${error.stack}`));
  page.on('console', (message) => message.type() === 'error' && !message.text().includes('Failed to load resource') && problems.push(`console: ${message.text()}`));
  await page.goto(stage.open(person));
  await until('the start page', () => new URL(page.url()).pathname === '/');
}

const PAGES = (story) => ({
  since: '/', timeline: '/timeline', step: `/step/${story.auth}`, range: '/range/1/now', disk: '/range/@/now', checkpoints: '/checkpoints',
  checkpoint: '/checkpoint/session_start', errors: '/errors', error: `/error/${story.error}`, debug: '/debug', store: '/store', attempts: '/attempts', two: '/attempts/auth-refactor/prices', data: '/timeline.json',
});

const cases = {
  async 'an address works once and leaves a cookie that scripts cannot read'() {
    const url = stage.open('grace');
    const fresh = await browser.newContext();
    const visitor = await fresh.newPage();
    await visitor.goto(url);
    await until('the start page', () => new URL(visitor.url()).pathname === '/');
    const [cookie] = await fresh.cookies();
    assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, 'Strict']);
    assert.equal(await visitor.evaluate(() => document.cookie), '');
    const status = (options) => visitor.evaluate((options) => fetch(options.path, options).then((response) => response.status), options);
    const key = await visitor.evaluate(() => localStorage.getItem('backsight.key'));
    assert.equal(await status({ path: '/api/log' }), 401, 'the cookie alone opens nothing');
    assert.equal(await status({ path: '/api/log', headers: { 'x-backsight-key': key } }), 200);
    assert.equal(await status({ path: '/api/undo', method: 'POST', body: '{"dry_run":true}' }), 401);
    assert.equal(await status({ path: '/api/bisect', method: 'POST', headers: { 'x-backsight-key': key }, body: '{"command":["true"]}' }), 403);
    assert.equal(await visitor.evaluate(() => fetch('/api/version').then((answer) => answer.text()).then((text) => text.includes('root'))), false);
    const stranger = await (await browser.newContext()).newPage();
    const again = await stranger.goto(url);
    assert.equal(again.status(), 401);
    assert.match(await stranger.innerText('main'), /works once/);
    await stranger.goto(`${stage.url}/timeline`);
    await until('the closed door', async () => (await stranger.innerText('main')).includes('backsight open'));
    await visitor.goBack();
    assert.ok(!visitor.url().includes('code='), 'the code is not in the history');
    await fresh.close();
    await stranger.context().close();
  },

  async 'every page at two widths in both themes'({ story }) {
    const wrong = [];
    for (const [width, height] of [[1440, 900], [390, 844]]) {
      for (const theme of ['light', 'dark']) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: theme });
        for (const [name, path] of Object.entries(PAGES(story))) {
          await visit(path);
          await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
          await page.screenshot({ path: join(values.out, `${name}-${width}-${theme}.png`) });
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          if (over > 0) wrong.push(`${name} is ${over} px too wide at ${width}`);
          // Each theme and each width once: it looks at every element, which takes its time.
          if ((width === 1440) !== (theme === 'light')) continue;
          const found = await page.evaluate(`(() => { ${axe}; return axe.run(document, { resultTypes: ['violations'] }); })()`);
          const bad = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
          wrong.push(...bad.map((one) => `${name} at ${width}, ${theme}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html).join(' | ')}`));
        }
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    assert.deepEqual(wrong, []);
  },

  async 'what happens is shown while one looks'() {
    await visit('/timeline');
    await until('the stream', () => page.evaluate(() => Boolean(document.querySelector('.live.is-on'))));
    stage.step({ 'src/live.js': 'export const live = true;\n' }, 'while you look', { session: 'prices' });
    await says('while you look');
    await visit('/');
    await until('the stream', () => page.evaluate(() => Boolean(document.querySelector('.live.is-on'))));
    stage.step({ 'src/live.js': 'export const live = 2;\n' }, 'on the start page too', { session: 'prices' });
    await says('on the start page too');
  },

  async 'the keyboard is enough'({ story }) {
    await visit('/');
    await page.keyboard.press('2');
    await until('the timeline', () => new URL(page.url()).pathname === '/timeline');
    await until('rows', () => page.evaluate(() => document.querySelectorAll('[role=option]').length > 5));
    const chosen = () => page.evaluate(() => document.querySelector('[role=option][aria-selected=true] .number')?.textContent);
    const first = await chosen();
    await page.keyboard.press('j');
    await until('the next row', async () => (await chosen()) !== first);
    await page.keyboard.press('k');
    await until('the first row again', async () => (await chosen()) === first);
    await page.keyboard.press(']');
    await page.keyboard.press('/');
    await page.keyboard.type('sessions are kept');
    await until('one row', () => page.evaluate(() => document.querySelectorAll('[role=option]').length === 1));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await until('the step', () => new URL(page.url()).pathname === `/step/${story.auth}`);
    await says('PermissionError');
    await page.keyboard.press('w');
    await until('the other layout', () => page.url().includes('view='));
    await page.keyboard.press('?');
    await until('the keys', () => page.evaluate(() => document.querySelector('dialog[open] .keys')?.innerText.includes('next hunk')));
    await page.keyboard.press('Escape');
    await until('the keys closed', () => page.evaluate(() => !document.querySelector('dialog[open]')));
    await page.keyboard.press('.');
    await says('"sequence_number"');
  },

  async 'a step is taken back, and the deed too'({ story }) {
    const before = stage.read('src/cart.js');
    assert.ok(before.includes('round(sum * TAX)'));
    await visit(`/step/${story.broken}`);
    await says('use the tax of money.js');
    await page.keyboard.press('R');
    await until('the plan', () => page.evaluate(() => document.querySelector('dialog[open]')?.innerText.includes('src/cart.js')));
    assert.equal(stage.read('src/cart.js'), before, 'a plan changes nothing');
    await page.screenshot({ path: join(values.out, 'plan.png') });
    await until('the confirmation has the focus', () => page.evaluate(() => document.activeElement?.classList.contains('primary')));
    await page.keyboard.press('Enter');
    await until('the bytes of before', () => stage.read('src/cart.js').includes('return sum * 1.19;') && !stage.read('src/cart.js').includes('TAX'));
    await until('the note', () => page.evaluate(() => document.querySelector('.toast')?.innerText.includes('Done')));
    await page.keyboard.press('z');
    await until('the bytes as they were', () => stage.read('src/cart.js') === before);
    // Somebody edits the very line meanwhile.
    stage.write('src/cart.js', before.replace('return round(sum * TAX);', 'return Math.ceil(sum * TAX);'));
    await visit(`/step/${story.broken}`);
    await page.click('.file-head .small');
    await until('what is in the way', () => page.evaluate(() => document.querySelector('dialog[open]')?.innerText.includes('In the way')));
    assert.ok(await page.isDisabled('dialog[open] .primary'));
    await page.screenshot({ path: join(values.out, 'conflict.png') });
    await page.keyboard.press('Escape');
    assert.ok(stage.read('src/cart.js').includes('Math.ceil'), 'nothing was changed');
    stage.write('src/cart.js', before);
  },

  async 'a step shows its files, words and language, and a file of it is taken back'({ story }) {
    await visit(`/range/1/${story.broken}?view=unified`);
    const parts = await page.evaluate(() => ({ keywords: [...document.querySelectorAll('.part-keyword')].map((one) => one.innerText), words: [...document.querySelectorAll('.is-plus .word')].map((one) => one.innerText), files: [...document.querySelectorAll('.leaf .name')].map((one) => one.innerText) }));
    assert.ok(parts.keywords.includes('def') && parts.keywords.includes('const'), parts.keywords.join());
    assert.deepEqual(parts.files, ['notes.txt', 'auth.py', 'session.py', 'cart.js', 'money.js']);
    await page.click('.leaf:has-text("money.js")');
    await until('its head at the top', () => page.evaluate(() => document.querySelector('.stuck .path').innerText === 'src/money.js' && document.querySelector('.leaf.is-current .name').innerText === 'money.js'));
    await page.click('.leaf:has-text("cart.js")');
    await until('the changed words', () => page.evaluate(() => [...document.querySelectorAll('.is-plus .word')].some((one) => one.innerText.includes('round') || one.innerText.includes('TAX'))));
    const before = stage.read('server/session.py');
    await visit(`/step/${story.auth}?file=server/session.py`);
    await page.keyboard.press('r');
    await until('the plan', () => page.evaluate(() => document.querySelector('dialog[open]')?.innerText.includes('server/session.py') && document.activeElement?.classList.contains('primary')));
    await page.keyboard.press('Enter');
    await until('the file gone', () => { try { stage.read('server/session.py'); return false; } catch { return true; } });
    assert.ok(stage.read('server/auth.py').includes('PermissionError'), 'the other file stays');
    await until('the note', () => page.evaluate(() => document.querySelector('.toast')?.innerText.includes('Done')));
    await page.keyboard.press('z');
    await until('the bytes as they were', () => { try { return stage.read('server/session.py') === before; } catch { return false; } });
  },

  async 'marks of viewing belong to the bytes'({ story }) {
    await visit(`/step/${story.auth}`);
    await page.locator('.stuck .viewed input').check();
    await says('1 of 2 files viewed');
    await visit(`/step/${story.auth}`);
    await says('1 of 2 files viewed');
    await visit(`/range/${story.first}/${story.auth}`);
    await says('1 of 2 files viewed');
    await visit(`/step/${story.first}`);
    await says('0 of 1 file viewed');
  },

  async 'did the browser stop erroring?'() {
    // The app speaks, or on a slow machine it counts as gone by now.
    await stage.request('GET', 'http://localhost:5173/api/cart', 200);
    await visit('/');
    await says('1 error');
    await page.click('a.broken-text:has-text("ReferenceError")');
    await says('changed the very line');
    await page.click('text=Look at #');
    await says('use the tax of money.js');
    await page.click('nav >> text=Since');
    await says('1 error');
    await page.keyboard.press('s');
    await until('the place', () => page.evaluate(() => document.querySelector('.toast')?.innerText.includes('Seen')));
    // Before the step: the page looks as soon as it hears of that.
    await stage.request('GET', 'http://localhost:5173/api/cart', 200);
    stage.step({ 'src/cart.js': stage.read('src/cart.js').replace("{ format }", '{ format, round, TAX }') }, 'import what is used', { session: 'prices' });
    await says('Files changed, and the app is well');
    assert.ok((await text()).includes('import what is used') && !(await text()).includes('use the tax of money.js'), 'only what is new');
  },

  async 'each person has a place of their own'() {
    await visit('/timeline');
    await until('the line', () => page.evaluate(() => document.querySelector('.unread-mark')?.innerText === 'you looked up to here'));
    const below = await page.evaluate(() => Number(document.querySelector('.is-unread-line .number').innerText.slice(1)));
    assert.equal(below, (await stage.ask('/api/seen?person=ada')).seen.sequence_number);
    const mine = page;
    const fresh = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await enter(fresh, 'grace');
    await says('You have not looked yet');
    await says('use the tax of money.js');
    await page.keyboard.press('s');
    await says('Since you last looked');
    await fresh.close();
    page = mine;
    assert.equal((await stage.ask('/api/seen?person=ada')).seen.sequence_number, below, 'the other place has not moved');
  },

  async 'was the app healthy before and after?'() {
    await visit('/checkpoints');
    await page.click('a:has-text("before_commit")');
    await says('Until then');
    const lanes = () => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.before-after tbody tr')].map((row) => [row.getAttribute('aria-label'), [...row.querySelectorAll('td')].map((cell) => cell.innerText)])));
    const { Health: health, Console: said, Network: network, Sockets: sockets } = await lanes();
    assert.match(health[0], /healthy/);
    assert.match(health[1], /broken/);
    assert.match(said[0], /0 messages, nothing wrong/);
    assert.match(said[1], /ReferenceError/);
    assert.match(network[0], /1 request, nothing wrong/);
    assert.match(network[1], /\/api\/orders/);
    assert.match(sockets[1], /0 events, nothing wrong/);
    await visit('/checkpoint/after_auth_refactor');
    const before = await lanes();
    assert.match(before.Health[0], /degraded\s+1 new console warning/);
    assert.match(before.Console[0], /1 message\s+warning\s+DeprecationWarning/);
  },

  async 'the story of a session in ten seconds'() {
    await visit('/checkpoints');
    const lines = await page.evaluate(() => [...document.querySelectorAll('.story li > a')].map((line) => `${line.querySelector('.story-name').innerText} → ${line.querySelector('.severity').innerText}`));
    assert.deepEqual(lines, ['session_start → clean', 'before_auth_refactor → clean', 'after_auth_refactor → 1 warning', 'before_commit → clean']);
  },

  async 'a hunk, lines and a file are taken back by themselves'() {
    const before = Array.from({ length: 60 }, (_, line) => `line ${line + 1}\n`).join('');
    const after = before.replace('line 5\n', 'LINE 5\n').replace('line 30\n', 'LINE 30\nLINE 30b\n').replace('line 31\n', 'LINE 31\n').replace('line 55\n', '');
    stage.step({ 'src/many.txt': before }, 'many lines', { session: 'prices' });
    const number = stage.step({ 'src/many.txt': after }, 'three hunks', { session: 'prices' });
    const confirm = async (part) => {
      await until('the plan', () => page.evaluate((part) => document.querySelector('dialog[open]')?.innerText.includes(part), part));
      await until('the confirmation has the focus', () => page.evaluate(() => document.activeElement?.classList.contains('primary')));
      await page.keyboard.press('Enter');
    };
    const back = async () => {
      await until('the note', () => page.evaluate(() => document.querySelector('.toast')?.innerText.includes('Done')));
      await page.keyboard.press('z');
      await until('the bytes as they were', () => stage.read('src/many.txt') === after);
    };
    for (const view of ['unified', 'split']) {
      await visit(`/step/${number}?view=${view}`);
      await page.locator('.hunk-row').nth(1).hover();
      await page.screenshot({ path: join(values.out, `hunk-${view}.png`) });
      await page.locator('.hunk-row .small').nth(1).click();
      await confirm('src/many.txt');
      await until('the hunk undone', () => stage.read('src/many.txt') === after.replace('LINE 30\nLINE 30b\nLINE 31\n', 'line 30\nline 31\n'));
      await back();
      // One line of the middle hunk: it goes, and nothing else.
      await visit(`/step/${number}?view=${view}`);
      await page.locator('.code-row:has-text("LINE 30b") .pick').last().click();
      await says('1 line chosen');
      await page.screenshot({ path: join(values.out, `line-${view}.png`) });
      await page.locator('.picked .primary').click();
      await confirm('1 line of');
      await until('the line gone', () => stage.read('src/many.txt') === after.replace('LINE 30b\n', ''));
      await back();
    }
    // With the keyboard alone: the first hunk.
    await visit(`/step/${number}?view=unified`);
    await page.keyboard.press('h');
    await confirm('a hunk in src/many.txt');
    await until('the first hunk undone', () => stage.read('src/many.txt') === after.replace('LINE 5\n', 'line 5\n'));
    await back();
    await visit(`/step/${number}?view=unified`);
    await page.keyboard.press('x');
    await page.keyboard.press('x');
    await says('2 lines chosen');
    await page.keyboard.press('Enter');
    await confirm('2 lines of');
    await until('the first hunk undone', () => stage.read('src/many.txt') === after.replace('LINE 5\n', 'line 5\n'));
    await back();
    // What no step holds yet, and an edit that overlaps.
    stage.write('src/many.txt', after.replace('line 10\n', 'mine 10\n').replace('LINE 5\n', 'mine 5\n'));
    await visit('/range/@/now?view=unified&file=src/many.txt');
    await until('its lines', async () => (await text()).includes('mine 10'));
    await page.locator('.hunk-row .small').first().click();
    await confirm('2 hunks in src/many.txt');
    await until('all as it was recorded', () => stage.read('src/many.txt') === after);
    stage.write('src/many.txt', after.replace('LINE 5\n', 'mine 5\n'));
    await visit(`/step/${number}?view=unified`);
    await page.keyboard.press('h');
    await until('what is in the way', () => page.evaluate(() => document.querySelector('dialog[open]')?.innerText.includes('In the way')));
    assert.ok(await page.isDisabled('dialog[open] .primary'));
    await page.keyboard.press('Escape');
    assert.ok(stage.read('src/many.txt').includes('mine 5'), 'nothing was changed');
    stage.step({ 'src/many.txt': after }, 'as before', { session: 'prices' });
  },

  async 'lines around hunks are shown in place, long ones wrap, and each says who wrote it'() {
    const long = 'a long line '.repeat(40).trim();
    stage.step({ 'src/wide.txt': Array.from({ length: 80 }, (_, line) => `wide ${line + 1}\n`).join('') }, 'wide', { session: 'prices' });
    stage.step({ 'src/wide.txt': stage.read('src/wide.txt').replace('wide 40\n', `${long}\n`) }, 'longer', { session: 'auth-refactor' });
    const number = stage.run('log', '--limit', '1').rows[0].sequence_number;
    await visit(`/step/${number}?view=unified&wrap=off`);
    const numbers = () => page.evaluate(() => [...document.querySelectorAll('.code-row .is-fresh')].map((cell) => Number(cell.innerText)).filter(Boolean));
    assert.deepEqual(await numbers(), [37, 38, 39, 40, 41, 42, 43]);
    await page.getByLabel('Show 20 more lines above this hunk').click();
    await until('twenty lines more', async () => (await numbers())[0] === 17);
    await page.getByLabel('Show 20 more lines below').click();
    await until('twenty lines below', async () => Math.max(...(await numbers())) >= 55);
    const rows = () => page.evaluate(() => [...document.querySelectorAll('.row-place:has(.code-row)')].map((row) => [row.offsetHeight, row.querySelector('.code').scrollWidth > row.clientWidth]));
    assert.ok((await rows()).every(([height]) => height === 20));
    await page.keyboard.press('l');
    await until('a taller row', async () => (await rows()).some(([height]) => height > 20));
    assert.ok((await rows()).every(([, isCut]) => !isCut), 'nothing goes beyond the edge');
    const fits = await page.evaluate(() => [...document.querySelectorAll('.row-place:has(.code-row)')].every((row) => row.firstElementChild.scrollHeight <= row.offsetHeight + 1));
    assert.ok(fits, 'a row is as tall as its lines');
    await page.screenshot({ path: join(values.out, 'wrapped.png') });
    await visit(`/range/1/now?view=unified&file=src/wide.txt&who=on`);
    await until('who', () => page.evaluate(() => [...document.querySelectorAll('.by')].some((mark) => mark.title.includes('auth-refactor')) && [...document.querySelectorAll('.by')].some((mark) => mark.title.includes('prices'))));
    await page.screenshot({ path: join(values.out, 'who.png') });
  },

  async 'lines are read from the answer one by one, and are the lines of the answer'() {
    const odd = ['', '\t{"side":"+","text":"', '"lines":[{"side":" ","text":"}]', '\\\\', 'ends with a backslash \\', '"', '\u0001\u001b[31m', 'Grüße, 日本, 🦀 "x"', '}],', 'a'.repeat(9000)];
    const text = (mark) => odd.flatMap((line, index) => [...Array.from({ length: 9 }, (_, place) => `between ${index}.${place}`), `${mark}${line}`]).join('\n');
    stage.step({ 'src/odd.txt': text('one ') }, 'odd lines', { session: 'prices' });
    const number = stage.step({ 'src/odd.txt': `${text('two ')}\nend`, 'src/gone.txt': 'x\n' }, 'odd lines again', { session: 'prices' });
    for (const query of [`ref=${number}`, `ref=${number}&context=65535`, 'from=1&to=now']) {
      const answer = await fetch(`${stage.url}/api/hunks?${query}`, { headers: { authorization: `Bearer ${stage.token}` } }).then((response) => response.text());
      const { lines, files } = readLines(answer);
      const expected = JSON.parse(answer).files.flatMap((file) => (file.hunks ?? []).map((hunk) => ({ file, hunk })));
      const passages = files.flatMap((file) => file.hunks ?? []);
      assert.equal(passages.length, expected.length);
      passages.forEach((passage, place) => {
        let [old, fresh] = [passage.old_start, passage.new_start];
        const names = new Map(passage.hunks?.flatMap((run) => Array.from({ length: run.lines }, (_, line) => [run.at + line, [run.id, line + 1]])));
        assert.equal(passage.lines.count, expected[place].hunk.lines.length);
        expected[place].hunk.lines.forEach((line, at) => {
          const index = passage.lines.first + at;
          assert.deepEqual(lines.at(index), line);
          assert.ok(lines.reads(index, line.text) && !lines.reads(index, `${line.text} `));
          assert.deepEqual([lines.old[index], lines.fresh[index], lines.name(index)], [line.side === '+' ? 0 : old++, line.side === '-' ? 0 : fresh++, names.get(at)]);
        });
      });
      // Every line is in a row, once in each way of looking; and each row of a pair has what it should.
      for (const split of [false, true]) {
        const rows = flatten(files, lines, { folded: new Set(), split });
        const all = Array.from({ length: rows.count }, (_, at) => rows.at(at)).flatMap((row) => (row.type === 'line' ? [row.line] : row.type === 'pair' ? [row.left?.line, row.right?.line.side === ' ' ? undefined : row.right?.line] : [])).filter(Boolean);
        const sorted = (list) => list.map((line) => line.side + line.text).sort();
        assert.deepEqual(sorted(all), sorted(expected.flatMap(({ hunk }) => hunk.lines)));
      }
    }
    await visit(`/step/${number}?view=unified&wrap=on`);
    const seen = [];
    for (let top = 0, height = 1; top < height; top += 300) {
      const found = await page.evaluate(async (top) => {
        const list = document.querySelector('.list');
        list.scrollTop = top;
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        const rows = [...document.querySelectorAll('.row-place:has(.code-row)')];
        return { height: list.scrollHeight, lines: rows.map((row) => row.querySelector('.code').innerText), cut: rows.filter((row) => row.firstElementChild.scrollHeight > row.offsetHeight + 1).map((row) => row.innerText) };
      }, top);
      height = found.height;
      seen.push(...found.lines);
      assert.deepEqual(found.cut, [], 'a row is as tall as its lines');
    }
    for (const line of odd.filter((line) => /^[ -~]*$/.test(line) && line.length < 100)) assert.ok(seen.some((text) => text === `two ${line}`), line);
    assert.ok(seen.some((text) => text.includes('Grüße, 日本, 🦀 "x"')) && seen.some((text) => text.includes('more characters')));
  },

  async 'figures are those of the API'({ story }) {
    const size = (bytes) => page.evaluate((bytes) => import('/assets/words.js').then((words) => words.bytes(bytes)), bytes);
    // The store: room by part, over time, and what a check and a plan say.
    stage.run('config', 'set', 'disk_budget', '1000000000');
    // A note like the one before is none: something has to be stored between the two.
    stage.run('gc', '--keep-days', '10000');
    stage.write('docs/room.md', 'It takes room.\n'.repeat(50));
    stage.run('track', '-m', 'Write about room');
    stage.run('gc', '--keep-days', '10000');
    const usage = await stage.ask('/api/usage');
    await visit('/store');
    for (const bytes of [usage.total_bytes, usage.pack_bytes, usage.loose_bytes, usage.timeline_bytes]) await says(await size(bytes));
    const figures = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.figures > div')].map((one) => [one.querySelector('dt').innerText, one.querySelector('dd').innerText])));
    assert.equal(figures['Snapshots with contents'], usage.snapshots.toLocaleString('en'));
    assert.equal(figures['Loose objects'], usage.loose_objects.toLocaleString('en'));
    assert.equal(figures.Packs, `${usage.packs}`);
    assert.deepEqual([usage.disk_budget, usage.total_bytes], [1e9, stage.run('usage').total_bytes]);
    await says('of 1.0 GB');
    await says(`${usage.history.length} note`);
    await until('the chart', () => page.evaluate(() => document.querySelector('[aria-label="Room over time"] .uplot canvas') && [...document.querySelectorAll('.u-series th')].map((one) => one.innerText).join() === 'when,the store,budget'));
    const doctor = await stage.ask('/api/doctor');
    const checks = await page.evaluate(() => [...document.querySelectorAll('.checks li')].map((one) => one.children[1].innerText));
    assert.deepEqual(checks, doctor.checks.map((one) => one.name));
    await page.click('text=Check everything');
    const verified = await stage.ask('/api/verify');
    await says('everything is whole');
    await says(`${verified.objects} objects`);
    await page.locator('input[type=number]').fill('0');
    await page.click('text=What would go?');
    const plan = await stage.ask('/api/gc', { keep_days: 0, dry_run: true });
    await says(`${plan.expired.length} snapshots and ${plan.objects_removed} object`);
    // Errors: as many as are broken, with what each says and the step that is suspected.
    const changes = await stage.ask('/api/changes?client=test&checkpoint=start&peek=true');
    await visit('/errors');
    const shown = await page.evaluate(() => [...document.querySelectorAll('section[aria-label=Now] .broken-text')].map((one) => one.innerText));
    for (const one of changes.console.errors) assert.ok(shown.includes(one.message), `${one.message} of ${shown}`);
    for (const one of changes.network.failures) assert.ok(shown.includes(`${one.method} ${one.path}`), `${one.path} of ${shown}`);
    const why = changes.because.find((one) => one.entry === story.error);
    assert.ok((await text()).includes(why.step), why.step);
    // One error: how often, and the story before it with steps and requests, the oldest first.
    const entry = await stage.ask(`/api/browser/entries/${story.error}`);
    await visit(`/error/${story.error}`);
    await says(`${entry.count} time`);
    const crumbs = await page.evaluate(() => [...document.querySelectorAll('.crumbs li')].map((one) => one.innerText.replaceAll('\n', ' ')));
    const place = (part) => crumbs.findIndex((crumb) => crumb.includes(part));
    assert.ok(place('200 GET') >= 0 && place(`#${story.broken}`) > place(`#${story.auth}`) && place(`#${story.auth}`) >= 0, crumbs.join('\n'));
    assert.ok(crumbs.at(-1).includes('ReferenceError'));
    for (const order of [1, 2, 3]) await stage.console('error', `Error: order ${order} of shelf ${order * 7} is lost`, { stack: [{ file: 'http://localhost:5173/src/cart.js', line: 11, function: 'add' }] });
    const lost = (await stage.ask('/api/changes?client=test&checkpoint=start&peek=true')).console.errors.find((one) => one.message.includes('is lost'));
    await visit(`/error/${lost.id}`);
    await says(`${lost.count} times`);
    const words = await page.evaluate(() => [...document.querySelectorAll('[aria-label=Variants] li')].map((one) => one.innerText).sort());
    assert.deepEqual(words, ['Error: order 1 of shelf 7 is lost', 'Error: order 2 of shelf 14 is lost']);
    await visit(`/error/${story.error}`);
    await says('changed the very line');
    await page.keyboard.press('r');
    await until('the plan for the suspect', () => page.evaluate((step) => document.querySelector('dialog[open]')?.innerText.includes(`Take back #${step}`), story.broken));
    await page.keyboard.press('Escape');
    // Two attempts: steps, files and lines of each.
    const both = await stage.ask('/api/attempts?one=auth-refactor&other=prices');
    await visit('/attempts/auth-refactor/prices');
    const cards = await page.evaluate(() => [...document.querySelectorAll('.beside > .card')].map((card) => card.innerText.replaceAll('\n', ' ')));
    for (const [card, attempt] of [[cards[0], both.one], [cards[1], both.other]]) {
      assert.ok(card.includes(`Steps ${attempt.session.step_count}`) && attempt.steps === attempt.session.step_count && card.includes(`Files ${attempt.hunks.files.length}`), card);
      assert.ok(card.includes(`+${attempt.hunks.additions}`) && card.includes(`−${attempt.hunks.deletions}`), card);
    }
  },

  async 'commits stand in the timeline, and words are found in changed lines'() {
    const git = (...words) => execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...words], { cwd: stage.root, env: { ...stage.environment, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' } });
    git('init', '-q', '-b', 'main');
    git('add', 'src/cart.js');
    git('commit', '-q', '-m', 'the cart as it is');
    const id = git('rev-parse', '--short=7', 'HEAD').toString().trim();
    await visit('/timeline');
    await says('the cart as it is');
    assert.ok((await text()).includes(id));
    await page.click('text=Commits');
    await until('only commits', () => page.evaluate(() => document.querySelectorAll('[role=option]').length === 1));
    await visit('/timeline?q=PermissionError');
    await page.click('text=Search the changed lines too');
    await says('server/auth.py');
    await page.screenshot({ path: join(values.out, 'search.png') });
    await page.click('.contents a');
    await says('PermissionError');
  },

  async 'the timeline holds all that happened, and a brush shows a part of it'({ story }) {
    stage.write('src/outside.txt', 'by a person\n');
    stage.run('session', 'start', 'later');
    stage.run('restore', `${story.money}`, '--', 'src/cart.js');
    stage.run('undo');
    await debug(stage, resolve(values.tools, 'venv/bin/python'));
    await stage.ask('/api/debug/disconnect', {});
    await visit('/timeline');
    const kinds = async () => {
      const seen = new Set();
      for (let top = 0; top < 4000; top += 600) {
        const found = await page.evaluate(async (top) => { document.querySelector('.list').scrollTop = top; for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame); return [...document.querySelectorAll('.line-row .kind')].map((kind) => `${kind.title} ${kind.className}`); }, top);
        found.forEach((one) => seen.add(one));
      }
      return [...seen];
    };
    const found = (await kinds()).join('\n');
    for (const kind of ['step kind is-step', 'outside change kind is-outside', 'milestone kind is-mark', 'checkpoint kind is-clean', 'checkpoint kind is-warning', 'restore kind is-back', 'undo kind is-back', 'error kind is-error', 'debugger stop kind is-debug', 'capture kind is-debug', 'commit kind is-commit']) assert.ok(found.includes(kind), `${kind} of ${found}`);
    await visit('/timeline');
    const lanes = await page.evaluate(() => new Set([...document.querySelectorAll('.lanes circle')].map((dot) => dot.getAttribute('class'))).size);
    assert.ok(lanes >= 1, 'sessions have lanes');
    // A kind, a session, and a part of the time; each is in the address.
    const count = () => page.evaluate(() => Number(document.querySelector('.summary').innerText.match(/^[\d,]+/)[0].replace(',', '')));
    const all = await count();
    await page.click('.chip:has-text("Errors")');
    await until('the errors', async () => page.url().includes('group=errors') && (await count()) < all);
    assert.ok((await kinds()).every((kind) => /^(error|recovery|bisect) /.test(kind)));
    await page.click('text=show all');
    await page.selectOption('select', 'auth-refactor');
    await until('a session', async () => page.url().includes('session=auth-refactor') && (await count()) === 3);
    await page.click('text=show all');
    await until('all rows', async () => (await count()) === all);
    const box = await page.locator('.overview').boundingBox();
    await page.mouse.move(box.x + 2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 3, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await until('a part of the time', async () => /from=\d+&to=\d+/.test(page.url()) && (await count()) < all);
    const [from, to] = ['from', 'to'].map((name) => Number(new URL(page.url()).searchParams.get(name)));
    const rows = (await stage.ask('/api/timeline?limit=2000')).rows.filter((row) => Date.parse(row.timestamp) >= from && Date.parse(row.timestamp) <= to);
    const marks = (await stage.ask('/api/browser/checkpoints')).checkpoints.filter((one) => Date.parse(one.created) >= from && Date.parse(one.created) <= to);
    const commits = (await stage.ask('/api/commits')).commits.filter((one) => Date.parse(one.timestamp) >= from && Date.parse(one.timestamp) <= to);
    assert.equal(await count(), rows.length + marks.length + commits.length);
    const address = page.url();
    await page.goto(address);
    await until('the same part', async () => (await count()) === rows.length + marks.length + commits.length);
  },

  async 'two ranges from one snapshot stand side by side'() {
    const base = stage.step({ 'src/tried.txt': 'one\ntwo\nthree\n' }, 'before both', { session: 'prices' });
    const first = stage.step({ 'src/tried.txt': 'one\nTWO\nthree\n', 'src/same.txt': 'same\n' }, 'the first way', { session: 'prices' });
    const again = stage.run('restore', `${base}`).snapshot.sequence_number;
    stage.step({ 'src/tried.txt': 'one\ntwo and a half\nthree\n', 'src/same.txt': 'same\n' }, 'half of the second way', { session: 'prices' });
    const second = stage.step({ 'src/other.txt': 'other\n' }, 'the second way', { session: 'prices' });
    await visit('/attempts');
    for (const [place, end] of [base, first, again, second].entries()) await page.locator('.ranges input').nth(place).fill(`${end}`);
    await page.click('text=Compare the ranges');
    await says('Both began with the same files.');
    assert.equal(decodeURIComponent(new URL(page.url()).pathname), `/attempts/${base}..${first}/${again}..${second}`);
    const both = await stage.ask(`/api/attempts?one=${base}..${first}&other=${again}..${second}`);
    assert.deepEqual([both.one.steps, both.other.steps, both.one.from, both.other.from], [1, 2, base, again]);
    const cards = await page.evaluate(() => [...document.querySelectorAll('.beside > .card')].map((card) => card.innerText.replaceAll('\n', ' ')));
    for (const [card, attempt] of [[cards[0], both.one], [cards[1], both.other]]) assert.ok(card.includes(`Steps ${attempt.steps}`) && card.includes(`Files ${attempt.hunks.files.length}`) && card.includes(`+${attempt.hunks.additions}`), card);
    const files = await page.evaluate(() => [...document.querySelectorAll('.attempt')].map((file) => [file.querySelector('summary').innerText.trim(), file.open, ...[...file.querySelectorAll('.patch')].map((patch) => patch.innerText.replace(/\s+/g, ' '))]));
    assert.deepEqual(files.map(([name, open]) => [name, open]), [['src/other.txt', true], ['src/same.txt the same in both', false], ['src/tried.txt', true]]);
    assert.match(files[0][2], /not touched by/);
    assert.match(files[2][2], /2 \+ TWO/);
    assert.match(files[2][3], /2 \+ two and a half/);
    await page.goto(`${stage.url}/attempts/1..now/nobody`);
    await says('nobody');
  },

  async 'every view is an address, and with .json its data'({ story }) {
    const key = await page.evaluate(() => localStorage.getItem('backsight.key'));
    for (const [name, path] of Object.entries(PAGES(story)).filter(([name]) => !['data', 'attempts'].includes(name))) {
      const data = await page.evaluate(async ([path, key]) => (await fetch(path === '/' ? '/index.json' : `${path}.json`, { headers: { 'x-backsight-key': key } })).json(), [path, key]);
      assert.equal(data.ok, true, `${name}: ${JSON.stringify(data).slice(0, 200)}`);
      await visit(path);
      await page.keyboard.press('.');
      await until(`the data of ${name}`, async () => (await text()).includes('"ok": true'));
      await page.click('text=The page');
      await until(`the page ${name} again`, () => page.evaluate((path) => location.pathname === path, path));
    }
  },

  async 'everything is reached by Tab, and the focus is seen'({ story }) {
    for (const [name, path] of Object.entries(PAGES(story))) {
      await visit(path);
      await page.evaluate(() => { document.activeElement?.blur?.(); getSelection().removeAllRanges(); });
      const wanted = await page.evaluate(() => [...document.querySelectorAll('a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex="0"]')]
        .filter((one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }) && !one.closest('.list .row-place')).map((one, index) => { one.dataset.wanted = index; return index; }));
      const reached = new Set();
      for (let press = 0; press < wanted.length + 60 && reached.size < wanted.length; press++) {
        await page.keyboard.press('Tab');
        const found = await page.evaluate(() => { const one = document.activeElement; const style = getComputedStyle(one); return { wanted: one.dataset.wanted, what: one.outerHTML.slice(0, 120), isSeen: one === document.body || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) }; });
        assert.ok(found.isSeen, `${name}: no outline around ${found.what}`);
        if (found.wanted !== undefined) reached.add(Number(found.wanted));
      }
      const missed = wanted.filter((one) => !reached.has(one));
      const names = await page.evaluate((missed) => missed.map((one) => document.querySelector(`[data-wanted="${one}"]`)?.outerHTML.slice(0, 100)), missed);
      assert.deepEqual(names, [], name);
    }
  },

  async 'a page proves which step it was'() {
    const site = (script) => `<!doctype html><title>Site</title><script>${script}</script>\n`;
    const whole = stage.step({ 'site/index.html': site('window.ready = 1;') }, 'a page', { session: 'prices' });
    const broken = stage.step({ 'site/index.html': site('fetch("/api/stock");') }, 'asks for what is not there', { session: 'prices' });
    stage.step({ 'site/other.txt': 'nothing to do with it\n' }, 'innocent', { session: 'auth-refactor' });
    await stage.request('GET', 'http://localhost:5173/api/stock', 404, { page: 'http://localhost:5173/site/index.html' });
    const changes = await stage.ask('/api/changes?client=test&checkpoint=start&peek=true');
    const entry = changes.network.failures.find((one) => one.path.includes('/api/stock')).id;
    await visit(`/error/${entry}`);
    await page.click('text=Bisect …');
    await page.locator('.bisect input').first().fill('/site/index.html');
    await page.locator('.bisect input').last().fill(`${whole}`);
    await page.click('text=Bisect by this page');
    await until('the step', async () => (await page.evaluate(() => document.querySelector('.bisected')?.innerText ?? '')).includes(`Look at #${broken}`), 60_000);
    await page.screenshot({ path: join(values.out, 'bisect.png') });
  },

  async 'nothing that others wrote becomes markup'() {
    const evil = '<img src=x onerror="window.pwned=1">';
    stage.step({ [`src/${evil.replaceAll('/', '')}.js`]: `// ${evil}\nconst a = "</script><script>window.pwned=2</script>";\nconst admin = "\u202e\u2066// no\u2069";\n` }, `${evil} <script>window.pwned=3</script>`, { session: '<b>session</b>', tool: '<i>tool</i>' });
    await stage.console('error', `TypeError: ${evil} javascript:alert(1) <svg onload=window.pwned=4>`, { stack: [{ file: `src/${evil}.js`, line: 1 }] });
    await stage.request('GET', 'http://localhost:5173/api/%3Cscript%3Ewindow.pwned=5%3C/script%3E', 500);
    stage.write(`src/now ${evil.replaceAll('/', '')}.html`, evil);
    const number = stage.run('log', '--limit', '1').rows[0].sequence_number;
    const { console: said } = await stage.ask('/api/changes?client=test&checkpoint=start&peek=true');
    const entry = said.errors.find((one) => one.message.includes('onerror')).id;
    for (const path of ['/', '/timeline', `/step/${number}`, '/range/1/now', '/errors', `/error/${entry}`, '/checkpoint/session_start', '/attempts', `/attempts/prices/${encodeURIComponent('<b>session</b>')}`, `/step/${encodeURIComponent(evil)}`, `/checkpoint/${encodeURIComponent(evil)}`, `/timeline?q=${encodeURIComponent(evil)}&session=${encodeURIComponent(evil)}`]) {
      await visit(path);
      const found = await page.evaluate(() => ({ pwned: window.pwned ?? 'no', strange: document.querySelectorAll('#app img:not([src="/assets/icon.svg"]), #app script, #app b, #app svg[onload], #app a[href^="javascript"]').length }));
      assert.deepEqual(found, { pwned: 'no', strange: 0 }, path);
    }
    // Nor does it change the order in which code is read.
    await visit('/step/@');
    await says('<U+202E><U+2066>// no<U+2069>');
    await visit('/timeline');
    await says(evil);
    // Even a script of ours cannot make markup of a text.
    const refused = await page.evaluate(() => ['innerHTML', 'outerHTML'].map((name) => { try { document.querySelector('main')[name] = '<b>x</b>'; return 'taken'; } catch (error) { return error.name; } }));
    assert.deepEqual(refused, ['TypeError', 'TypeError']);
    problems.length = 0;
  },

  async 'the variables of a program, and what changed between two captures'() {
    await debug(stage, resolve(values.tools, 'venv/bin/python'));
    await visit('/debug');
    await says("'tray'");
    assert.equal(await page.locator('.spark').count(), 2, 'a line for each number');
    await until('the chart', () => page.evaluate(() => [...document.querySelectorAll('.u-series th')].map((one) => one.innerText).join() === 'hit,sum,price'));
    await page.screenshot({ path: join(values.out, 'debugged.png'), fullPage: true });
    await page.getByLabel('compare totals-1').check();
    await page.getByLabel('compare totals-4').check();
    await says('From totals-1');
    await until('the difference', () => page.evaluate(() => [...document.querySelectorAll('[aria-label="Between the two"] tr')].some((row) => row.innerText.replace(/\s+/g, ' ').includes('sum 3 45'))));
  },

  async 'a comment on a line reaches the agent, and its answer comes back'({ story }) {
    await visit(`/step/${story.money}?view=unified`);
    await says('Math.round');
    await page.keyboard.press('c');
    await until('the dialog of the keyboard', () => page.evaluate(() => document.querySelector('dialog[open] textarea') === document.activeElement));
    await page.keyboard.press('Escape');
    await page.locator('.code-row.is-plus', { hasText: 'Math.round' }).locator('.is-fresh').click();
    await until('the dialog', () => page.evaluate(() => document.querySelector('dialog[open] textarea') === document.activeElement));
    await page.keyboard.type('Round half up, <b>please</b>.');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('text=Copy as a prompt');
    await until('the words for an agent', () => page.evaluate(() => navigator.clipboard.readText().then((words) => /On src\/money\.js:\d+\n\n    export const round.*\n\nRound half up/.test(words))));
    await page.locator('dialog[open] textarea').focus();
    await page.keyboard.press('Control+Enter');
    await says('waits for the agent');
    const hook = (event, more = {}) => JSON.parse(execFileSync(stage.program, ['hook', 'claude-code'], { cwd: stage.root, env: stage.environment, encoding: 'utf8', input: JSON.stringify({ session_id: 'prices', hook_event_name: event, cwd: stage.root, transcript_path: join(stage.base, 'none.jsonl'), ...more }) }));
    const told = hook('UserPromptSubmit', { prompt: 'go on' });
    const context = told.hookSpecificOutput?.additionalContext ?? '';
    assert.match(context, /ada on src\/money\.js:\d+: Round half up, <b>please<\/b>\..*"export const round/);
    const again = hook('UserPromptSubmit', { prompt: 'and on' }).hookSpecificOutput?.additionalContext ?? '';
    assert.ok(!again.includes('Round half up'), 'once is enough');
    await visit('/');
    await says('told to prices');
    const id = context.match(/review_comments answer ([0-9a-f]+) /)[1];
    stage.run('comment', 'answer', id, 'rounded to even before; changed', '--as', 'claude');
    await visit(`/step/${story.money}?view=unified`);
    await says('rounded to even before; changed');
    await page.screenshot({ path: join(values.out, 'comment.png') });
    stage.step({ 'src/money.js': stage.read('src/money.js').replaceAll('Math.round(amount * 100)', 'Math.floor(amount * 100 + 0.5)').replace('An amount', 'One amount') }, 'round half up', { session: 'prices' });
    const open = stage.run('comment', 'list').comments;
    assert.equal(open.length, 0, 'a comment whose line has changed is over');
  },

  async 'it is quick'({ numbers }) {
    const big = Array.from({ length: 20_000 }, (_, line) => `export const value${line} = ${line} * factor("${line}"); // line ${line}`).join('\n');
    stage.step({ 'src/big.js': big.replaceAll('factor', 'other') }, 'a large file', { session: 'prices' });
    const number = stage.step({ 'src/big.js': big }, 'all its lines', { session: 'prices' });
    await visit('/');
    numbers['first paint, ms'] = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    const scroll = async (path, label) => {
      await visit(path);
      await until('rows', () => page.evaluate(() => document.querySelectorAll('.row-place').length > 10));
      numbers[label] = await longestTask(page, () => page.evaluate(async () => {
        const list = document.querySelector('.list');
        for (let frame = 0; frame < 150; frame++) {
          list.scrollTop += list.scrollHeight / 150;
          await new Promise(requestAnimationFrame);
        }
      }));
      assert.ok(numbers[label] < 50, `${label}: ${numbers[label]}`);
    };
    // Elements are used again: what is at the top after a journey is what was there before it, in the same order.
    const atTop = () => page.evaluate(() => [...document.querySelectorAll('.row-place')].filter((row) => parseFloat(row.style.top) < 600).map((row) => [row.style.top, row.className, row.innerText, ...[...row.querySelectorAll('*')].filter((part) => part.className && part.tagName !== 'CODE' && !part.firstElementChild).map((part) => part.className + part.getAttribute('aria-pressed'))]));
    for (const view of ['unified', 'split']) {
      await visit(`/range/1/now?view=${view}`);
      const before = await atTop();
      assert.ok(before.length > 10);
      const made = await page.evaluate(async () => {
        const [list, known] = [document.querySelector('.list'), new WeakSet()];
        let made = 0;
        const watcher = new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => { if (!known.has(node)) made += 1 + (node.querySelectorAll?.('*').length ?? 0); known.add(node); })));
        list.querySelectorAll('*').forEach((node) => known.add(node));
        watcher.observe(list, { childList: true, subtree: true });
        const stops = [900, 1500, ...Array.from({ length: 200 }, (_, step) => 8000 + 700 * step), list.scrollHeight, 70, 0];
        for (const top of stops) {
          list.scrollTop = top;
          await new Promise(requestAnimationFrame);
          await new Promise(requestAnimationFrame);
        }
        watcher.disconnect();
        return made;
      });
      assert.deepEqual(await atTop(), before);
      numbers[`elements made on the journey, ${view}`] = made;
      assert.ok(made < 10_000, `${made} elements were made`);
    }
    await scroll(`/step/${number}?view=unified`, 'longest task while 40,000 lines scroll, ms');
    await scroll(`/step/${number}?view=split`, 'longest task while 40,000 lines scroll side by side, ms');
    await scroll('/timeline', 'longest task while the timeline scrolls, ms');
    writeFileSync(join(values.out, 'numbers.json'), JSON.stringify(numbers, null, 2));
  },
};

let failed = 0;
try {
  const story = await play(stage);
  const changes = await stage.ask('/api/changes?client=test&checkpoint=start&peek=true');
  story.error = changes.console.errors[0].id;
  browser = await launch(values.tools, values.browser);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  await enter(context);
  const numbers = {};
  for (const [name, run] of Object.entries(cases)) {
    if (values.only && !name.includes(values.only)) continue;
    const began = Date.now();
    problems.length = 0;
    try {
      await run({ story, context, numbers });
      assert.deepEqual(problems, []);
      console.log(`holds  ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILS  ${name}: ${[error.message, ...problems].join('\n')}`);
      await page.screenshot({ path: join(values.out, `failed-${failed}.png`) }).catch(() => {});
      console.log((await text().catch(() => '')).slice(0, 600));
    }
  }
  console.log(JSON.stringify(numbers));
} catch (error) {
  failed++;
  console.log(error.stack);
} finally {
  await browser?.close();
  await stage.end();
}
process.exit(failed ? 1 : 0);

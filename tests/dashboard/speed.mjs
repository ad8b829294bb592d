// How quick the dashboard is in Chromium: first paint, long tasks while 10,000 rows and a diff of 20,000 lines scroll, what is
// sent, and what an open dashboard costs the server while nothing happens. Measure a release build on a quiet machine:
// `make speed`. Ends with status 1 when a bar is missed and prints every figure either way.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch } from './browser.mjs';
import { Stage } from './stage.mjs';

const { values } = parseArgs({ options: { program: { type: 'string' }, tools: { type: 'string' }, browser: { type: 'string', default: 'chromium' }, rows: { type: 'string', default: '10000' } } });
const stage = new Stage(resolve(values.program));
const figures = [];
const note = (name, value, bar, unit) => { figures.push({ name, value, bar, unit }); };

/** Processor time of a process, in milliseconds. */
const spent = (pid) => { const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' '); return (Number(fields[11]) + Number(fields[12])) * 10; };

/** Scrolls from top to bottom in so many frames; the longest task meanwhile, and the longest time between two frames. */
const scroll = (page, frames) => page.evaluate(async (frames) => {
  const tasks = [];
  const watcher = new PerformanceObserver((list) => list.getEntries().forEach((entry) => tasks.push(entry.duration)));
  watcher.observe({ type: 'longtask' });
  const list = document.querySelector('.list');
  const step = (list.scrollHeight - list.clientHeight) / frames;
  for (let frame = 0; frame < frames; frame++) {
    list.scrollTop += step;
    await new Promise(requestAnimationFrame);
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  watcher.disconnect();
  return Math.max(0, ...tasks);
}, frames);

let browser;
let missed = 0;
try {
  stage.step({ 'README.md': '# Shop\n' }, 'as I found it');
  await stage.serve();
  const many = Number(values.rows);
  for (let row = 0; row < many; row++) {
    stage.write('n.txt', `${row}\n`);
    await stage.ask('/api/track', { description: `step ${row}`, tool: 'Edit', session: `session-${Math.floor(row / 500) % 7}` });
  }
  const lines = (word) => Array.from({ length: 10_000 }, (_, line) => `export const value${line} = ${line} * ${word}("${line}"); // line ${line}`).join('\n');
  stage.step({ 'src/big.js': lines('other') }, 'a large file');
  const number = stage.step({ 'src/big.js': lines('factor') }, 'all its lines');
  browser = await launch(values.tools, values.browser);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  let sent = 0;
  page.on('response', async (response) => { if (response.url().includes('/assets/')) sent += Number((await response.headerValue('content-length')) ?? 0); });
  await page.goto(stage.open());
  await page.waitForURL((url) => url.pathname === '/');
  await page.waitForSelector('main h1');
  const paints = [];
  for (let time = 0; time < 5; time++) {
    await page.goto(`${stage.url}/`);
    await page.waitForSelector('main h1');
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
  }
  note('first paint of the start page, median of 5', paints.sort((one, other) => one - other)[2], 300, 'ms');
  note('scripts and styles, packed', sent / 1000, 250, 'kB');
  await page.goto(`${stage.url}/timeline`);
  await page.waitForFunction((many) => document.querySelector('.summary')?.innerText.includes('rows') && !document.querySelector('.summary').innerText.includes('loading') && document.querySelectorAll('.row-place').length > 10 && many, many);
  note(`longest task, ${many.toLocaleString('en')} rows of the timeline`, Math.max(await scroll(page, 90), await scroll(page, 600)), 50, 'ms');
  for (const view of ['unified', 'split']) {
    await page.goto(`${stage.url}/step/${number}?view=${view}`);
    await page.waitForSelector('.code-row');
    await page.waitForTimeout(500);
    note(`longest task, 20,000 lines of a diff, ${view}`, Math.max(await scroll(page, 90), await scroll(page, 600)), 50, 'ms');
  }
  await page.goto(`${stage.url}/timeline`);
  await page.waitForTimeout(3000);
  const [began, before] = [Date.now(), spent(stage.server.pid)];
  await page.waitForTimeout(20_000);
  note('the server with a dashboard open and nothing to do', ((spent(stage.server.pid) - before) / (Date.now() - began)) * 100, 1, '% of a core');
} finally {
  await browser?.close();
  await stage.end();
}
for (const { name, value, bar, unit } of figures) {
  missed += value > bar;
  console.log(`${value > bar ? 'MISSED' : 'met   '}  ${value.toFixed(1).padStart(8)} ${unit.padEnd(11)} (bar ${bar})  ${name}`);
}
console.log(`load ${loadavg().map((one) => one.toFixed(1)).join(' ')}`);
process.exit(missed ? 1 : 0);

// How quick the dashboard is in Chromium: first paint, long tasks while 10,000 rows and a diff of 20,000 lines scroll, what is
// sent, and what an open dashboard costs the server while nothing happens. Measure a release build on a quiet machine:
// `make speed`. Each figure is the median of several runs, with the worst of them; a long task is also told in
// time of the processor, which a busy machine does not lengthen. Ends with status 1 when a median misses its bar.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, longestTask } from './browser.mjs';
import { Stage } from './stage.mjs';

const { values } = parseArgs({ options: { program: { type: 'string' }, tools: { type: 'string' }, browser: { type: 'string', default: 'chromium' }, rows: { type: 'string', default: '10000' }, times: { type: 'string', default: '5' } } });
const times = Number(values.times);
const stage = new Stage(resolve(values.program));
const figures = [];
/** Keeps a figure: what several runs gave, or the only one. */
const note = (name, found, bar, unit) => {
  const sorted = [found].flat().sort((one, other) => one - other);
  figures.push({ name, value: sorted[sorted.length >> 1], worst: sorted.at(-1), bar, unit });
};

/** Processor time of a process, in milliseconds. */
const spent = (pid) => { const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' '); return (Number(fields[11]) + Number(fields[12])) * 10; };

/** Scrolls from top to bottom in so many frames; the longest task meanwhile. */
const scroll = (page, frames) => page.evaluate(async (frames) => {
  const tasks = [];
  const watcher = new PerformanceObserver((list) => list.getEntries().forEach((entry) => tasks.push(entry.duration)));
  watcher.observe({ type: 'longtask' });
  const list = document.querySelector('.list');
  list.scrollTop = 0;
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
  for (let time = 0; time < times; time++) {
    await page.goto(`${stage.url}/`);
    await page.waitForSelector('main h1');
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
  }
  note('first paint of the start page', paints, 300, 'ms');
  note('scripts and styles, packed', sent / 1000, 250, 'kB');
  const pages = [[`${many.toLocaleString('en')} rows of the timeline`, '/timeline'], ...['unified', 'split'].map((view) => [`20,000 lines of a diff, ${view}`, `/step/${number}?view=${view}`])];
  for (const [name, path] of pages) {
    const open = async () => {
      await page.goto(stage.url + path);
      await page.waitForFunction(() => document.querySelectorAll('.row-place').length > 10 && !document.querySelector('.summary')?.innerText.includes('loading'));
      await page.waitForTimeout(500);
    };
    const found = [];
    for (let time = 0; time < times; time++) {
      await open();
      found.push(Math.max(await scroll(page, 90), await scroll(page, 600)));
    }
    note(`longest task, ${name}`, found, 50, 'ms');
    await open();
    note(`the same in time of the processor`, await longestTask(page, () => scroll(page, 90).then(() => scroll(page, 600))), 50, 'ms');
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
for (const { name, value, worst, bar, unit } of figures) {
  missed += value > bar;
  console.log(`${value > bar ? 'MISSED' : 'met   '}  ${value.toFixed(1).padStart(8)} ${unit.padEnd(11)} (bar ${bar}${worst > value ? `, worst ${worst.toFixed(1)}` : ''})  ${name}`);
}
console.log(`median of ${times} runs, load ${loadavg().map((one) => one.toFixed(1)).join(' ')}`);
process.exit(missed ? 1 : 0);

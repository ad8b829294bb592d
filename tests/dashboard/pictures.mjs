// Makes the pictures of the README: `make pictures`. They are of the sample project that `make run` serves; only checkpoints,
// which need an app that breaks meanwhile, are of the story the tests play.
import { mkdirSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch } from './browser.mjs';
import { play, Stage } from './stage.mjs';

const { values } = parseArgs({ options: { program: { type: 'string' }, tools: { type: 'string' }, browser: { type: 'string', default: 'chromium' }, out: { type: 'string' } } });
mkdirSync(values.out, { recursive: true });

/** `backsight demo --serve`, until it is told to end. */
async function sample(stage) {
  const child = spawn(stage.program, ['--json', 'demo', '--serve'], { env: stage.environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((done, failed) => {
    createInterface({ input: child.stdout }).once('line', done);
    child.once('exit', (status) => failed(new Error(`the sample ended with ${status}`)));
  });
  const end = () => new Promise((done) => { child.once('exit', done); child.kill('SIGINT'); });
  return { ...JSON.parse(line), end };
}

const stage = new Stage(resolve(values.program));
let browser;
let week;
try {
  week = await sample(stage);
  await play(stage);
  browser = await launch(values.tools, values.browser);
  for (const [name, entrance, path, colorScheme] of [
    ['since', week.url, '/', 'light'], ['timeline', week.url, '/timeline', 'dark'], ['step', week.url, '/range/5/now', 'light'],
    ['checkpoints', stage.open(), '/checkpoints', 'light'],
  ]) {
    // One way in for each address, which works once.
    const kept = browser.contexts().find((context) => context.entrance === entrance);
    const context = kept ?? Object.assign(await browser.newContext({ viewport: { width: 1280, height: 720 }, reducedMotion: 'reduce' }), { entrance });
    const page = context.pages()[0] ?? await context.newPage();
    if (!kept) {
      await page.goto(entrance);
      await page.waitForURL((url) => url.pathname === '/');
    }
    await page.emulateMedia({ colorScheme });
    await page.goto(new URL(path, entrance).href);
    await page.waitForSelector('main h1');
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(values.out, `${name}.png`) });
  }
} finally {
  await browser?.close();
  await week?.end();
  await stage.end();
}

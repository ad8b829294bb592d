// Makes the pictures of the README: `make pictures`.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch } from './browser.mjs';
import { play, Stage } from './stage.mjs';

const { values } = parseArgs({ options: { program: { type: 'string' }, tools: { type: 'string' }, browser: { type: 'string', default: 'chromium' }, out: { type: 'string' } } });
mkdirSync(values.out, { recursive: true });
const stage = new Stage(resolve(values.program));
let browser;
try {
  const story = await play(stage);
  browser = await launch(values.tools, values.browser);
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(stage.open());
  await page.waitForURL((url) => url.pathname === '/');
  for (const [name, path, colorScheme] of [['since', '/', 'light'], ['timeline', '/timeline', 'dark'], ['step', `/range/1/${story.broken}`, 'light'], ['checkpoints', '/checkpoints', 'light']]) {
    await page.emulateMedia({ colorScheme });
    await page.goto(stage.url + path);
    await page.waitForSelector('main h1');
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(values.out, `${name}.png`) });
  }
} finally {
  await browser?.close();
  await stage.end();
}

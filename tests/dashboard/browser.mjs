// The browser that both the test and the pictures use.
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** What is installed for it by `make tools`. */
export const tools = (folder) => createRequire(resolve(folder, 'dashboard', 'package.json'));

/** Starts Debian's Chromium. */
export function launch(folder, program) {
  const { chromium } = tools(folder)('playwright-core');
  return chromium.launch({ executablePath: found(program), args: ['--no-sandbox'] });
}

/** The longest task of a page's main thread while something is done, in milliseconds of its processor: a busy machine makes
 * a task late and not longer. */
export async function longestTask(page, act) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel'] } });
  await act();
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const thread = ({ pid, tid }) => `${pid} ${tid}`;
  const main = new Set(events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(thread));
  const tasks = events.filter((event) => event.tdur && main.has(thread(event)));
  if (!tasks.length) throw new Error('the trace holds no task');
  return Math.max(...tasks.map(({ tdur }) => tdur / 1000));
}

function found(program) {
  const path = (process.env.PATH ?? '').split(':').map((place) => join(place, program)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (!path) throw new Error(`${program} is missing: make tools`);
  return path;
}

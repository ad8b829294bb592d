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

// Ends what a driver started when the driver itself is gone, however it went: a killed process runs no `finally`. It is told
// over its pipe what there is, and the end of the pipe is the end of the driver.
//
//   group NUMBER      a process group to end
//   folder PATH       a directory to remove
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);
let keeper;

/** Tells the keeper of something that must not outlive the driver; the first time, it is started. */
export function keep(kind, what) {
  if (!keeper) {
    keeper = spawn(process.execPath, [here], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    keeper.unref();
    keeper.stdin.unref?.();
  }
  keeper.stdin.write(`${kind} ${what}\n`);
}

if (process.argv[1] === here) {
  const kept = [];
  createInterface({ input: process.stdin })
    .on('line', (line) => kept.push(line.split(/ (.*)/s)))
    .on('close', () => {
      for (const [, group] of kept.filter(([kind]) => kind === 'group')) {
        try {
          process.kill(-Number(group), 'SIGKILL');
        } catch {
          // It has ended by itself.
        }
      }
      for (const [, folder] of kept.filter(([kind]) => kind === 'folder')) {
        rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
      }
    });
}

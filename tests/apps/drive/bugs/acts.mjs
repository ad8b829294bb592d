// What bugs are made of: edits, places in files, clicks, servers that start anew.
import { answers } from '../stage.mjs';
import { until } from '../until.mjs';

/** Changes one text of a file. */
export const edit = (file, ...texts) => ({ stage }) => stage.edit(file, ...texts);

/** The line of a file that holds this text, as the place to be told. */
export const line = (file, text) => ({ stage }) => [stage.place(file, text)];

export const click = (selector) => ({ user }) => user.click(selector);

export const reload = ({ user }) => user.reload();

/** Waits until another process answers for a server that says its process at `/health`. */
export async function restarted(scene, name) {
  scene.processes ??= {};
  scene.processes[name] = await until(`${name} starts anew`, async () => {
    const health = await answers(scene.ports[name], '/health');
    const process = health?.status === 200 && JSON.parse(health.text).process;
    return process !== scene.processes[name] && process;
  });
}

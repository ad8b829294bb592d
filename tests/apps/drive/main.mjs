// Plants bugs in the apps, one after the other, and asks Backsight over MCP what happened, as an agent does: edit, look,
// fix, look. Prints the table as Markdown; fails when a row does not hold, or holds although known.txt says otherwise.
//
//   node main.mjs --program backsight --tools target/tools [--only react,flask:form] [--out FILE] [--verbose] [--because]
//
// With --because every edit is a recorded step, among steps of others, and the planted one has to be named first.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Agent } from './agent.mjs';
import { look, settle } from './look.mjs';
import { Stage } from './stage.mjs';
import { complaints, rates, table } from './table.mjs';
import { countTokens } from './tokens.mjs';
import { User } from './user.mjs';

const APPS = ['react', 'vue', 'webpack', 'flask', 'svelte'];
const folder = join(dirname(fileURLToPath(import.meta.url)), '..');
const text = { type: 'string' };
const flag = { type: 'boolean' };
const { values } = parseArgs({ options: { program: text, tools: text, only: text, out: text, verbose: flag, because: flag } });
const only = (values.only ?? APPS.join(',')).split(',').map((wanted) => wanted.split(':'));

const known = readFileSync(join(folder, 'known.txt'), 'utf8');

const rows = [];
for (const name of APPS) {
  const named = only.filter(([app]) => app === name);
  const isWanted = (bug) => named.some(([, wanted]) => !wanted || wanted === bug.name);
  if (named.length) rows.push(...(await visit(name, isWanted)));
}
countTokens(rows, resolve(values.tools, 'node_modules'));
const report = values.because ? `${table(rows)}\n${rates(rows)}` : table(rows);
process.stdout.write(report);
if (values.out) writeFileSync(values.out, report);
const wrong = complaints(rows, known);
for (const line of wrong) console.error(line);
process.exitCode = wrong.length ? 1 : 0;

/** Plays the bugs of an app with one browser and one set of servers. */
async function visit(name, isWanted) {
  const { app } = await import(`./bugs/${name}.mjs`);
  const stage = new Stage(resolve(values.program), join(folder, name), resolve(values.tools, 'apps'));
  const scene = { stage, node: process.execPath, say: values.verbose ? console.error : () => {} };
  const seen = [];
  try {
    if (values.because) stage.record();
    scene.agent = await Agent.start(stage.program, stage.directory, stage.environment);
    if (!app.launches) scene.user = await User.start(stage.beside('profile'));
    await app.start(scene);
    await settle(scene);
    for (const bug of app.bugs.filter(isWanted)) seen.push({ app: name, ...(await look(bug, app, scene)) });
  } finally {
    await scene.agent?.leave().catch(() => {});
    scene.user?.leave();
    stage.leave();
  }
  return seen;
}

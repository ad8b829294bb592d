// Debugs real programs over MCP and asks what an agent asks of each: where it stands, what a line changed, who changed a
// value, why a test fails. Prints the table as Markdown; fails when an answer is not right.
//
//   node debugged.mjs --program backsight --tools target/tools [--only flask,go] [--out FILE] [--verbose]
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Agent } from './agent.mjs';
import { programs } from './questions.mjs';
import { Stage } from './stage.mjs';
import { escape, shorten } from './table.mjs';
import { countTokens } from './tokens.mjs';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'debugged');
const text = { type: 'string' };
const { values } = parseArgs({ options: { program: text, tools: text, only: text, out: text, verbose: { type: 'boolean' } } });
const only = values.only?.split(',') ?? Object.keys(programs);
const tools = resolve(values.tools);

const rows = [];
for (const name of only) await visit(name, programs[name]);
countTokens(rows, join(tools, 'node_modules'));
const report = table(rows);
process.stdout.write(report);
if (values.out) writeFileSync(values.out, report);
const wrong = rows.filter((row) => row.missing.length);
for (const row of wrong) console.error(`${row.program}: ${row.question}: not said: ${row.missing.join(', ')}; told: ${row.answer}`);
process.exitCode = wrong.length ? 1 : 0;

/** Debugs one program, in a copy of its folder with what it is made of. */
async function visit(name, { source, made, play }) {
  const stage = new Stage(resolve(values.program), join(folder, source ?? name), join(tools, made ?? 'runners'));
  symlinkSync(join(tools, 'runners', 'venv'), join(stage.directory, '.venv'));
  // What the program is made of is outside, behind links.
  const settings = join(stage.environment.XDG_CONFIG_HOME, 'backsight');
  mkdirSync(settings);
  writeFileSync(join(settings, 'config.toml'), '[agents]\nprograms = "any"\n', { mode: 0o600 });
  stage.environment.GOCACHE = join(tools, '..', 'tmp', 'go-cache');
  stage.environment.PATH = [join(tools, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  let agent;
  try {
    agent = await Agent.start(stage.program, stage.directory, stage.environment);
    await play({ stage, tools, agent, ask: (...words) => ask(name, agent, ...words) });
  } catch (error) {
    rows.push({ program: name, question: 'it is debugged at all', missing: [error.message], answer: error.stack, answers: [''], milliseconds: 0 });
  } finally {
    await agent?.leave().catch(() => {});
    stage.leave();
  }
}

/** Calls a tool; the answer is right when it holds all the words. */
async function ask(program, agent, question, tool, parameters, ...words) {
  const began = performance.now();
  const { text, structured } = await agent.call(tool, parameters);
  const milliseconds = performance.now() - began;
  if (values.verbose) console.error(`--- ${program}: ${question}\n${text}\n`);
  const missing = words.filter((word) => (word instanceof RegExp ? !word.test(text) : !text.includes(word))).map(String);
  rows.push({ program, question, missing, answer: text, answers: [text], milliseconds });
  return structured;
}

function table(rows) {
  const head = ['program', 'question', 'answer', 'right', 'tokens', 'time'];
  const cells = rows.map((row) => [row.program, row.question, shorten(row.answer.replace(/\nuntrusted: .*/, '').replaceAll('\n', '; ')),
    row.missing.length ? 'no' : 'yes', row.tokens, `${Math.round(row.milliseconds)} ms`]);
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.map(escape).join(' | ')} |\n`).join('');
}

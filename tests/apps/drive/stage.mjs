// A copy of an app in a temporary directory, with its programs under `backsight run`, and an editor's hand on its files.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keep } from './keeper.mjs';
import { until } from './until.mjs';

export class Stage {
  #base = realpathSync(mkdtempSync(join(tmpdir(), 'backsight-app-')));
  #originals = new Map();
  #programs = new Map();
  #records = false;
  directory = join(this.#base, 'app');

  constructor(program, source, tools) {
    keep('folder', this.#base);
    this.program = program;
    this.tools = tools;
    cpSync(source, this.directory, { recursive: true });
    // A directory of links and not one link: Vite writes into it.
    const modules = join(this.directory, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync(join(tools, 'node_modules'))) {
      if (!name.startsWith('.')) symlinkSync(join(tools, 'node_modules', name), join(modules, name));
    }
    const home = join(this.#base, 'home');
    mkdirSync(home);
    this.environment = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, TZ: 'UTC', LC_ALL: 'C.UTF-8', NO_COLOR: '1' };
  }

  /** A place for something that goes with the stage. */
  beside(name) {
    return join(this.#base, name);
  }

  /** Starts a program of the app under `backsight run` and waits until it answers at its port. */
  async start(name, port, words, variables = {}) {
    const options = { cwd: this.directory, env: { ...this.environment, ...variables }, stdio: 'ignore', detached: true };
    const child = spawn(this.program, ['run', '--name', name, '--', ...words], options);
    keep('group', child.pid);
    this.#programs.set(name, child);
    child.once('exit', () => this.#programs.delete(name));
    if (port) await until(`${name} answers`, () => answers(port));
  }

  /** What an agent's tool does, as a recorded step; its number, or nothing when no file changed. */
  async asStep(session, tool, work) {
    if (!this.#records) return void (await work());
    const call = this.#backsight('begin', '--tool', tool, '--session', session).id;
    await work();
    const { created, sequence_number: number } = this.#backsight('finish', call);
    return created ? `#${number}` : undefined;
  }

  /** Whether edits are recorded. */
  get records() {
    return this.#records;
  }

  /** Records every edit from here on. */
  record() {
    this.#records = true;
    this.track();
  }

  /** Records the files as they are, if edits are recorded. */
  track() {
    if (this.#records) this.#backsight('track');
  }

  #backsight(...words) {
    const done = spawnSync(this.program, ['--json', '-C', this.directory, ...words], { env: this.environment, encoding: 'utf8' });
    const answer = JSON.parse(done.stdout);
    if (!answer.ok) throw new Error(`backsight ${words[0]}: ${answer.error.message}`);
    return answer;
  }

  /** Another agent's work on files that no program loads. */
  async distract(count) {
    if (!this.#records) return;
    const note = async () => writeFileSync(join(this.directory, 'NOTES.md'), `${count}: prices, stock and the cart were reviewed\n`);
    const part = async () => writeFileSync(join(this.directory, 'unused.js'), `export const total${count} = (items) => items.length;\n`);
    await this.asStep('reviewer', 'Write', note);
    await this.asStep('reviewer', 'Edit', part);
  }

  /** Ends a program as a user does in its terminal. */
  async stop(name, signal = 'SIGTERM') {
    const child = this.#programs.get(name);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    process.kill(child.pid, signal);
    await ended;
  }

  read(file) {
    return readFileSync(join(this.directory, file), 'utf8');
  }

  /** Replaces texts that must be there once, each followed by what takes its place, in one write: of two writes in a row a
   * dev server's watcher may see only the first. */
  edit(file, ...texts) {
    let text = this.read(file);
    if (!this.#originals.has(file)) this.#originals.set(file, text);
    for (let at = 0; at < texts.length; at += 2) {
      const [from, to] = texts.slice(at, at + 2);
      if (text.split(from).length !== 2) throw new Error(`${file} does not hold this once: ${from}`);
      text = text.replace(from, () => to);
    }
    this.#write(file, text);
  }

  /** Writes a file that was not there. */
  add(file, text) {
    this.#originals.set(file, null);
    this.#write(file, text);
  }

  /** Writes all files as they were; those it wrote. */
  fix() {
    const files = [...this.#originals];
    this.#originals.clear();
    for (const [file, text] of files) {
      if (text === null) rmSync(join(this.directory, file));
      else this.#write(file, text);
    }
    return files.map(([file]) => file);
  }

  /** Writes a file once more as it is. */
  touch(file) {
    this.#write(file, this.read(file));
  }

  /** `file:line` of a text that is in the file now. */
  place(file, text) {
    const line = this.read(file).split('\n').findIndex((line) => line.includes(text));
    if (line < 0) throw new Error(`${file} does not hold ${text}`);
    return `${file}:${line + 1}`;
  }

  /** Vite keeps what it made of half a file, so its sources are put in place whole; other files are written as they are. */
  #write(file, text) {
    const path = join(this.directory, file);
    if (!file.startsWith('src/') || !existsSync(join(this.directory, 'vite.config.js'))) return writeFileSync(path, text);
    writeFileSync(this.beside('edited'), text);
    renameSync(this.beside('edited'), path);
  }

  leave() {
    for (const child of this.#programs.values()) {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has gone by itself.
      }
    }
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** A port that is free now. */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** What a server says to a request; nothing when it does not answer. */
export async function answers(port, path = '/') {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5000) });
    return { status: response.status, text: await response.text() };
  } catch {
    return null;
  }
}

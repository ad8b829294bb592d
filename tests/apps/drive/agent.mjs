// An agent's side of `backsight mcp`: lines of JSON over its pipes.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const PATIENCE = 90_000;

export class Agent {
  #child;
  #last = 0;
  #waiting = new Map();

  static async start(program, directory, environment) {
    const agent = new Agent();
    agent.#child = spawn(program, ['mcp'], { cwd: directory, env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: agent.#child.stdout }).on('line', (line) => agent.#heard(JSON.parse(line)));
    const client = { name: 'tester', version: '1' };
    await agent.#request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: client });
    agent.#send({ method: 'notifications/initialized' });
    return agent;
  }

  /** Calls a tool that must not refuse; what it says as text and as an object. */
  async call(tool, parameters = {}) {
    const result = await this.#request('tools/call', { name: tool, arguments: parameters });
    const answer = { text: result.content[0].text, structured: result.structuredContent };
    if (result.isError) throw new Error(`${tool}: ${answer.text}`);
    return answer;
  }

  /** Closes its pipe and waits for its end. */
  async leave() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  }

  #heard(message) {
    const { resolve, reject } = this.#waiting.get(message.id) ?? {};
    if (!resolve) return;
    this.#waiting.delete(message.id);
    if (message.error) reject(new Error(JSON.stringify(message.error)));
    else resolve(message.result);
  }

  #request(method, params) {
    const id = ++this.#last;
    const answer = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), PATIENCE);
      this.#waiting.set(id, { resolve: (value) => (clearTimeout(timer), resolve(value)), reject });
    });
    this.#send({ id, method, params });
    return answer;
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

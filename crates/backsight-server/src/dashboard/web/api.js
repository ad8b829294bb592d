// Asks the server. Every question carries the key that this origin keeps beside the cookie that scripts cannot read.
import { signal } from './vendor.js';

/** Whether the server lets this browser in; null until it was asked. */
export const admitted = signal(null);
/** The newest row's number, as the server last said. */
export const newest = signal(0);
/** Where the workspace is; empty until the server said it. */
export const root = signal('');
/** Whether the stream of events is open. */
export const live = signal(false);

export const person = () => localStorage.getItem('backsight.person') || 'me';

export class Failure extends Error {
  constructor(error, status) {
    super(error.message);
    Object.assign(this, { code: error.code, hint: error.hint, details: error.details, status });
  }
}

const headers = (more) => ({ 'x-backsight-key': localStorage.getItem('backsight.key') ?? '', ...more });

/** Asks; `read` makes the answer of the text. */
async function send(path, options, read = JSON.parse) {
  let response;
  try {
    response = await fetch(path, { cache: 'no-store', credentials: 'same-origin', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure({ code: 'UNREACHABLE', message: 'the server does not answer', hint: 'start it again with `backsight open`' }, 0);
  }
  const answer = await response.text().then(read).catch(() => ({ error: { code: 'IO', message: `the server answered ${response.status} and no JSON` } }));
  if (response.status === 401) admitted.value = false;
  else admitted.value = true;
  if (answer.ok !== true) throw new Failure(answer.error ?? { code: 'IO', message: 'the answer is not understood' }, response.status);
  return answer;
}

/** Reads: `get('/api/log', { limit: 5 })`. What is undefined is left out. */
export function get(path, query = {}, signal, read) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== '') search.append(name, one);
  }
  const text = search.toString();
  return send(text ? `${path}?${text}` : path, { headers: headers(), signal }, read);
}

/** Does something. */
export const post = (path, body = {}) =>
  send(path, { method: 'POST', headers: headers({ 'content-type': 'application/json' }), body: JSON.stringify(body) });

/** The text behind an address of a page with `.json`. */
export async function raw(path) {
  return JSON.stringify(await send(path, { headers: headers() }), null, 2);
}

let stream = null;

/** Listens to the server while the page is visible: a browser has only a few connections for all its tabs. */
export function listen() {
  const turn = () => (document.hidden ? stop() : start());
  document.addEventListener('visibilitychange', turn);
  turn();
}

function stop() {
  stream?.abort();
  stream = null;
  live.value = false;
}

async function start() {
  if (stream) return;
  const mine = (stream = new AbortController());
  for (let wait = 500; stream === mine; wait = Math.min(wait * 2, 10_000)) {
    try {
      await read(mine.signal);
      wait = 500;
    } catch {
      // Tried again below.
    }
    if (stream !== mine) return;
    live.value = false;
    if (admitted.value === false) return stop();
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function read(signal) {
  const response = await fetch('/events', { headers: headers(), signal, cache: 'no-store' });
  if (response.status === 401) admitted.value = false;
  if (!response.ok) throw new Error(`${response.status}`);
  live.value = true;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const events = rest.split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const line = event.split('\n').find((line) => line.startsWith('data:'));
      if (line) newest.value = JSON.parse(line.slice(5)).sequence_number;
    }
  }
}

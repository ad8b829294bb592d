
'use strict';
// The page of a tool's answer, inside a sandbox of the client. It speaks JSON-RPC with the client by messages, loads nothing,
// and puts every text of the answer on the page as text: there is no way in it to make elements out of a string.
(() => {
  const host = window.parent;
  const page = document.getElementById('page');
  const shows = document.body.dataset.shows;
  const waiting = new Map();
  let last = 0;
  let canCall = false;

  // Words with the client.

  const send = (message) => host.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const ask = (method, params) => new Promise((done, failed) => {
    last += 1;
    waiting.set(last, { done, failed });
    send({ id: last, method, params });
  });

  window.addEventListener('message', (event) => {
    // Only the client that made this frame has anything to say here.
    const message = event.data;
    if (event.source !== host || typeof message !== 'object' || message === null || message.jsonrpc !== '2.0') return;
    if (typeof message.method === 'string') return heard(message);
    const asked = waiting.get(message.id);
    if (!asked) return;
    waiting.delete(message.id);
    if (message.error) asked.failed(new Error(String(message.error.message ?? 'refused')));
    else asked.done(message.result ?? {});
  });

  function heard({ method, id, params }) {
    switch (method) {
      case 'ui/notifications/tool-result': return draw(params ?? {});
      case 'ui/notifications/tool-cancelled': return put(page, line('quiet', 'The call was cancelled.'));
      case 'ui/notifications/host-context-changed': return dress(params ?? {});
      case 'ping':
      case 'ui/resource-teardown': return id !== undefined && send({ id, result: {} });
      default:
        if (id !== undefined) send({ id, error: { code: -32601, message: 'there is no such method' } });
    }
  }

  /** The client's theme and colours. */
  function dress(context) {
    const root = document.documentElement;
    if (context.theme === 'light' || context.theme === 'dark') root.dataset.theme = context.theme;
    for (const [name, value] of Object.entries(context.styles?.variables ?? {})) {
      if (/^--[a-z0-9-]+$/.test(name) && typeof value === 'string' && !/url|[;{}@\\]/i.test(value)) root.style.setProperty(name, value);
    }
  }

  // Elements out of names and texts alone.

  const put = (element, ...children) => element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  function make(name, kind, ...children) {
    const element = document.createElement(name);
    if (kind) element.className = kind;
    put(element, ...children);
    return element;
  }
  const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value) ?? '');
  const line = (kind, value) => make('p', kind, text(value));
  const list = (items, shown = (item) => text(item)) => make('ul', '', (Array.isArray(items) ? items : []).map((item) => make('li', '', shown(item))));
  const part = (title, ...children) => [make('h2', '', title), ...children];
  function press(label, act) {
    const button = make('button', '', label);
    button.type = 'button';
    button.addEventListener('click', () => act(button));
    return button;
  }

  // Answers.

  function draw(result) {
    const answer = result.structuredContent;
    if (typeof answer !== 'object' || answer === null) {
      const said = (result.content ?? []).filter((block) => block?.type === 'text').map((block) => text(block.text));
      return put(page, said.map((words) => line('', words)));
    }
    if (result.isError || answer.ok === false) {
      const error = answer.error ?? {};
      return put(page, make('h1', 'is-error', text(error.message ?? answer.summary ?? 'failed')), error.hint ? line('quiet', error.hint) : null);
    }
    put(page, { diff, history, changes }[shows](answer));
  }

  /** A button for what was cut, when the client lets the page ask for it. */
  function rest(answer, into, drawn) {
    const next = answer.next;
    if (!next || typeof next.tool !== 'string') return null;
    if (!canCall) return line('quiet', `More: ${next.tool} ${text(next.arguments ?? {})}`);
    return press('Show more', (button) => call(next.tool, next.arguments ?? {}, button, (more) => {
      const wanted = next.tool === 'files_diff' ? diff : next.tool === 'history_query' ? history : plain;
      button.remove();
      into.append(...[(drawn ?? wanted)(more)].flat().filter(Boolean));
    }));
  }

  async function call(name, args, button, drawn) {
    button.disabled = true;
    try {
      const result = await ask('tools/call', { name, arguments: args });
      const answer = result.structuredContent;
      if (result.isError || !answer || answer.ok === false) throw new Error(text(answer?.error?.message ?? 'it failed'));
      drawn(answer);
    } catch (error) {
      button.disabled = false;
      button.after(line('is-error', error.message));
    }
  }

  const plain = (answer) => [line('', answer.summary ?? ''), ...['files', 'changes', 'rows'].filter((name) => answer[name]).map((name) => list(answer[name]))];

  // What differs.

  function diff(answer) {
    const box = make('section', '');
    put(box,
      make('h1', '', text(answer.summary ?? 'Differences')),
      files(text(answer.diff ?? '')),
      Array.isArray(answer.unseen) && answer.unseen.length ? part('Not seen', list(answer.unseen)) : null,
      !answer.diff && Array.isArray(answer.files) ? list(answer.files) : null);
    box.append(...[rest(answer, box)].filter(Boolean));
    return box;
  }

  /** A unified diff, a part that folds for each file. A page that begins within a file has a part for that too. */
  function files(unified) {
    const parts = [];
    let rows = null;
    let [old, fresh] = [0, 0];
    // What stands before the first hunk of a file; within one `---` may be a line that was taken out.
    let isHead = false;
    const begin = (title) => {
      rows = make('div', 'code');
      const fold = make('details', '', make('summary', '', title), rows);
      fold.open = true;
      parts.push(fold);
    };
    const lines = unified.split('\n');
    if (lines.at(-1) === '') lines.pop();
    for (const words of lines) {
      if (words.startsWith('diff --git ')) {
        const named = /^diff --git a\/(.*) b\/\1$/.exec(words) ?? /^diff --git "a\/(.*)" "b\/\1"$/.exec(words);
        begin(named ? named[1] : words.slice('diff --git '.length));
        isHead = true;
        continue;
      }
      if (!rows) begin('continued');
      const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(words);
      if (hunk) { isHead = false; [old, fresh] = [Number(hunk[1]), Number(hunk[2])]; row('hunk', '', '', words); continue; }
      if (isHead) { if (!/^(\+\+\+|---|index) /.test(words)) row('hunk', '', '', words); continue; }
      if (words.startsWith('\\')) { row('hunk', '', '', words); continue; }
      if (words.startsWith('+')) row('add', '', fresh++, words);
      else if (words.startsWith('-')) row('del', old++, '', words);
      else row('', old++ || '', fresh++ || '', words);
    }
    function row(kind, before, after, words) {
      rows.append(make('div', kind, make('span', 'number', String(before)), make('span', 'number', String(after)), make('span', '', words)));
    }
    return parts;
  }

  // What was done.

  function history(answer) {
    const box = make('section', '');
    const rows = Array.isArray(answer.rows) ? answer.rows : Array.isArray(answer.lines) ? answer.lines : [];
    put(box,
      make('h1', '', text(answer.summary ?? 'History')),
      answer.description ? line('', answer.description) : null,
      list(rows, step),
      Array.isArray(answer.changes) ? part('Changed', list(answer.changes)) : null,
      Array.isArray(answer.unknown) && answer.unknown.length ? part('By others', list(answer.unknown)) : null);
    box.append(...[rest(answer, box)].filter(Boolean));
    return box;
  }

  /** A row with a button for what it changed. */
  function step(row) {
    const words = text(row);
    const number = /^#\d+/.exec(words)?.[0];
    const isStep = number && canCall && !/^#\d+ (milestone|reset|bisect|first_error|recovery|navigation|debugger_stop|capture|debug_end)\b/.test(words);
    if (!isStep) return make('div', 'row', make('span', '', words));
    const below = make('div', '');
    const look = press('Diff', (button) => call('files_diff', { step: number }, button, (answer) => {
      button.remove();
      put(below, diff(answer));
    }));
    return make('div', '', make('div', 'row', make('span', '', words), look), below);
  }

  // What happened in the app.

  function changes(answer) {
    const box = make('section', '');
    const severity = ['clean', 'warning', 'error', 'unknown'].includes(answer.severity) ? answer.severity : 'unknown';
    const heading = make('h1', '', make('span', `badge is-${severity}`, severity), text(answer.summary ?? ''));
    const parts = [];
    if (Array.isArray(answer.because)) parts.push(part('Because of', list(answer.because, (cause) => [cause.step, cause.by && `by ${cause.by}`, cause.certainty].filter(Boolean).map(text).join(', ') || text(cause))));
    for (const [name, title] of [['console', 'Console'], ['network', 'Network'], ['websocket', 'Sockets'], ['actions', 'Actions'], ['files', 'Files'], ['debug', 'Debugger']]) {
      const told = answer[name] ?? {};
      if (Object.keys(told).some((key) => key !== 'total_new') || told.total_new) parts.push(part(title, facts(told)));
    }
    if (Array.isArray(answer.gap) && answer.gap.length) parts.push(part('Not watched', list(answer.gap)));
    if (answer.omitted) parts.push(part('Left out', facts(answer.omitted)));
    put(box, heading, line('quiet', answer.checkpoint ? `since ${text(answer.checkpoint)}` : ''), ...parts);
    box.append(...[rest(answer, box, changes)].filter(Boolean));
    return box;
  }

  /** Any object: its lists as lists, the rest in words. */
  function facts(value) {
    if (typeof value !== 'object' || value === null) return line('', value);
    if (Array.isArray(value)) return list(value, (item) => (typeof item === 'object' && item !== null ? entry(item) : text(item)));
    return Object.entries(value).map(([name, inner]) => (typeof inner === 'object' && inner !== null
      ? [line('quiet', name.replaceAll('_', ' ')), facts(inner)].flat()
      : line('', `${name.replaceAll('_', ' ')}: ${text(inner)}`))).flat();
  }

  /** One error, request or action: what it says first, the rest behind it. */
  function entry(item) {
    const first = ['message', 'text', 'summary', 'url', 'endpoint', 'path', 'what'].find((name) => typeof item[name] === 'string');
    const rest = Object.entries(item).filter(([name]) => name !== first).map(([name, value]) => `${name} ${text(value)}`).join(', ');
    return make('span', '', first ? make('strong', '', item[first]) : null, make('span', 'quiet', `${first ? ' ' : ''}${rest}`));
  }

  // Begins when the client answers.

  put(page, line('quiet', 'Waiting for the answer.'));
  ask('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name: 'backsight', version: '1' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
  }).then((result) => {
    canCall = Boolean(result.hostCapabilities?.serverTools);
    dress(result.hostContext ?? {});
    send({ method: 'ui/notifications/initialized', params: {} });
    let told = '';
    new ResizeObserver(() => {
      const size = { width: Math.ceil(document.documentElement.scrollWidth), height: Math.ceil(page.getBoundingClientRect().height) };
      if (told === JSON.stringify(size)) return;
      told = JSON.stringify(size);
      send({ method: 'ui/notifications/size-changed', params: size });
    }).observe(page);
  }, (error) => put(page, line('is-error', error.message)));
})();

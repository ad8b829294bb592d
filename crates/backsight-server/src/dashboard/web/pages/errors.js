// What broke: all of it, and one thing with the story before it and the step that is suspected.
import { useState } from '../vendor.js';
import { get, post } from '../api.js';
import { useKeys } from '../keys.js';
import { revertStep } from '../going.js';
import { Copy, Empty, html, inside, Loaded, Loading, Problem, Severity, Time, useLoaded, Who } from '../parts.js';
import { address, counted, exactly, isStep, kindOf, millis, plural, span } from '../words.js';
import { Row } from './since.js';

const all = (signal) => get('/api/changes', { client: 'dashboard', peek: true, checkpoint: 'start' }, signal);

/** Everything in an answer about the app that is broken, the worst first. */
export function broken(changes) {
  const said = (list = [], tone, what) => list.map((one) => ({ id: one.id, tone, what, text: one.message, source: one.source, count: one.count, variants: one.variants, after: one.after_ms, last: one.last_ms, recurring: one.recurring }));
  const failed = (list = [], tone, what) => list.map((one) => ({ id: one.id, tone, what, text: `${one.method} ${one.path}`, source: [`status ${one.status}`, one.previous_status && `was ${one.previous_status}`, one.now && `now ${one.now}`, one.detail].filter(Boolean).join(', '), count: one.count, variants: one.variants }));
  const { console: spoken, network, websocket } = changes;
  return [
    ...said(spoken?.errors, 'error', 'error'),
    ...failed(network?.failures, 'error', 'request'),
    ...failed(network?.still_failing, 'warning', 'still fails'),
    ...failed(network?.mistyped, 'warning', 'wrong type'),
    ...(network?.pending ?? []).map((one) => ({ tone: 'warning', what: 'no answer', text: `${one.method} ${one.path}`, source: `for ${span(one.age_ms)}`, count: one.count })),
    ...(websocket?.errors ?? []).filter((one) => !one.recovered).map((one) => ({ id: one.id, tone: 'error', what: 'socket', text: one.url, source: one.message, count: one.count })),
    ...(websocket?.disconnections ?? []).filter((one) => !one.reconnected && one.by !== 'page').map((one) => ({ id: one.id, tone: 'warning', what: 'socket ended', text: one.url, source: [one.close_code, one.close_reason].filter(Boolean).join(' '), count: one.count })),
    ...said(spoken?.warnings, 'warning', 'warning'),
  ];
}

const SURE = { likely: 'likely because of', possible: 'possibly because of', guess: 'perhaps because of' };
const SPEAKS = { line: (at) => html`changed the very line, <code>${at}</code>`, file: (at) => html`changed the file of <code>${at}</code>`, word: (at) => html`changed lines with <code>${at}</code>`, import: (at) => html`changed <code>${at}</code>, which is imported`, time: () => 'was the last step before it' };

const stepAddress = (step) => (step === 'now' ? address('range', '@', 'now') : address('step', step.replace('#', '')));

/** The step that is suspected, in a line. */
export function Suspect({ because }) {
  if (!because.step) return html`<span class="quiet">no step explains it</span>`;
  const who = [because.by, because.session].filter(Boolean).join(', ');
  return html`<span>${SURE[because.certainty]} <a href=${stepAddress(because.step)}>${because.step === 'now' ? 'what is on disk and no step holds' : because.step}</a>${who && html` <span class="quiet">(${who})</span>`}</span>`;
}

/** Why. */
function Because({ because }) {
  return html`<div class="because"><ul>${(because.evidence ?? []).map((one) => html`<li>It ${SPEAKS[one.kind]?.(one.at) ?? one.at}</li>`)}</ul>
    ${because.also?.length > 0 && html`<p class="quiet">Others that something speaks for: ${because.also.map((step, index) => html`${index > 0 && ', '}<a href=${stepAddress(step)}>${step}</a>`)}</p>`}
    <p class="quiet">This is an inference; a bisect proves it.</p></div>`;
}

/** The suspect of an entry, and why on request. */
export function Why({ id, changes }) {
  const [open, setOpen] = useState(false);
  const because = (changes.because ?? []).find((reason) => reason.entry === id);
  if (!id || !because) return null;
  return html`<p class="suspect"><${Suspect} because=${because} /> <button class="link" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? 'less' : 'why'}</button></p>
    ${open && html`<${Because} because=${because} />`}`;
}

export function Errors({ go }) {
  const [state, again] = useLoaded(all, [], true);
  const [rows] = useLoaded((signal) => get('/api/timeline', { kind: 'first_error', limit: 200 }, signal), [], true);
  useKeys([['Enter', 'the first error', () => { const first = broken(state.data ?? {}).find((one) => one.id); if (first) go(address('error', first.id)); }]], [state.data]);
  return html`<div class="page"><h1>Errors</h1><${Loaded} state=${state} again=${again}>${(changes) => {
    const found = broken(changes);
    return html`
      <p class="lead"><${Severity} severity=${changes.severity} /> ${counted(changes.summary)}</p>
      <section class="card" aria-label="Now"><h2>Since this server watches <span class="count">${found.length}</span></h2>
        ${found.length ? html`<ul class="plainlist rows">${found.map((one) => html`<li class="broken"><div class="broken-head"><${Severity} severity=${one.tone} text=${one.what} />
          ${one.id ? html`<a class="broken-text" href=${address('error', one.id)}>${one.text}</a>` : html`<span class="broken-text">${one.text}</span>`}
          ${one.count > 1 && html`<span class="times">×${one.count}</span>`}</div>${one.source && html`<p class="quiet source"><code>${one.source}</code></p>`}<${Why} id=${one.id} changes=${changes} /></li>`)}</ul>`
          : html`<${Empty} title=${changes.coverage?.attached ? 'Nothing is broken' : 'Nobody watches the app'}>${changes.coverage?.attached ? 'Errors of the console, failed requests and lost sockets appear here at once.' : html`Start it with <code>backsight run npm run dev</code>, or watch a browser with <code>backsight browser launch URL</code>.`}</${Empty}>`}
      </section>
      ${rows.data?.rows.length > 0 && html`<section class="card" aria-label="Earlier"><h2>Recorded in the timeline <span class="count">${rows.data.rows.length}</span></h2>
        <ol class="happened">${rows.data.rows.map((row) => html`<${Row} row=${row} />`)}</ol></section>`}`;
  }}</${Loaded}></div>`;
}

/** How far back the story before an error goes, and how much of it is shown. */
const BEFORE = 900_000;
const CRUMBS = 30;

/** One thing that broke, with what is known of it: steps, requests, messages, the user's actions, stops and marks before it. */
async function story(id, signal) {
  const entry = await get(address('api', 'browser', 'entries', id), {}, signal);
  const [first, since] = [millis(entry.first), new Date(millis(entry.first) - BEFORE).toISOString()];
  const [changes, timeline, log] = await Promise.all([
    all(signal), get('/api/timeline', { until: entry.first, limit: 60 }, signal), get('/api/browser/log', { since, limit: 200 }, signal).catch(() => ({ rows: [], older: 0 })),
  ]);
  const rows = timeline.rows.map((row) => ({ at: millis(row.timestamp), row }));
  const events = log.rows.filter((one) => millis(one.time) <= first && one.id !== id).map((one) => ({ at: millis(one.time), event: one }));
  const both = [...rows, ...events].sort((one, other) => one.at - other.at);
  return { entry, changes, crumbs: both.slice(-CRUMBS), left: Math.max(0, both.length - CRUMBS), unread: log.older ?? 0 };
}

export function ErrorPage({ id, go }) {
  const [state, again] = useLoaded((signal) => story(id, signal), [id], true);
  const because = (state.data?.changes.because ?? []).find((reason) => reason.entry === id);
  const step = because?.step && because.step !== 'now' ? Number(because.step.replace('#', '')) : null;
  useKeys([
    step && ['Enter', 'the suspected step', () => go(address('step', `${step}`))],
    step && ['r', 'take the suspected step back', () => revertStep(step)],
  ], [step]);
  return html`<div class="page"><p class="eyebrow"><a href="/errors">Errors</a> / ${id}</p><${Loaded} state=${state} again=${again}>${({ entry, changes, crumbs, left, unread }) => {
    const one = broken(changes).find((found) => found.id === id);
    const [first, last, variants] = [entry.first, entry.last, Math.max(entry.variants?.length ?? 0, (one?.variants ?? 1) - 1)];
    return html`
      <h1 class="said">${one?.text ?? entry.console?.message ?? id}</h1>
      <dl class="figures">
        <div><dt>How bad</dt><dd><${Severity} severity=${one?.tone ?? 'error'} text=${one?.what ?? 'error'} /></dd></div>
        <div><dt>First seen</dt><dd title=${exactly(first)}><${Time} at=${first} relative /></dd></div>
        <div><dt>Last seen</dt><dd title=${exactly(last)}><${Time} at=${last} relative /></dd></div>
        <div><dt>How often</dt><dd>${plural(entry.count ?? 1, 'time')}</dd></div>
        ${variants > 0 && html`<div><dt>Variants</dt><dd>${variants + 1}</dd></div>`}
        ${one?.source && html`<div><dt>Where</dt><dd><code>${one.source}</code></dd></div>`}
      </dl>
      <section class="card suspect-card" aria-label="Suspect"><h2>Suspect</h2>
        ${because ? html`<p class="lead"><${Suspect} because=${because} /></p><${Because} because=${because} />`
          : html`<p class="quiet">No step is known that explains it.</p>`}
        <${Bisect} id=${id} entry=${entry}>${step && html`<a class="button" href=${address('step', `${step}`)}>Look at #${step}</a> <button onClick=${() => revertStep(step)}>Take #${step} back … <kbd>r</kbd></button>`}</${Bisect}>
      </section>
      <div class="columns">
        <section class="card" aria-label="The story before"><h2>The story before it</h2>
          ${left + unread > 0 && html`<p class="quiet">${plural(left + unread, 'earlier one')} left out</p>`}
          <ol class="crumbs">${crumbs.map((crumb) => html`<${Crumb} crumb=${crumb} />`)}
            <li class="is-this"><span class="kind is-error" aria-hidden="true">✕</span><span class="number">${id}</span><span class="crumb-text">${one?.text ?? entry.console?.message ?? id}</span><${Time} at=${first} /></li></ol>
          ${crumbs.length === 0 && html`<p class="quiet">Nothing was recorded before it.</p>`}
          <p class="quiet"><a href=${`/timeline?from=${millis(first) - 600_000}&to=${millis(first)}`}>The ten minutes before it, in the timeline</a></p>
        </section>
        <div>
          ${entry.variants?.length > 0 && html`<section class="card" aria-label="Variants"><h2>The same in other words <span class="count">${variants}</span></h2><ul class="plainlist">${entry.variants.map((words) => html`<li><code>${words}</code></li>`)}</ul></section>`}
          <section class="card" aria-label="In full"><h2>In full</h2><${Facts} entry=${entry} /></section>
        </div>
      </div>`;
  }}</${Loaded}></div>`;
}

const EVENTS = { c: ['❯', 'quiet'], n: ['⇄', 'step'], w: ['⌁', 'step'], a: ['☞', 'mark'] };

/** One thing before an error. */
function Crumb({ crumb: { at, row, event } }) {
  if (row) {
    const kind = kindOf(row);
    const text = inside(row.description) || (isStep(row) ? plural(row.files_changed, 'file') : kind.name);
    const number = `#${row.sequence_number}`;
    return html`<li><span class=${`kind is-${kind.tone}`} title=${kind.name} role="img" aria-label=${kind.name}>${kind.sign}</span>${isStep(row) ? html`<a class="number" href=${stepAddress(number)}>${number}</a>` : html`<span class="number">${number}</span>`}<span class="crumb-text">${text} <${Who} row=${row} /></span><${Time} at=${at} /></li>`;
  }
  const [sign, tone] = EVENTS[event.id[0]] ?? ['·', 'quiet'];
  const bad = /^(error|warning|[45]\d\d|0|failed)/.test(event.what);
  return html`<li><span class=${`kind is-${bad ? 'error' : tone}`} aria-hidden="true">${sign}</span><a class="number" href=${address('error', event.id)}>${event.id}</a><span class="crumb-text"><strong>${event.what}</strong> ${event.text}${event.count > 1 ? html` <span class="times">×${event.count}</span>` : ''}</span><${Time} at=${at} /></li>`;
}

/** Proves which step it was: by the page alone here, with a program on the command line. `children` are what else can be done. */
function Bisect({ id, entry, children }) {
  const [open, setOpen] = useState(false);
  const [state, set] = useState({});
  const from = entry.page ?? entry.console?.page ?? entry.network?.page;
  const [path, setPath] = useState(() => { try { return new URL(from).pathname; } catch { return '/'; } });
  const [good, setGood] = useState('');
  const run = async () => {
    set({ began: Date.now() });
    try {
      set({ answer: await post('/api/bisect/page', { page: path, absent: id, good: good.trim() || undefined, tool: 'dashboard' }) });
    } catch (error) {
      set({ error });
    }
  };
  const { answer, began, error } = state;
  const command = `backsight bisect${good.trim() ? ` --good ${good.trim().replace('#', '')}` : ''} --page ${path} --absent ${id} -- npm run dev -- --port {port}`;
  const found = answer?.found?.sequence_number;
  return html`<div class="bisect"><p class="acts">${children} <button aria-expanded=${open} onClick=${() => setOpen(!open)}>Bisect …</button></p>
    ${open && html`<p class="quiet">Opens the page on copies of recorded steps, halving what is left, until the first step that shows the error is found. The workspace's files are not touched.</p>
      <p class="acts"><label>Page <input value=${path} onInput=${(event) => setPath(event.target.value)} /></label> <label>It worked at step <input class="is-short" placeholder="the oldest" value=${good} onInput=${(event) => setGood(event.target.value)} /></label> <button class="primary" disabled=${Boolean(began) || !path.startsWith('/')} onClick=${run}>Bisect by this page</button></p>
      <p class="quiet">Pages that need a program to serve them: <code>${command}</code> <${Copy} text=${command} /></p>
      ${began && html`<${Loading} /><p class="quiet" role="status">Opening the page on recorded steps …</p>`}
      ${error && html`<${Problem} error=${error} again=${run} />`}
      ${answer && html`<div class="bisected" role="status"><p class="lead"><${Severity} severity=${found ? 'error' : 'unknown'} text=${answer.summary} /></p>
        <ol class="runs">${answer.runs.map((one) => html`<li class=${`is-${one.verdict}`} title=${one.because}>#${`${one.step}`.replace('#', '')} <strong>${one.verdict}</strong></li>`)}</ol>
        ${found && html`<p class="acts"><a class="button" href=${address('step', `${found}`)}>Look at #${found}</a> <button onClick=${() => revertStep(found)}>Take #${found} back …</button></p>`}</div>`}`}
  </div>`;
}

/** Every field of an entry, as text; where it happened as a list of places. */
function Facts({ entry }) {
  const { ok, untrusted, id, variants, console: said, network, websocket, action, ...rest } = entry;
  const facts = { ...rest, ...said, ...network, ...websocket, ...action };
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== '' && !(Array.isArray(value) && !value.length));
  return html`<dl class="facts-list">${known.map(([name, value]) => html`<div><dt>${name.replaceAll('_', ' ')}</dt><dd>${name === 'stack' ? html`<ol class="stack">${value.map((frame) => html`<li><code>${frame.function || '(no name)'}</code> <span class="quiet">${frame.file}:${frame.line}</span></li>`)}</ol>`
    : typeof value === 'object' ? html`<pre>${JSON.stringify(value, null, 2)}</pre>` : /^\d{4}-\d\d-\d\dT/.test(value) ? exactly(value) : `${value}`}</dd></div>`)}</dl>`;
}

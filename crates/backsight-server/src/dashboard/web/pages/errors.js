// What broke: all of it, and one thing with the story before it and the step that is suspected.
import { useState } from '../vendor.js';
import { get } from '../api.js';
import { useKeys } from '../keys.js';
import { revertStep } from '../going.js';
import { Empty, html, Loaded, Severity, Time, useLoaded } from '../parts.js';
import { address, exactly, kindOf, millis, plural, span } from '../words.js';
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
    <p class="quiet">This is an inference. <code>backsight bisect -- COMMAND</code> proves it.</p></div>`;
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
      <p class="lead"><${Severity} severity=${changes.severity} /> ${changes.summary}</p>
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

/** One thing that broke, with what is known of it. */
async function story(id, signal) {
  const [entry, changes, timeline] = await Promise.all([
    get(address('api', 'browser', 'entries', id), {}, signal), all(signal), get('/api/timeline', { limit: 400 }, signal),
  ]);
  return { entry, changes, rows: timeline.rows };
}

export function ErrorPage({ id, go }) {
  const [state, again] = useLoaded((signal) => story(id, signal), [id], true);
  const because = (state.data?.changes.because ?? []).find((reason) => reason.entry === id);
  const step = because?.step && because.step !== 'now' ? Number(because.step.replace('#', '')) : null;
  useKeys([
    step && ['Enter', 'the suspected step', () => go(address('step', `${step}`))],
    step && ['r', 'take the suspected step back', () => revertStep(step)],
  ], [step]);
  return html`<div class="page"><p class="eyebrow"><a href="/errors">Errors</a> / ${id}</p><${Loaded} state=${state} again=${again}>${({ entry, changes, rows }) => {
    const one = broken(changes).find((found) => found.id === id);
    const [first, last] = [entry.first, entry.last];
    const before = rows.filter((row) => millis(row.timestamp) <= millis(first)).slice(0, 12);
    const order = around(changes, id);
    return html`
      <h1 class="said">${one?.text ?? entry.console?.message ?? id}</h1>
      <dl class="figures">
        <div><dt>How bad</dt><dd><${Severity} severity=${one?.tone ?? 'error'} text=${one?.what ?? 'error'} /></dd></div>
        <div><dt>First seen</dt><dd title=${exactly(first)}><${Time} at=${first} relative /></dd></div>
        <div><dt>Last seen</dt><dd title=${exactly(last)}><${Time} at=${last} relative /></dd></div>
        <div><dt>How often</dt><dd>${plural(entry.count ?? 1, 'time')}${one?.variants ? html` <span class="quiet">in ${one.variants} variants</span>` : ''}</dd></div>
        ${one?.source && html`<div><dt>Where</dt><dd><code>${one.source}</code></dd></div>`}
      </dl>
      <section class="card suspect-card" aria-label="Suspect"><h2>Suspect</h2>
        ${because ? html`<p class="lead"><${Suspect} because=${because} /></p><${Because} because=${because} />
          ${step && html`<p class="acts"><a class="button" href=${address('step', `${step}`)}>Look at #${step}</a> <button onClick=${() => revertStep(step)}>Take #${step} back … <kbd>r</kbd></button></p>`}`
          : html`<p class="quiet">No step is known that explains it.</p>`}
      </section>
      <div class="columns">
        <section class="card" aria-label="The story before"><h2>The story before it</h2>
          ${order.length > 0 && html`<ol class="crumbs">${order.map((crumb) => html`<li class=${crumb.id === id ? 'is-this' : ''}>${crumb.id.startsWith('#') ? html`<a class="number" href=${stepAddress(crumb.id)}>${crumb.id}</a>` : html`<span class="number">${crumb.id}</span>`} ${crumb.text}</li>`)}</ol>`}
          ${order.length === 0 && (before.length ? html`<ol class="happened">${before.map((row) => html`<${Row} row=${row} />`)}</ol>` : html`<p class="quiet">Nothing was recorded before it.</p>`)}
          <p class="quiet"><a href=${`/timeline?from=${millis(first) - 600_000}&to=${millis(first)}`}>The ten minutes before it, in the timeline</a></p>
        </section>
        <section class="card" aria-label="In full"><h2>In full</h2><${Facts} entry=${entry} /></section>
      </div>`;
  }}</${Loaded}></div>`;
}

/** What happened around an entry, in order, in words. */
function around(changes, id) {
  const known = new Map(broken(changes).map((one) => [one.id, `${one.what}: ${one.text}`]));
  for (const action of changes.actions?.actions ?? []) known.set(action.id, `user: ${action.type} ${action.target ?? ''}`);
  for (const event of changes.debug?.events ?? []) known.set(event.id, event.what);
  for (const step of changes.files?.steps ?? []) known.set(step.id, `${kindOf(step).name === step.kind ? 'step' : kindOf(step).name}${step.by ? ` by ${step.by}` : ''}: ${step.files.join(', ')}${step.more ? ` and ${step.more} more` : ''}`);
  const order = changes.order ?? [];
  const place = order.indexOf(id);
  return place < 0 ? [] : order.slice(Math.max(0, place - 8), place + 1).map((one) => ({ id: one, text: known.get(one) ?? '' }));
}

/** Every field of an entry, as text; where it happened as a list of places. */
function Facts({ entry }) {
  const { ok, untrusted, id, console: said, network, websocket, action, ...rest } = entry;
  const facts = { ...rest, ...said, ...network, ...websocket, ...action };
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== '' && !(Array.isArray(value) && !value.length));
  return html`<dl class="facts-list">${known.map(([name, value]) => html`<div><dt>${name.replaceAll('_', ' ')}</dt><dd>${name === 'stack' ? html`<ol class="stack">${value.map((frame) => html`<li><code>${frame.function || '(no name)'}</code> <span class="quiet">${frame.file}:${frame.line}</span></li>`)}</ol>`
    : typeof value === 'object' ? html`<pre>${JSON.stringify(value, null, 2)}</pre>` : /^\d{4}-\d\d-\d\dT/.test(value) ? exactly(value) : `${value}`}</dd></div>`)}</dl>`;
}

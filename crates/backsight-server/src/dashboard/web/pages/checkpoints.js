// Checkpoints: the story of a session in ten seconds, and what one checkpoint's app was and is.
import { get } from '../api.js';
import { useKeys } from '../keys.js';
import { useState } from '../vendor.js';
import { Empty, html, Loaded, Severity, Time, useLoaded } from '../parts.js';
import { address, plural, span } from '../words.js';
import { broken, Why } from './errors.js';

export function Checkpoints({ go }) {
  const [chosen, choose] = useState(0);
  const [state, again] = useLoaded((signal) => Promise.all([get('/api/browser/checkpoints', {}, signal), get('/api/browser/health', { client: 'dashboard' }, signal)]).then(([list, health]) => ({ list: list.checkpoints, warnings: list.warnings, health })), [], true);
  const count = state.data?.list.length ?? 0;
  useKeys([
    ['j', 'next', () => choose((at) => Math.min(count - 1, at + 1))],
    ['k', 'previous', () => choose((at) => Math.max(0, at - 1))],
    ['Enter', 'open', () => count && go(address('checkpoint', state.data.list[chosen].name))],
  ], [count, chosen, state.data]);
  return html`<div class="page"><h1>Checkpoints</h1><${Loaded} state=${state} again=${again}>${({ list, health, warnings }) => html`
    <p class="lead">How the app was from one named moment to the next.</p>
    ${list.length ? html`<section class="card" aria-label="The story"><ol class="story">${list.map((one, index) => html`<li class=${index === chosen ? 'is-chosen' : ''}><a href=${address('checkpoint', one.name)}>
        <code class="story-name">${one.name}</code><span class="arrow" aria-hidden="true">→</span>
        <${Severity} severity=${one.severity} text=${inShort(one)} /><span class="story-more quiet">${one.severity === 'clean' ? '' : one.summary}</span><${Time} at=${one.created} />
      </a></li>`)}
      <li class="story-now"><div><code class="story-name">now</code><span class="arrow" aria-hidden="true">→</span><${Severity} severity=${HEALTH[health.verdict]} text=${health.verdict} /><span class="story-more quiet">${health.summary}</span></div></li>
      </ol></section>`
      : html`<${Empty} title="No checkpoint yet">An agent makes one with <code>checkpoint_create</code>, you with <code>backsight checkpoint create session_start</code>.</${Empty}>`}
    ${(warnings ?? []).map((text) => html`<p class="quiet">${text}</p>`)}`}</${Loaded}></div>`;
}

const HEALTH = { healthy: 'clean', degraded: 'warning', broken: 'error', unknown: 'unknown' };

/** `clean`, `1 warning`, `3 errors`. */
function inShort({ severity, summary }) {
  if (severity === 'clean') return 'clean';
  if (severity === 'unknown') return 'not watched';
  const counts = [...summary.matchAll(/(\d+) /g)].reduce((sum, [, number]) => sum + Number(number), 0);
  return counts ? plural(counts, severity) : severity;
}

export function Checkpoint({ name }) {
  const [state, again] = useLoaded((signal) => Promise.all([
    get('/api/changes', { client: 'dashboard', peek: true, checkpoint: name }, signal), get('/api/browser/checkpoints', {}, signal),
    get('/api/browser/health', { client: 'dashboard', checkpoint: name }, signal),
  ]).then(([changes, list, health]) => ({ changes, health, made: list.checkpoints.find((one) => one.name === name) })), [name], true);
  return html`<div class="page"><p class="eyebrow"><a href="/checkpoints">Checkpoints</a> / ${name}</p><h1><code>${name}</code></h1><${Loaded} state=${state} again=${again}>${({ changes, made }) => html`
    <div class="before-after">
      <section class="card" aria-label="Before"><h2>Until then</h2><p class="lead"><${Severity} severity=${made?.severity ?? 'unknown'} /></p><p>${made?.summary ?? 'not known'}</p>
        ${made && html`<p class="quiet">made <${Time} at=${made.created} relative />${made.page ? html` on <code>${made.page}</code>` : ''}${made.earlier_run ? ', by an earlier server' : ''}</p>`}</section>
      <span class="arrow" aria-hidden="true">→</span>
      <section class="card" aria-label="After"><h2>Since then</h2><p class="lead"><${Severity} severity=${changes.severity} /></p><p>${changes.summary}</p>
        <p class="quiet">${span(changes.duration_ms)} until now</p></section>
    </div>
    <${Lanes} changes=${changes} />`}</${Loaded}></div>`;
}

/** What happened since, by what it happened in. */
function Lanes({ changes }) {
  const { console: said, network, websocket, actions, files } = changes;
  const entries = broken(changes);
  const of = (...kinds) => entries.filter((one) => kinds.includes(one.what));
  const lanes = [
    ['Console', said?.total_new, 'message', of('error', 'warning')],
    ['Network', network?.total_new, 'request', of('request', 'still fails', 'wrong type', 'no answer')],
    ['Sockets', websocket?.total_new, 'event', of('socket', 'socket ended')],
  ];
  return html`<div class="thirds">${lanes.map(([title, total, word, list]) => html`<section class="card" aria-label=${title}><h2>${title} <span class="count">${plural(total ?? 0, word)}</span></h2>
      ${list.length ? html`<ul class="plainlist">${list.map((one) => html`<li class="broken"><div class="broken-head"><${Severity} severity=${one.tone} text=${one.what} />${one.id ? html`<a class="broken-text" href=${address('error', one.id)}>${one.text}</a>` : html`<span class="broken-text">${one.text}</span>`}${one.count > 1 && html`<span class="times">×${one.count}</span>`}</div>
        ${one.source && html`<p class="quiet source"><code>${one.source}</code></p>`}<${Why} id=${one.id} changes=${changes} /></li>`)}</ul>` : html`<p class="quiet">nothing wrong</p>`}
      ${title === 'Network' && network?.recovered?.map((one) => html`<p><${Severity} severity="clean" text="works again" /> ${one.method} ${one.path} <span class="quiet">${one.previous_status} → ${one.status}</span></p>`)}
      ${title === 'Network' && network?.new_endpoints?.length > 0 && html`<details><summary>${plural(network.new_endpoints.length, 'new endpoint')}</summary><ul class="plainlist">${network.new_endpoints.map((one) => html`<li><code>${one}</code></li>`)}</ul></details>`}
    </section>`)}
    <section class="card" aria-label="Files"><h2>Files <span class="count">${plural(files?.total_new ?? 0, 'step')}</span></h2><ul class="plainlist">${(files?.steps ?? []).map((step) => html`<li><a href=${address('step', step.id.replace('#', ''))}>${step.id}</a> ${step.by ?? ''} <span class="quiet">${step.files.join(', ')}${step.more ? ` and ${step.more} more` : ''}</span></li>`)}</ul>
      ${!files?.total_new && html`<p class="quiet">no step</p>`}</section>
    <section class="card" aria-label="User"><h2>The user <span class="count">${plural(actions?.total_new ?? 0, 'action')}</span></h2><ul class="plainlist">${(actions?.actions ?? []).slice(0, 30).map((one) => html`<li>${one.type} <code>${one.target ?? ''}</code> ${one.count ? html`<span class="times">×${one.count}</span>` : ''}</li>`)}</ul>
      ${!actions?.total_new && html`<p class="quiet">did nothing</p>`}</section>
  </div>`;
}

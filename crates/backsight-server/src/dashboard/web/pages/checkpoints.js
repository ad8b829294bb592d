// Checkpoints: the story of a session in ten seconds, and what one checkpoint's app was and is.
import { get } from '../api.js';
import { useKeys } from '../keys.js';
import { useState } from '../vendor.js';
import { Empty, html, Loaded, Severity, Time, useLoaded } from '../parts.js';
import { address, counted, inShort, millis, plural, span } from '../words.js';
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
        <${Severity} severity=${one.severity} text=${inShort(one)} /><span class="story-more quiet">${one.severity !== 'clean' && /[,;]/.test(one.summary) ? counted(one.summary) : ''}</span><${Time} at=${one.created} />
      </a></li>`)}
      <li class="story-now"><div><code class="story-name">now</code><span class="arrow" aria-hidden="true">→</span><${Severity} severity=${HEALTH[health.verdict]} text=${health.verdict} /><span class="story-more quiet">${health.verdict === 'healthy' ? '' : counted(health.summary)}</span><span></span></div></li>
      </ol></section>`
      : html`<${Empty} title="No checkpoint yet">An agent makes one with <code>checkpoint_create</code>, you with <code>backsight checkpoint create session_start</code>.</${Empty}>`}
    ${(warnings ?? []).map((text) => html`<p class="quiet">${text}</p>`)}`}</${Loaded}></div>`;
}

const HEALTH = { healthy: 'clean', degraded: 'warning', broken: 'error', unknown: 'unknown' };

/** How many events a page of the log has, and how many pages are read for what was before a checkpoint. */
const [EVENTS, PAGES] = [200, 10];

/** What happened from the checkpoint before up to this one, one by one; nothing of it is known from an earlier server. */
async function before(name, checkpoints, signal) {
  const place = checkpoints.findIndex((one) => one.name === name);
  const made = checkpoints[place];
  if (!made || made.earlier_run) return null;
  const since = checkpoints[place - 1] && !checkpoints[place - 1].earlier_run ? checkpoints[place - 1].created : undefined;
  const [begin, end] = [since ? millis(since) : -Infinity, millis(made.created)];
  const rows = [];
  let [cursor, more] = [undefined, 0];
  for (let page = 0; page < PAGES; page++) {
    const log = await get('/api/browser/log', { since, limit: EVENTS, cursor }, signal);
    rows.push(...log.rows.filter((one) => millis(one.time) > begin && millis(one.time) <= end));
    [cursor, more] = [log.cursor, log.older];
    if (!cursor) break;
  }
  return { rows, more, since: since && checkpoints[place - 1].name };
}

export function Checkpoint({ name }) {
  const [state, again] = useLoaded((signal) => Promise.all([
    get('/api/changes', { client: 'dashboard', peek: true, checkpoint: name }, signal), get('/api/browser/checkpoints', {}, signal),
    get('/api/browser/health', { client: 'dashboard', checkpoint: name }, signal),
  ]).then(async ([changes, list, health]) => ({ changes, health, made: list.checkpoints.find((one) => one.name === name), until: await before(name, list.checkpoints, signal) })), [name], true);
  return html`<div class="page"><p class="eyebrow"><a href="/checkpoints">Checkpoints</a> / ${name}</p><h1><code>${name}</code></h1><${Loaded} state=${state} again=${again}>${({ changes, made, until, health }) => html`
    <${BeforeAfter} changes=${changes} made=${made} until=${until} health=${health} />
    <${Beside} changes=${changes} />`}</${Loaded}></div>`;
}

const LANES = [['Console', 'c', 'message', ['error', 'warning']], ['Network', 'n', 'request', ['request', 'still fails', 'wrong type', 'no answer']], ['Sockets', 'w', 'event', ['socket', 'socket ended']]];
const isBad = ({ what }) => /^(error|warning|exception|[45]\d\d|0 |failed)/.test(what);
const HOW = { healthy: 'healthy', degraded: 'degraded', broken: 'broken', unknown: 'not watched' };
const EARLIER = { clean: 'healthy', warning: 'degraded', error: 'broken', unknown: 'not watched' };

/** Lane by lane: how it was until the checkpoint was made, and how it is since. */
function BeforeAfter({ changes, made, until, health }) {
  const totals = { c: changes.console?.total_new, n: changes.network?.total_new, w: changes.websocket?.total_new };
  const entries = broken(changes);
  const since = until?.since ? html`since <code>${until.since}</code>` : 'since the server started';
  return html`<section class="card lanes-card"><table class="before-after"><thead><tr><th><span class="visually-hidden">Where</span></th><th scope="col">Until then <span class="count">${made ? html`${since}, made <${Time} at=${made.created} relative />` : ''}</span></th><th scope="col">Since then <span class="count">${span(changes.duration_ms)}</span></th></tr></thead><tbody>
    <tr aria-label="Health"><th scope="row">Health</th><td><p><${Severity} severity=${made?.severity ?? 'unknown'} text=${EARLIER[made?.severity ?? 'unknown']} /></p><p>${made ? counted(made.summary) : 'not known'}</p>${made?.page ? html`<p class="quiet"><code>${made.page}</code></p>` : ''}</td>
      <td><p><${Severity} severity=${changes.severity} text=${HOW[health.verdict] ?? health.verdict} /></p><p>${counted(changes.summary)}</p></td></tr>
    ${LANES.map(([title, letter, word, kinds]) => html`<tr aria-label=${title}><th scope="row">${title}</th>
      <td><${Until} until=${until} letter=${letter} word=${word} /></td>
      <td><${After} total=${totals[letter]} word=${word} list=${entries.filter((one) => kinds.includes(one.what))} changes=${changes} />${letter === 'n' && html`<${Again} network=${changes.network} />`}</td></tr>`)}
  </tbody></table></section>`;
}

/** A lane before the checkpoint. */
function Until({ until, letter, word }) {
  if (!until) return html`<p class="quiet">not known: an earlier server made it</p>`;
  const all = until.rows.filter((one) => one.id[0] === letter);
  const bad = all.filter(isBad);
  const count = all.reduce((sum, one) => sum + (one.count ?? 1), 0);
  return html`<p class="quiet">${plural(count, word)}${until.more ? ' of the newest' : ''}${bad.length ? '' : ', nothing wrong'}</p>
    ${bad.length > 0 && html`<ul class="plainlist">${bad.slice(0, 10).map((one) => html`<li class="broken"><div class="broken-head"><${Severity} severity=${one.what.startsWith('warning') ? 'warning' : 'error'} text=${one.what} /><a class="broken-text" href=${address('error', one.id)}>${one.text}</a>${one.count > 1 && html`<span class="times">×${one.count}</span>`}</div></li>`)}</ul>`}
    ${bad.length > 10 && html`<p class="quiet">and ${bad.length - 10} more</p>`}`;
}

/** A lane since the checkpoint. */
function After({ total, word, list, changes }) {
  return html`<p class="quiet">${plural(total ?? 0, word)}${list.length ? '' : ', nothing wrong'}</p>
    ${list.length > 0 && html`<ul class="plainlist">${list.map((one) => html`<li class="broken"><div class="broken-head"><${Severity} severity=${one.tone} text=${one.what} />${one.id ? html`<a class="broken-text" href=${address('error', one.id)}>${one.text}</a>` : html`<span class="broken-text">${one.text}</span>`}${one.count > 1 && html`<span class="times">×${one.count}</span>`}</div>
      ${one.source && html`<p class="quiet source"><code>${one.source}</code></p>`}<${Why} id=${one.id} changes=${changes} /></li>`)}</ul>`}`;
}

/** Requests that work again, and those that are new. */
function Again({ network }) {
  return html`${network?.recovered?.map((one) => html`<p><${Severity} severity="clean" text="works again" /> ${one.method} ${one.path} <span class="quiet">${one.previous_status} → ${one.status}</span></p>`)}
    ${network?.new_endpoints?.length > 0 && html`<details><summary>${plural(network.new_endpoints.length, 'new endpoint')}</summary><ul class="plainlist">${network.new_endpoints.map((one) => html`<li><code>${one}</code></li>`)}</ul></details>`}`;
}

/** What agents and the user did since. */
function Beside({ changes: { actions, files } }) {
  return html`<div class="columns">
    <section class="card" aria-label="Files"><h2>Files <span class="count">${plural(files?.total_new ?? 0, 'step')} since then</span></h2><ul class="plainlist">${(files?.steps ?? []).map((step) => html`<li><a href=${address('step', step.id.replace('#', ''))}>${step.id}</a> ${step.by ?? ''} <span class="quiet">${step.files.join(', ')}${step.more ? ` and ${step.more} more` : ''}</span></li>`)}</ul>
      ${!files?.total_new && html`<p class="quiet">no step</p>`}</section>
    <section class="card" aria-label="User"><h2>The user <span class="count">${plural(actions?.total_new ?? 0, 'action')} since then</span></h2><ul class="plainlist">${(actions?.actions ?? []).slice(0, 30).map((one) => html`<li>${one.type} <code>${one.target ?? ''}</code> ${one.count ? html`<span class="times">×${one.count}</span>` : ''}</li>`)}</ul>
      ${!actions?.total_new && html`<p class="quiet">did nothing</p>`}</section>
  </div>`;
}

// The store: how much room it takes, whether it is whole, and what could go.
import { get, post } from '../api.js';
import { Chart } from '../chart.js';
import { useState } from '../vendor.js';
import { html, Loaded, Loading, Problem, say, Severity, useLoaded, withCode } from '../parts.js';
import { bytes, clock, millis, plural } from '../words.js';

export function Store() {
  const [state, again] = useLoaded((signal) => Promise.all([get('/api/usage', {}, signal), get('/api/doctor', {}, signal).catch(() => null)]).then(([usage, doctor]) => ({ usage, doctor })), [], true);
  return html`<div class="page"><h1>Store</h1><${Loaded} state=${state} again=${again}>${({ usage, doctor }) => html`
    <p class="lead"><code>${usage.store}</code></p>
    <${Room} usage=${usage} />
    <${Grown} usage=${usage} />
    <div class="columns"><${Verify} /><${Collect} usage=${usage} again=${again} /></div>
    ${doctor && html`<section class="card" aria-label="Doctor"><h2>Doctor</h2><ul class="checks">${doctor.checks.map((check) => html`<li><span><${Severity} severity=${{ ok: 'clean', warning: 'warning' }[check.state] ?? 'error'} text=${check.state} /></span><span>${check.name}</span><span class="quiet">${withCode(check.message)}${check.hint ? html`<br />${withCode(check.hint)}` : ''}</span></li>`)}</ul></section>`}`}</${Loaded}></div>`;
}

function Room({ usage }) {
  const parts = [['packed objects', usage.pack_bytes, 'a'], ['loose objects', usage.loose_bytes, 'b'], ['timeline', usage.timeline_bytes, 'c'], ['cache', usage.cache_bytes, 'd']];
  const other = Math.max(0, usage.total_bytes - parts.reduce((sum, [, size]) => sum + size, 0));
  parts.push(['other', other, 'e']);
  const whole = Math.max(usage.disk_budget ?? 0, usage.total_bytes, 1);
  return html`<section class="card" aria-label="Room"><h2>Room <span class="count">${bytes(usage.total_bytes)}${usage.disk_budget ? ` of ${bytes(usage.disk_budget)}` : ''}</span></h2>
    <div class="room" role="img" aria-label=${parts.map(([name, size]) => `${name} ${bytes(size)}`).join(', ')}>${parts.filter(([, size]) => size > 0).map(([, size, lane]) => html`<i class=${`fill-${lane}`} style=${{ width: `${(size / whole) * 100}%` }}></i>`)}</div>
    <ul class="legend">${parts.map(([name, size, lane]) => html`<li><i class=${`fill-${lane}`}></i>${name} <strong>${bytes(size)}</strong></li>`)}</ul>
    <dl class="figures"><div><dt>Snapshots with contents</dt><dd>${usage.snapshots.toLocaleString('en')}</dd></div><div><dt>Only their rows are left</dt><dd>${usage.expired.toLocaleString('en')}</dd></div>
      <div><dt>Loose objects</dt><dd>${usage.loose_objects.toLocaleString('en')}</dd></div><div><dt>Packs</dt><dd>${usage.packs}</dd></div><div><dt>Free on the disk</dt><dd>${bytes(usage.free_bytes)}</dd></div></dl></section>`;
}

/** Room over time: one note an hour while a server runs, two around every removal. */
function Grown({ usage }) {
  const notes = [...(usage.history ?? []).map((one) => [millis(one.timestamp), one.total_bytes]), [Date.now(), usage.total_bytes]];
  const lines = [{ name: 'the store', values: notes.map(([, size]) => size), filled: true }, usage.disk_budget && { name: 'budget', values: notes.map(() => usage.disk_budget), isLimit: true }].filter(Boolean);
  return html`<section class="card" aria-label="Room over time"><h2>Room over time <span class="count">${plural(notes.length - 1, 'note')}</span></h2>
    ${notes.length < 3 ? html`<p class="quiet">A server takes note of it every hour, and every removal does. There is not enough to draw yet.</p>` : html`<${Chart} x=${notes.map(([at]) => Math.round(at / 1000))} lines=${lines} time format=${bytes} label=${`From ${bytes(notes[0][1])} at ${clock(notes[0][0])} to ${bytes(usage.total_bytes)} now`} />
      <p class="grown-legend quiet"><span>${clock(notes[0][0])} · ${bytes(notes[0][1])}</span><span>most ${bytes(Math.max(...notes.map(([, size]) => size)))}${usage.disk_budget ? `, budget ${bytes(usage.disk_budget)}` : ''}</span><span>now · ${bytes(usage.total_bytes)}</span></p>`}</section>`;
}

function Verify() {
  const [state, set] = useState({});
  const run = () => { set({ busy: true }); get('/api/verify').then((answer) => set({ answer }), (error) => set({ error })); };
  const { answer, busy, error } = state;
  return html`<section class="card" aria-label="Verify"><h2>Verify</h2><p class="quiet">Reads every stored object and checks the chain of rows.</p>
    <p><button onClick=${run} disabled=${busy}>${busy ? 'Checking …' : 'Check everything'}</button></p>
    ${busy && html`<${Loading} />`}${error && html`<${Problem} error=${error} />`}
    ${answer && html`<p class="lead" role="status"><${Severity} severity=${answer.clean ? 'clean' : 'error'} text=${answer.clean ? 'everything is whole' : `${plural(answer.damage?.length ?? 0, 'damage')}`} /></p>
      <p class="quiet">${plural(answer.objects, 'object')}, ${plural(answer.rows, 'row')}, ${plural(answer.snapshots, 'snapshot')}</p>
      <ul class="plainlist">${(answer.damage ?? []).slice(0, 20).map((one) => html`<li><code>${one.what}</code> ${one.problem}</li>`)}</ul>`}</section>`;
}

function Collect({ usage, again }) {
  const [days, setDays] = useState('30');
  const [plan, setPlan] = useState(null);
  const [error, setError] = useState(null);
  const body = { keep_days: Number(days) };
  const look = () => post('/api/gc', { ...body, dry_run: true }).then((answer) => { setPlan(answer); setError(null); }, setError);
  const carryOut = () => post('/api/gc', body).then((answer) => { setPlan(null); say(`Removed the contents of ${plural(answer.expired.length, 'snapshot')}; rows stay`); again(); }, setError);
  return html`<section class="card" aria-label="Retention"><h2>Retention</h2><p class="quiet">Removes the contents of old snapshots. Rows, milestones and what is pinned stay.</p>
    <p><label>Keep <input type="number" min="0" max="100000" value=${days} onInput=${(event) => { setDays(event.target.value); setPlan(null); }} /> days</label> <button onClick=${look} disabled=${days === '' || Number(days) < 0}>What would go?</button></p>
    ${error && html`<${Problem} error=${error} />`}
    ${plan && html`<p role="status">${plural(plan.expired.length, 'snapshot')} and ${plural(plan.objects_removed, 'object')} would go: ${bytes(plan.bytes_before)} → about ${bytes(plan.bytes_after)}.</p>
      ${plan.expired.length > 0 && html`<p><button class="danger" onClick=${carryOut}>Remove them for good</button></p>`}`}
    ${usage.disk_budget && html`<p class="quiet">The budget is ${bytes(usage.disk_budget)}.</p>`}</section>`;
}

// Debugged programs: where each is, its captures, a series as a table with a line for each variable, and the difference of two.
import { get, post } from '../api.js';
import { Chart } from '../chart.js';
import { useState } from '../vendor.js';
import { Empty, html, Loaded, Severity, Spark, Time, useLoaded } from '../parts.js';
import { address, plural } from '../words.js';
import { Row } from './since.js';

export function Debug({ query, go }) {
  const [state, again] = useLoaded((signal) => Promise.all([get('/api/debug/sessions', {}, signal), get('/api/timeline', { limit: 2000 }, signal)])
    .then(([debug, timeline]) => ({ sessions: debug.sessions ?? [], rows: timeline.rows.filter((row) => ['debugger_stop', 'capture', 'debug_end'].includes(row.kind)).slice(0, 50) })), [], true);
  return html`<div class="page"><h1>Debug</h1><${Loaded} state=${state} again=${again}>${({ sessions, rows }) => {
    const chosen = sessions.find((session) => nameOf(session) === query.session) ?? sessions[0];
    return html`
      ${sessions.length > 1 && html`<div class="chips" role="group" aria-label="Programs">${sessions.map((session) => html`<button class="chip" aria-pressed=${session === chosen} onClick=${() => go(`/debug?session=${encodeURIComponent(nameOf(session))}`)}>${nameOf(session)}</button>`)}</div>`}
      ${chosen ? html`<${Program} key=${nameOf(chosen)} session=${chosen} />` : html`<${Empty} title="No program is debugged now">An agent does it with <code>debug_launch</code>, you with <code>backsight debug launch shop.py --break total</code>.</${Empty}>`}
      ${rows.length > 0 && html`<section class="card" aria-label="In the timeline"><h2>In the timeline <span class="count">${rows.length}</span></h2><ol class="happened">${rows.map((row) => html`<${Row} row=${row} />`)}</ol></section>`}`;
  }}</${Loaded}></div>`;
}

const nameOf = (session) => session.session;
/** A path by its last part. */
const tail = (path) => `${path ?? ''}`.split('/').pop();

function Program({ session }) {
  const name = nameOf(session);
  const [state, again] = useLoaded((signal) => Promise.all([get('/api/debug/snapshots', { session: name }, signal), get('/api/debug/points', { session: name }, signal).catch(() => ({ points: [] }))])
    .then(([list, points]) => ({ snapshots: list.snapshots ?? [], points: points.points ?? [] })), [name], true);
  const [pair, setPair] = useState([]);
  const toggle = (id) => setPair((before) => (before.includes(id) ? before.filter((known) => known !== id) : [...before, id].slice(-2)));
  return html`
    <p class="lead"><strong>${name}</strong> <code class="quiet">${tail(session.program)}</code> <${Severity} severity=${session.outcome === 'stopped' ? 'warning' : 'clean'} text=${session.outcome} />
      ${session.frame && html`<span>in <code>${session.frame.function}</code> <span class="quiet">${tail(session.frame.file)}:${session.frame.line}</span> <code>${session.frame.source ?? ''}</code></span>`}</p>
    <${Loaded} state=${state} again=${again}>${({ snapshots, points }) => html`
      ${points.map((point) => html`<${Series} key=${point.name} session=${name} point=${point} />`)}
      <section class="card" aria-label="Captures"><h2>Captures <span class="count">${snapshots.length}</span></h2>
        ${snapshots.length ? html`<table class="table"><thead><tr><th><span class="visually-hidden">Choose</span></th><th>Capture</th><th>Where</th><th>Variables</th><th>When</th></tr></thead><tbody>${snapshots.slice(-200).reverse().map((one) => html`<tr>
          <td><input type="checkbox" aria-label=${`compare ${one.label}`} checked=${pair.includes(one.id)} onChange=${() => toggle(one.id)} /></td><td><strong>${one.label}</strong></td>
          <td><code>${one.function}</code> <span class="quiet">${tail(one.location)}</span></td><td>${one.variable_count}</td><td><${Time} at=${one.timestamp} /></td></tr>`)}</tbody></table>
          <p class="quiet">Choose two to see what changed between them.</p>` : html`<p class="quiet">No capture yet: <code>backsight debug snapshot</code> makes one.</p>`}
      </section>
      ${pair.length === 2 && html`<${Between} key=${pair.join()} session=${name} pair=${order(pair, snapshots)} />`}`}</${Loaded}>`;
}

const order = (pair, snapshots) => [...pair].sort((one, other) => snapshots.findIndex((known) => known.id === one) - snapshots.findIndex((known) => known.id === other));

function Series({ session, point }) {
  const [state] = useLoaded((signal) => get(address('api', 'debug', 'series', point.name), { session, max_tokens: 50_000 }, signal), [point.name], true);
  return html`<section class="card" aria-label=${`Series ${point.name}`}><h2>${point.name} <span class="count">${plural(point.hits, 'hit')}</span></h2>
    <${Loaded} state=${state}>${(series) => {
      const { columns, rows } = series;
      const number = (text) => { const found = Number(text); return text === null || text === '' || Number.isNaN(found) ? null : found; };
      if (!rows.length) return html`<p class="quiet">It was not passed yet.</p>`;
      const lines = columns.map((name, index) => ({ name, values: rows.map((row) => number(row.cells[index])) })).filter(({ values }) => values.filter((value) => value !== null).length > 1);
      return html`${lines.length > 0 && html`<${Chart} x=${rows.map((row) => row.hit)} lines=${lines} label=${`Numbers of ${point.name}, hit by hit`} />`}
        <div class="scroll-x" tabIndex="0" role="region" aria-label=${`Values of ${point.name}`}><table class="table"><thead><tr><th>Hit</th>${columns.map((name) => html`<th><code>${name}</code></th>`)}</tr></thead>
        <tbody><tr class="sparks"><td></td>${columns.map((_, index) => html`<td><${Spark} values=${rows.map((row) => number(row.cells[index]))} /></td>`)}</tr>
        ${rows.slice(0, 500).map((row) => html`<tr><td class="quiet">${row.hit}</td>${row.cells.map((cell) => html`<td><code>${cell ?? ''}</code></td>`)}</tr>`)}</tbody></table></div>
        <p class="quiet">${[series.constant && `${plural(series.constant, 'value')} never changed`, series.omitted_rows && `${plural(series.omitted_rows, 'hit')} left out`, series.omitted_columns && `${plural(series.omitted_columns, 'column')} left out`].filter(Boolean).join(', ')}</p>`;
    }}</${Loaded}></section>`;
}

function Between({ session, pair }) {
  const [state] = useLoaded(() => post('/api/debug/diff', { session, from: pair[0], to: pair[1], max_tokens: 20_000 }), [pair.join()]);
  return html`<section class="card" aria-label="Between the two"><h2>What changed</h2><${Loaded} state=${state}>${(diff) => {
    const rows = [...diff.modified.map((one) => [one, one.old_value, one.new_value]), ...diff.added.map((one) => [one, '', one.value]), ...diff.removed.map((one) => [one, one.value, ''])];
    const { added, removed, modified, unchanged } = diff.summary;
    return html`<p>From <strong>${diff.label_a}</strong> <span class="quiet">${diff.at_a}</span> to <strong>${diff.label_b}</strong> <span class="quiet">${diff.at_b}</span>: ${modified} changed, ${added} new, ${removed} gone, ${unchanged} the same.</p>
      ${rows.length > 0 && html`<table class="table"><thead><tr><th>Variable</th><th>Before</th><th>After</th></tr></thead><tbody>${rows.map(([one, before, after]) => html`<tr><td><code>${one.path}</code></td><td class="minus"><code>${before ?? ''}</code></td><td class="plus"><code>${after ?? ''}</code></td></tr>`)}</tbody></table>`}`;
  }}</${Loaded}></section>`;
}

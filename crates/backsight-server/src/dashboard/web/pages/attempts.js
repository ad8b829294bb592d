// Two attempts side by side: what two sessions did, file by file.
import { get } from '../api.js';
import { pieces } from '../diff.js';
import { useKeys } from '../keys.js';
import { useState } from '../vendor.js';
import { Counts, Empty, html, Loaded, short, Time, useLoaded } from '../parts.js';
import { address, hue, plural } from '../words.js';

export function Attempts({ one, other, go }) {
  return html`<div class="page">${one && other ? html`<${Beside} key=${`${one} ${other}`} one=${one} other=${other} />` : html`<${Choose} go=${go} />`}</div>`;
}

function Choose({ go }) {
  const [state, again] = useLoaded((signal) => get('/session', { limit: 200 }, signal), [], true);
  const [chosen, choose] = useState([]);
  const toggle = (id) => choose((before) => (before.includes(id) ? before.filter((known) => known !== id) : [...before, id].slice(-2)));
  const compare = () => chosen.length === 2 && go(address('attempts', ...chosen));
  useKeys([['Enter', 'compare the two', compare]], [chosen]);
  return html`<h1>Two attempts side by side</h1><${Loaded} state=${state} again=${again}>${(data) => html`
    <p class="lead">Choose two sessions. <button class="primary" disabled=${chosen.length !== 2} onClick=${compare}>Compare</button></p>
    ${data.sessions.length ? html`<section class="card" aria-label="Sessions"><ul class="sessions">${data.sessions.map((session) => html`<li><label><input type="checkbox" checked=${chosen.includes(session.id)} onChange=${() => toggle(session.id)} />
      <span class=${`session lane-${hue(session.id)}`}>${short(session.id)}</span><span class="text">${session.title ?? ''}</span><span class="quiet">${session.client ?? ''}</span><span class="quiet">${plural(session.step_count, 'step')}</span><${Time} at=${session.last_at} relative /></label></li>`)}</ul></section>`
      : html`<${Empty} title="No session yet">Agents that record their steps appear here.</${Empty}>`}`}</${Loaded}>`;
}

function Beside({ one, other }) {
  const [state, again] = useLoaded((signal) => get('/api/attempts', { one, other }, signal), [one, other], true);
  return html`<p class="eyebrow"><a href="/attempts">Attempts</a></p><h1>Two attempts</h1><${Loaded} state=${state} again=${again}>${(data) => {
    const files = [...new Set([...data.one.hunks.files, ...data.other.hunks.files].map((file) => file.file))].sort();
    const find = (attempt, name) => attempt.hunks.files.find((file) => file.file === name);
    const same = (name) => { const [left, right] = [find(data.one, name), find(data.other, name)]; return left && right && left.after_blob === right.after_blob && left.status === right.status; };
    return html`<div class="beside">${[data.one, data.other].map((attempt) => html`<section class="card" aria-label=${attempt.session.id}><h2><span class=${`session lane-${hue(attempt.session.id)}`}>${short(attempt.session.id)}</span> ${attempt.session.title ?? ''}</h2>
        <dl class="figures"><div><dt>Steps</dt><dd>${attempt.session.step_count}</dd></div><div><dt>Files</dt><dd>${attempt.hunks.files.length}</dd></div><div><dt>Lines</dt><dd><${Counts} added=${attempt.hunks.additions} removed=${attempt.hunks.deletions} /></dd></div>
        <div><dt>From</dt><dd>${attempt.session.baseline ? html`<a href=${address('step', `${attempt.session.baseline}`)}>#${attempt.session.baseline}</a>` : '–'}</dd></div></dl></section>`)}</div>
      ${data.one.session.baseline_tree && data.one.session.baseline_tree === data.other.session.baseline_tree ? html`<p class="quiet">Both began with the same files.</p>` : html`<p class="quiet">They began with different files.</p>`}
      ${files.map((name) => html`<details class="card attempt" open=${!same(name)}><summary><code>${name}</code> ${same(name) ? html`<span class="tag">the same in both</span>` : ''}</summary>
        <div class="beside">${[data.one, data.other].map((attempt) => html`<${Patch} file=${find(attempt, name)} who=${attempt.session.id} />`)}</div></details>`)}`;
  }}</${Loaded}>`;
}

const MOST = 400;

function Patch({ file, who }) {
  if (!file) return html`<div class="patch is-none quiet">not touched by ${short(who)}</div>`;
  const lines = (file.hunks ?? []).flatMap((hunk) => [{ head: `@@ −${hunk.old_start} +${hunk.new_start} ${hunk.section ?? ''}` }, ...hunk.lines]);
  return html`<div class="patch" tabIndex="0" role="region" aria-label=${`${file.file} by ${who}`}><p class="quiet">${short(who)} <${Counts} added=${file.additions} removed=${file.deletions} /></p>
    ${file.binary && html`<p class="quiet">bytes that are no text</p>`}
    <div class="patch-lines">${lines.slice(0, MOST).map((line) => (line.head ? html`<div class="hunk-row">${line.head}</div>` : html`<div class=${`code-row ${{ '+': 'is-plus', '-': 'is-minus' }[line.side] ?? ''}`}><span class="side">${line.side}</span><code class="code">${pieces(line)}</code></div>`))}</div>
    ${lines.length > MOST && html`<p class="quiet">${plural(lines.length - MOST, 'line')} more</p>`}</div>`;
}

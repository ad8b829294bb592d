// Two attempts side by side: what two sessions or two ranges did, file by file.
import { get } from '../api.js';
import { eachPiece } from '../code.js';
import { useKeys } from '../keys.js';
import { useState } from '../vendor.js';
import { Counts, html, Loaded, short, Time, useLoaded } from '../parts.js';
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
    <section class="card" aria-label="Sessions"><h2>Two sessions</h2>
      ${data.sessions.length ? html`<ul class="sessions">${data.sessions.map((session) => html`<li><label><input type="checkbox" checked=${chosen.includes(session.id)} onChange=${() => toggle(session.id)} />
        <span class=${`session lane-${hue(session.id)}`}>${short(session.id)}</span><span class="text">${session.title ?? ''}</span><span class="quiet session-more">${[session.client, plural(session.step_count, 'step')].filter(Boolean).join(' · ')} · <${Time} at=${session.last_at} relative /></span></label></li>`)}</ul>
        <p><button class="primary" disabled=${chosen.length !== 2} onClick=${compare}>Compare ${chosen.length === 2 ? 'the two' : `(${chosen.length} of 2 chosen)`}</button></p>`
      : html`<p class="quiet">No session yet: agents that record their steps appear here.</p>`}</section>
    <${Ranges} go=${go} />`}</${Loaded}>`;
}

/** Two ranges of the timeline, for attempts that are no sessions: what was tried, taken back and tried again. */
function Ranges({ go }) {
  const [ends, set] = useState(['', '', '', '']);
  const isWhole = ends.every((end) => end.trim());
  const compare = (event) => {
    event.preventDefault();
    if (isWhole) go(address('attempts', `${ends[0].trim()}..${ends[1].trim()}`, `${ends[2].trim()}..${ends[3].trim()}`));
  };
  const field = (place, label, hint) => html`<label>${label} <input class="is-short" placeholder=${hint} value=${ends[place]} onInput=${(event) => set(ends.map((end, index) => (index === place ? event.target.value : end)))} /></label>`;
  return html`<section class="card" aria-label="Ranges"><h2>Two ranges</h2><p class="quiet">From one row of the timeline to another, or to <code>now</code>: both are shown as what differs between their ends.</p>
    <form class="ranges" onSubmit=${compare}><p class="acts">${field(0, 'From', '3')} ${field(1, 'to', '7')}</p><p class="acts">${field(2, 'and from', '8')} ${field(3, 'to', 'now')}</p><p><button disabled=${!isWhole}>Compare the ranges</button></p></form></section>`;
}

function Beside({ one, other }) {
  const [state, again] = useLoaded((signal) => get('/api/attempts', { one, other }, signal), [one, other], true);
  return html`<p class="eyebrow"><a href="/attempts">Attempts</a></p><h1>Two attempts</h1><${Loaded} state=${state} again=${again}>${(data) => {
    const files = [...new Set([...data.one.hunks.files, ...data.other.hunks.files].map((file) => file.file))].sort();
    const find = (attempt, name) => attempt.hunks.files.find((file) => file.file === name);
    const same = (name) => { const [left, right] = [find(data.one, name), find(data.other, name)]; return left && right && left.after_blob === right.after_blob && left.status === right.status; };
    const isOne = data.one.from_tree && data.one.from_tree === data.other.from_tree;
    return html`<div class="beside">${[data.one, data.other].map((attempt) => html`<section class="card" aria-label=${attempt.name}><h2><span class=${`session lane-${hue(attempt.name)}`}>${short(attempt.name)}</span> ${attempt.session?.title ?? ''}</h2>
        <dl class="figures"><div><dt>Steps</dt><dd>${attempt.steps}</dd></div><div><dt>Files</dt><dd>${attempt.hunks.files.length}</dd></div><div><dt>Lines</dt><dd><${Counts} added=${attempt.hunks.additions} removed=${attempt.hunks.deletions} /></dd></div>
        <div><dt>From</dt><dd>${attempt.from ? html`<a href=${address('step', `${attempt.from}`)}>#${attempt.from}</a>` : '–'}</dd></div></dl></section>`)}</div>
      <p class="quiet">${isOne ? 'Both began with the same files.' : 'They began with different files.'}</p>
      ${files.map((name) => html`<details class="card attempt" open=${!same(name)}><summary><code>${name}</code> ${same(name) ? html`<span class="tag">the same in both</span>` : ''}</summary>
        <div class="beside">${[data.one, data.other].map((attempt) => html`<${Patch} file=${find(attempt, name)} who=${attempt.name} />`)}</div></details>`)}`;
  }}</${Loaded}>`;
}

const MOST = 400;

function pieces(line) {
  const found = [];
  eachPiece(line, (text, name) => found.push(name ? html`<span class=${name}>${text}</span>` : text));
  return found;
}

/** The lines of a file with their numbers after the change. */
function numbered(hunk) {
  let fresh = hunk.new_start;
  return hunk.lines.map((line) => ({ ...line, number: line.side === '-' ? '' : fresh++ }));
}

function Patch({ file, who }) {
  if (!file) return html`<div class="patch is-none quiet">not touched by ${short(who)}</div>`;
  const lines = (file.hunks ?? []).flatMap((hunk) => [{ head: `−${hunk.old_start} +${hunk.new_start} ${hunk.section ?? ''}` }, ...numbered(hunk)]);
  return html`<div class="patch" tabIndex="0" role="region" aria-label=${`${file.file} by ${who}`}><p class="quiet">${short(who)} <${Counts} added=${file.additions} removed=${file.deletions} /></p>
    ${file.binary && html`<p class="quiet">bytes that are no text</p>`}
    <div class="patch-lines">${lines.slice(0, MOST).map((line) => (line.head ? html`<div class="hunk-row">${line.head}</div>` : html`<div class=${`code-row ${{ '+': 'is-plus', '-': 'is-minus' }[line.side] ?? ''}`}><span class="gutter">${line.number}</span><span class="side">${line.side}</span><code class="code">${pieces(line)}</code></div>`))}</div>
    ${lines.length > MOST && html`<p class="quiet">${plural(lines.length - MOST, 'line')} more</p>`}</div>`;
}

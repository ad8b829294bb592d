// The timeline: sessions as lanes, everything that was recorded as rows, live. Filters and the chosen time are in the address.
import { signal, useEffect, useMemo, useRef, useState } from '../vendor.js';
import { get, newest, person } from '../api.js';
import { useKeys } from '../keys.js';
import { List } from '../list.js';
import { Counts, Empty, html, inside, Loading, Problem, Time, Who } from '../parts.js';
import { address, clock, exactly, GROUPS, hue, inShort, isStep, kindOf, millis, plural } from '../words.js';

const PAGE = 2000;
const MOST = 50_000;
const HEIGHT = 40;
const LANES = 6;

/** What is known of the timeline, newest first; it outlives the page, so that coming back costs nothing. */
const known = signal({ rows: [], complete: false, error: null });
const checkpoints = signal([]);
/** Commits of the user's Git: read as they are in it now, so they are asked for again and not kept. */
const commits = signal([]);
const seenUpTo = signal(null);
let loading = false;

async function loadAll() {
  if (loading || known.value.complete) return;
  loading = true;
  try {
    let cursor;
    let rows = [];
    do {
      const page = await get('/api/timeline', { limit: rows.length ? PAGE : 200, cursor });
      rows = rows.concat(page.rows);
      cursor = page.next_cursor;
      known.value = { rows, complete: !cursor, error: null };
    } while (cursor && rows.length < MOST);
    known.value = { rows, complete: true, more: Boolean(cursor), error: null };
  } catch (error) {
    known.value = { ...known.value, error };
  } finally {
    loading = false;
  }
}

async function loadNewer() {
  const last = known.value.rows[0]?.sequence_number ?? 0;
  if (!known.value.complete || newest.value <= last) return;
  const page = await get('/api/timeline', { oldest_first: true, cursor: `after-${last}`, limit: 5000 });
  const fresh = page.rows.filter((row) => row.sequence_number > (known.value.rows[0]?.sequence_number ?? 0)).reverse();
  known.value = { ...known.value, rows: [...fresh, ...known.value.rows] };
}

async function loadBeside() {
  const oldest = known.value.rows.at(-1)?.timestamp;
  const [list, seen, git] = await Promise.all([get('/api/browser/checkpoints').catch(() => ({ checkpoints: [] })), get('/api/seen', { person: person() }), get('/api/commits', { since: oldest }).catch(() => ({ commits: [] }))]);
  commits.value = git.commits.map((one) => ({ kind: 'commit', timestamp: one.timestamp, id: one.id, description: one.subject, tool: one.author }));
  checkpoints.value = list.checkpoints.map((one) => ({ kind: 'checkpoint', timestamp: one.created, name: one.name, severity: one.severity, description: `${one.name} → ${inShort(one)}` }));
  seenUpTo.value = seen.seen?.sequence_number ?? null;
}

export function Timeline({ query, go }) {
  useEffect(() => { loadAll(); }, []);
  useEffect(() => { loadNewer().catch(() => {}); loadBeside().catch(() => {}); }, [newest.value, known.value.complete]);
  const set = (changes) => {
    const next = new URLSearchParams(Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '' && value !== undefined && value !== null));
    go(`/timeline${next.size ? `?${next}` : ''}`, { replace: true });
  };
  const { rows, error, complete, more } = known.value;
  const ofFile = useFile(query.file);
  const merged = useMemo(() => merge(rows, [...checkpoints.value, ...commits.value]), [rows, checkpoints.value, commits.value]);
  const shown = useMemo(() => filter(merged, query, ofFile), [merged, query.group, query.session, query.q, query.from, query.to, ofFile]);
  const sessions = useMemo(() => [...new Set(rows.map((row) => row.session).filter(Boolean))], [rows]);
  if (error && !rows.length) return html`<div class="page"><${Problem} error=${error} again=${loadAll} /></div>`;
  return html`<div class="page is-full timeline">
    <div class="timeline-head">
      <h1 class="visually-hidden">Timeline</h1>
      <div class="filters">
        <div class="chips" role="group" aria-label="Kinds of rows">${GROUPS.map(([group, name]) => html`<button class="chip" aria-pressed=${(query.group ?? 'all') === group} onClick=${() => set({ group: group === 'all' ? '' : group })}>${name}</button>`)}</div>
        <label class="field"><span class="visually-hidden">Session</span><select value=${query.session ?? ''} onChange=${(event) => set({ session: event.target.value })}>
          <option value="">All sessions</option>${sessions.map((id) => html`<option value=${id}>${id}</option>`)}</select></label>
        <label class="field search"><span class="visually-hidden">Search</span><input id="search" type="search" placeholder="Search  /" value=${query.q ?? ''} onInput=${(event) => set({ q: event.target.value })} /></label>
      </div>
      <${Overview} rows=${merged} shown=${shown} query=${query} set=${set} />
      <p class="quiet summary">${plural(shown.length, 'row')}${shown.length !== merged.length ? ` of ${merged.length.toLocaleString('en')}` : ''}${!complete ? ', loading' : ''}${more ? `, the newest ${MOST.toLocaleString('en')}` : ''}${query.file ? html`, of <code>${query.file}</code>` : ''}
        ${(query.from || query.q || query.session || query.group || query.file) && html` · <button class="link" onClick=${() => go('/timeline')}>show all</button>`}</p>
    </div>
    ${query.q && html`<${Contents} key=${query.q} text=${query.q} go=${go} />`}
    ${!rows.length && !complete ? html`<${Loading} />` : shown.length ? html`<${Rows} rows=${shown} go=${go} set=${set} query=${query} />`
      : html`<${Empty} title=${merged.length ? 'No row fits' : 'Nothing is recorded yet'}>${merged.length ? 'Take a filter away.' : html`<code>backsight install claude-code</code> lets an agent record its steps; <code>backsight track</code> records one.`}</${Empty}>`}
  </div>`;
}

/** The same words in what steps changed: on request, since steps are compared again for it. */
function Contents({ text, go }) {
  const [state, set] = useState(null);
  const look = async (before) => {
    set((known) => ({ lines: [], steps: 0, ...known, busy: true }));
    try {
      const answer = await get('/api/search', { text, before });
      set((known) => ({ ...answer, lines: [...(known?.lines ?? []), ...answer.lines], steps: (known?.steps ?? 0) + answer.steps, expired: (known?.expired ?? 0) + (answer.expired ?? 0), files_not_read: (known?.files_not_read ?? 0) + (answer.files_not_read ?? 0) }));
    } catch (error) {
      set({ error, lines: [] });
    }
  };
  useKeys([['i', 'the same words in the contents of steps', () => look()]], [text]);
  if (!state) return html`<p class="quiet contents-ask"><button class="link" onClick=${() => look()}>Search the changed lines too</button> <kbd>i</kbd></p>`;
  if (state.error) return html`<${Problem} error=${state.error} />`;
  const left = [state.next && 'older steps', state.expired && plural(state.expired, 'step without contents', 'steps without contents'), state.files_not_read && `${plural(state.files_not_read, 'file')} that are no text or too large`, state.more_lines && `${plural(state.more_lines, 'more line')} of the last step`].filter(Boolean);
  return html`<section class="contents" aria-label="In changed lines"><h2>${plural(state.lines.length, 'changed line')} <span class="count">in ${plural(state.steps, 'step')}${left.length ? `; not searched: ${left.join(', ')}` : ''}</span></h2>
    <ul>${state.lines.slice(0, 400).map((one) => html`<li><a href=${`${address('step', `${one.sequence_number}`)}?file=${encodeURIComponent(one.file)}`}><span class="number">#${one.sequence_number}</span><code class="quiet">${one.file}:${one.line}</code><code class=${one.side === '+' ? 'plus' : 'minus'}>${one.side} ${one.text.trim()}</code></a></li>`)}</ul>
    ${state.next && html`<p><button disabled=${state.busy} onClick=${() => look(state.next)}>Search older steps</button></p>`}${state.busy && html`<${Loading} />`}</section>`;
}

/** The rows that changed a file, when one is asked for. */
function useFile(file) {
  const [found, set] = useState(null);
  useEffect(() => {
    if (!file) return set(null);
    get('/api/timeline', { file, limit: 5000 }).then((page) => set(new Set(page.rows.map((row) => row.sequence_number))), () => set(new Set()));
  }, [file, newest.value]);
  return file ? found ?? new Set() : null;
}

/** Rows, checkpoints and commits in one order. */
function merge(rows, marks) {
  if (!marks.length) return rows;
  const waiting = [...marks].sort((one, other) => millis(other.timestamp) - millis(one.timestamp));
  const found = [];
  for (const row of rows) {
    while (waiting.length && millis(waiting[0].timestamp) >= millis(row.timestamp)) found.push(waiting.shift());
    found.push(row);
  }
  return found.concat(waiting);
}

function filter(rows, { group, session, q, from, to }, ofFile) {
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const [begin, end] = [from ? Number(from) : -Infinity, to ? Number(to) : Infinity];
  if (!group && !session && !words.length && !from && !to && !ofFile) return rows;
  return rows.filter((row) => {
    if (group && kindOf(row).group !== group) return false;
    if (session && row.session !== session) return false;
    if (ofFile && !ofFile.has(row.sequence_number)) return false;
    const time = from || to ? millis(row.timestamp) : 0;
    if ((from || to) && (time < begin || time > end)) return false;
    if (!words.length) return true;
    const text = `#${row.sequence_number ?? ''} ${row.id ?? ''} ${row.description ?? ''} ${row.tool ?? ''} ${row.session ?? ''} ${kindOf(row).name}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Which column each session's line is in: one that no other has meanwhile. */
function lanes(rows) {
  const ends = new Map();
  rows.forEach((row, index) => { if (row.session) { const known = ends.get(row.session); if (known) known.last = index; else ends.set(row.session, { first: index, last: index }); } });
  const free = [];
  for (const span of ends.values()) {
    const column = free.findIndex((end) => end < span.first);
    span.column = column < 0 ? free.length : column;
    free[span.column] = span.last;
  }
  // The lines that pass each hundred rows, so that a row need not ask all sessions.
  const near = Array.from({ length: Math.ceil(rows.length / 100) }, () => []);
  for (const [session, span] of ends) {
    if (span.column >= LANES) continue;
    for (let part = Math.floor(span.first / 100); part <= Math.floor(span.last / 100); part++) near[part].push([session, span]);
  }
  return { near, width: Math.min(LANES, free.length) };
}

const MATTERS = new Set(['errors', 'marks', 'back']);

function Rows({ rows, go, query }) {
  const [wanted, choose] = useState(0);
  const chosen = Math.min(wanted, rows.length - 1);
  const [mark, setMark] = useState(null);
  const control = useRef(null);
  const drawn = useMemo(() => lanes(rows), [rows]);
  const unread = useMemo(() => (seenUpTo.value === null ? -1 : rows.findIndex((row) => row.sequence_number <= seenUpTo.value)), [rows, seenUpTo.value]);
  // The chosen row stays the chosen one when others come before it.
  const id = useRef(null);
  useEffect(() => {
    if (id.current === null || chosen === 0) return;
    const place = rows.findIndex((row) => row.sequence_number === id.current);
    if (place >= 0 && place !== chosen) choose(place);
  }, [rows]);
  const move = (to) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    choose(next);
    id.current = rows[next]?.sequence_number ?? null;
    control.current?.show(next);
  };
  const open = (row) => {
    if (!row) return;
    if (row.kind === 'checkpoint') return go(address('checkpoint', row.name));
    if (mark !== null && isStep(row) && mark !== row.sequence_number) return go(address('range', `${Math.min(mark, row.sequence_number)}`, `${Math.max(mark, row.sequence_number)}`));
    if (row.kind === 'commit') {
      // What was recorded between the commit before it and this one.
      const [at, before] = [rows.indexOf(row), rows.findIndex((other, index) => other.kind === 'commit' && index > rows.indexOf(row))];
      const [last, first] = [rows.slice(at).find(isStep), before < 0 ? null : rows.slice(before).find(isStep)];
      return last && go(first && first !== last ? address('range', `${first.sequence_number}`, `${last.sequence_number}`) : address('step', `${last.sequence_number}`));
    }
    if (isStep(row)) return go(address('step', `${row.sequence_number}`));
    if (kindOf(row).group === 'errors') return go('/errors');
    if (kindOf(row).group === 'debug') return go('/debug');
  };
  const jump = (direction) => {
    for (let index = chosen + direction; index >= 0 && index < rows.length; index += direction) if (MATTERS.has(kindOf(rows[index]).group)) return move(index);
  };
  useKeys([
    ['j', 'next row', () => move(chosen + 1)], ['k', 'previous row', () => move(chosen - 1)],
    ['ArrowDown', 'next row', () => move(chosen + 1)], ['ArrowUp', 'previous row', () => move(chosen - 1)],
    ['g', 'newest row', () => move(0)], ['G', 'oldest row', () => move(rows.length - 1)],
    [']', 'next error, mark or way back', () => jump(1)], ['[', 'the one before', () => jump(-1)],
    ['u', 'where you last looked', () => unread >= 0 && move(unread)],
    ['x', 'one end of a range', () => setMark((before) => (before === rows[chosen]?.sequence_number ? null : rows[chosen]?.sequence_number ?? null))],
    ['Enter', 'open', () => open(rows[chosen])],
    ['/', 'search', () => document.getElementById('search').focus()],
  ], [rows, chosen, mark, unread]);
  const row = useMemo(() => (index) => html`<${Line} row=${rows[index]} index=${index} drawn=${drawn} chosen=${index === chosen} mark=${mark} unread=${index === unread && unread > 0} open=${() => { move(index); open(rows[index]); }} />`, [rows, drawn, chosen, mark, unread]);
  return html`<${List} count=${rows.length} height=${HEIGHT} control=${control} label="Rows of the timeline" role="listbox" selected=${chosen} row=${row} />`;
}

function Line({ row, index, drawn, chosen, mark, unread, open }) {
  const kind = kindOf(row);
  const text = inside(row.description ?? '') || (isStep(row) ? (row.first ? `first snapshot, ${plural(row.files_changed, 'file')}` : plural(row.files_changed, 'file')) : kind.name);
  const tone = row.kind === 'checkpoint' ? { clean: 'clean', warning: 'warning', error: 'error', unknown: 'quiet' }[row.severity] : kind.tone;
  return html`<div id=${`row-${index}`} role="option" aria-selected=${chosen} class=${`line-row ${chosen ? 'is-chosen' : ''} ${mark !== null && mark === row.sequence_number ? 'is-marked' : ''} ${unread ? 'is-unread-line' : ''} ${row.expired ? 'is-expired' : ''}`} onClick=${open} title=${exactly(row.timestamp)}>
    <${Lanes} row=${row} index=${index} drawn=${drawn} />
    <span class=${`kind is-${tone}`} title=${kind.name} role="img" aria-label=${kind.name}>${kind.sign}</span>
    <span class="number">${row.sequence_number ? `#${row.sequence_number}` : row.kind === 'commit' ? row.id.slice(0, 7) : ''}</span>
    <span class="text">${text}</span>
    ${row.unknown_changes > 0 && html`<span class="tag" title="changes in it that are not the step's">+${row.unknown_changes} outside</span>`}
    ${row.targets?.length > 0 && html`<span class="tag">${row.targets.slice(0, 3).map((target) => `#${target}`).join(' ')}${row.targets.length > 3 ? ' …' : ''}</span>`}
    <${Who} row=${row} />
    <span class="change">${isStep(row) && !row.first ? html`<${Counts} added=${row.lines_added} removed=${row.lines_removed} />` : ''}</span>
    <${Time} at=${row.timestamp} />
    ${unread && html`<span class="unread-mark">you looked up to here</span>`}
  </div>`;
}

function Lanes({ row, index, drawn }) {
  if (!drawn.width) return null;
  const marks = [];
  for (const [session, span] of drawn.near[Math.floor(index / 100)] ?? []) {
    if (index < span.first || index > span.last) continue;
    const x = span.column * 12 + 8;
    marks.push(html`<line class=${`lane-${hue(session)}`} x1=${x} x2=${x} y1=${index === span.first ? HEIGHT / 2 : 0} y2=${index === span.last ? HEIGHT / 2 : HEIGHT} />`);
    if (row.session === session) marks.push(html`<circle class=${`lane-${hue(session)}`} cx=${x} cy=${HEIGHT / 2} r="4" />`);
  }
  return html`<svg class="lanes" width=${drawn.width * 12 + 6} height=${HEIGHT} aria-hidden="true">${marks}</svg>`;
}

/** All of it at a glance, by time; drag over a part to see only that. */
function Overview({ rows, shown, query, set }) {
  const canvas = useRef(null);
  const [drag, setDrag] = useState(null);
  const edges = useMemo(() => (rows.length ? [millis(rows.at(-1).timestamp), millis(rows[0].timestamp)] : [0, 1]), [rows]);
  useEffect(() => {
    const draw = () => paint(canvas.current, rows, shown, edges);
    draw();
    const watcher = new ResizeObserver(draw);
    watcher.observe(canvas.current);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributes: true });
    return () => { watcher.disconnect(); theme.disconnect(); };
  }, [rows, shown, edges]);
  const time = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return edges[0] + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * Math.max(1, edges[1] - edges[0]);
  };
  const place = (at) => `${((at - edges[0]) / Math.max(1, edges[1] - edges[0])) * 100}%`;
  const chosen = drag ? [Math.min(...drag), Math.max(...drag)] : query.from ? [Number(query.from), Number(query.to)] : null;
  return html`<div class="overview" role="img" aria-label=${`${plural(rows.length, 'row')} from ${exactly(edges[0])} to ${exactly(edges[1])}`}
    onPointerDown=${(event) => { event.currentTarget.setPointerCapture(event.pointerId); setDrag([time(event), time(event)]); }}
    onPointerMove=${(event) => drag && setDrag([drag[0], time(event)])}
    onPointerUp=${() => { if (drag) { const [begin, end] = [Math.min(...drag), Math.max(...drag)]; setDrag(null); set(end - begin < (edges[1] - edges[0]) / 200 ? { from: '', to: '' } : { from: Math.round(begin), to: Math.round(end) }); } }}>
    <canvas ref=${canvas}></canvas>
    ${chosen && html`<div class="brush" style=${{ left: place(chosen[0]), right: `calc(100% - ${place(chosen[1])})` }}></div>`}
  </div>
  ${rows.length > 1 && html`<p class="axis" aria-hidden="true">${[0, 1, 2, 3, 4].map((part) => clock(edges[0] + ((edges[1] - edges[0]) * part) / 4)).map((text, part, all) => html`<span>${part && text === all[part - 1] ? '' : text}</span>`)}</p>`}`;
}

function paint(canvas, rows, shown, [begin, end]) {
  if (!canvas) return;
  const box = canvas.parentElement;
  const [width, height, scale] = [box.clientWidth, box.clientHeight, devicePixelRatio || 1];
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  // A token is two colours until something is drawn with it.
  const probe = box.appendChild(document.createElement('i'));
  const style = getComputedStyle(probe);
  const colour = (name) => { probe.style.color = `var(${name})`; return style.color; };
  const tones = Object.fromEntries(['step', 'outside', 'error', 'clean', 'warning', 'mark', 'back', 'debug', 'quiet', 'commit'].map((tone) => [tone, colour(`--tone-${tone}`)]));
  const span = Math.max(1, end - begin);
  const visible = shown === rows ? null : new Set(shown);
  const counts = new Float32Array(Math.max(1, Math.ceil(width / 3)));
  for (const row of rows) counts[Math.min(counts.length - 1, Math.floor(((millis(row.timestamp) - begin) / span) * counts.length))]++;
  const most = Math.max(1, ...counts);
  context.fillStyle = colour('--lines');
  counts.forEach((count, index) => { if (count) { const tall = 4 + (Math.sqrt(count / most) * (height - 18)); context.fillRect(index * 3, height - tall, 2, tall); } });
  for (const row of rows) {
    const kind = kindOf(row);
    if (kind.group === 'steps' || kind.group === 'app') continue;
    context.globalAlpha = visible && !visible.has(row) ? 0.15 : 1;
    context.fillStyle = tones[row.kind === 'checkpoint' ? { clean: 'clean', warning: 'warning', error: 'error' }[row.severity] ?? 'mark' : kind.tone];
    context.fillRect(((millis(row.timestamp) - begin) / span) * (width - 3), 2, 3, 7);
  }
  context.globalAlpha = 1;
  probe.remove();
}

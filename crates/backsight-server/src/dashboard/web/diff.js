// Draws differences: all hunks of all files in one scroll, of which only the lines that are seen exist.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from './vendor.js';
import { get } from './api.js';
import { drawCode } from './code.js';
import { Comment, comments, useComments, write } from './comments.js';
import { takeBack } from './going.js';
import { useKeys } from './keys.js';
import { COME, readLines } from './lines.js';
import { List } from './list.js';
import { Bar, Counts, html, say, short } from './parts.js';
import { flatten, spelled, wholeLines, widen } from './rows.js';
import { hue, plural } from './words.js';

/** Lines around a change that are all lines. */
export const WHOLE = '65535';

/** A row that is no line: heads and notes, and what people said. */
function Row({ row, acts, current }) {
  switch (row.type) {
    case 'comment': return html`<${Comment} comment=${row.comment} />`;
    case 'hunk': return html`<div class="hunk-row"><${More} row=${row} acts=${acts} /><span class="hunk-place">−${row.hunk.old_start} +${row.hunk.new_start}</span><span class="hunk-section">${row.hunk.section ?? ''}</span>${acts.by && html`<span class="hunk-by">${acts.writers(row.index, row.hunk)}</span>`}
      ${acts.takeHunk && row.hunk.hunks?.length > 0 && html`<button class="small" onClick=${() => acts.takeHunk(row)}>Take back …<span class="visually-hidden"> this hunk</span></button>`}</div>`;
    case 'gap': return html`<div class="hunk-row"><${More} row=${row} acts=${acts} /></div>`;
    case 'note': return html`<div class="note-row quiet">${row.text}</div>`;
    // The head of the file that is being read is stuck to the upper edge.
    default: return row.index === current ? html`<div class="file-head"></div>` : html`<${FileHead} file=${row.file} ...${acts} />`;
  }
}

/** Shows more of the lines between two hunks. */
function More({ row, acts }) {
  if (!row.hidden || !acts.widen) return html`<span class="more"></span>`;
  const last = row.type === 'gap';
  const lines = plural(row.hidden, 'line');
  return html`<span class="more">
    ${row.hidden > 20 && (row.place > 0 || last) && html`<button class="plain" title="Show 20 more lines below the hunk before" aria-label="Show 20 more lines below the hunk before" onClick=${() => acts.widen(row, 'down')}>↓</button>`}
    ${row.hidden > 20 && !last && html`<button class="plain" title="Show 20 more lines above this hunk" aria-label="Show 20 more lines above this hunk" onClick=${() => acts.widen(row, 'up')}>↑</button>`}
    <button class="plain" title=${`Show the ${lines} between`} aria-label=${`Show the ${lines} between`} onClick=${() => acts.widen(row, 'all')}>↕ ${row.hidden}</button></span>`;
}

const STATUS = { added: 'new', deleted: 'gone', renamed: 'moved', mode_changed: 'mode', type_changed: 'type' };

function FileHead({ file, folded, fold, viewed, view, revert, current = false }) {
  const cut = file.file.lastIndexOf('/') + 1;
  const isFolded = folded.has(file.file);
  return html`<div class=${`file-head ${current ? 'is-current' : ''}`}>
    <button class="plain fold" aria-expanded=${!isFolded} aria-label=${`${isFolded ? 'Unfold' : 'Fold'} ${file.file}`} onClick=${() => fold(file.file)}>${isFolded ? '▸' : '▾'}</button>
    <span class="path" title=${file.file}>${file.from_file && html`<span class="quiet">${file.from_file} → </span>`}<span class="quiet">${file.file.slice(0, cut)}</span><strong>${file.file.slice(cut)}</strong></span>
    ${STATUS[file.status] && html`<span class="tag">${STATUS[file.status]}</span>`}
    <${Counts} added=${file.additions} removed=${file.deletions} />
    ${revert && html`<button class="small" onClick=${() => revert(file.file)} title="Take this file's part back">Take back …</button>`}
    ${file.after_blob && html`<label class="viewed"><input type="checkbox" checked=${viewed.has(file.after_blob)} onChange=${() => view(file)} /> Viewed</label>`}
  </div>`;
}

/** How many letters fit into a line that wraps; nothing when lines do not wrap. */
function useColumns(wrap, split, box) {
  const [columns, set] = useState(0);
  useLayoutEffect(() => {
    if (!wrap || !box.current) return set(0);
    const measure = () => {
      const list = box.current.querySelector('.list');
      const ruler = document.createElement('code');
      ruler.className = 'code ruler';
      ruler.textContent = '0'.repeat(100);
      list.append(ruler);
      const letter = ruler.getBoundingClientRect().width / 100;
      ruler.remove();
      const gutter = innerWidth <= 900 ? 34 : 48;
      const room = split ? list.clientWidth / 2 - gutter - 44 : list.clientWidth - 2 * gutter - 44;
      set(Math.max(20, Math.floor(room / letter)));
    };
    const watcher = new ResizeObserver(measure);
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [wrap, split]);
  return columns;
}

const WRITERS = { external: 'changed outside', baseline: 'there at the first snapshot', expired: 'older than what is kept', unrecorded: 'not recorded yet' };

/** Who wrote each line of the files, asked file by file as they come into view. */
function useWriters(files, lines, wanted, to) {
  const [known, set] = useState(new Map());
  const asked = useRef(new Set());
  useEffect(() => { asked.current = new Set(); set(new Map()); }, [files]);
  const load = (index) => {
    const file = files[index];
    if (!wanted || !file || file.status === 'deleted' || file.binary || asked.current.has(file.file)) return;
    asked.current.add(file.file);
    get('/api/blame', { path: file.file, ref: to === 'now' ? undefined : to }).then(({ hunks }) => {
      const authors = [];
      for (const hunk of hunks) {
        const who = hunk.session ? short(hunk.session) : hunk.tool ?? '';
        const text = hunk.state === 'recorded' ? `#${hunk.sequence_number} ${who}`.trim() : `${WRITERS[hunk.state] ?? hunk.state}${hunk.sequence_number ? `, #${hunk.sequence_number}` : ''}`;
        const by = { text, tone: hunk.session && hunk.state === 'recorded' ? `fill-${hue(hunk.session)}` : 'fill-e' };
        hunk.lines.forEach((_, line) => (authors[hunk.start_line + line] = by));
      }
      set((before) => new Map(before).set(file.file, authors));
    }, (error) => say(error.message, { tone: 'error' }));
  };
  const by = (index, line) => known.get(files[index]?.file)?.[line];
  /** Of the lines that came. */
  const writers = (index, { lines: { first, count } }) => {
    const found = new Set();
    for (let line = first; line < first + count; line++) if (lines.sides[line] === COME) found.add(by(index, lines.fresh[line])?.text);
    return [...found].filter(Boolean).join(', ');
  };
  return { load, by: wanted ? by : undefined, writers, known };
}

/** Lines that were chosen, to be taken back together. */
function usePicks(rows, lines, from) {
  const [chosen, set] = useState(new Set());
  const last = useRef(null);
  // Before a key can come: one that is pressed as soon as the lines are seen must not lose its line.
  useLayoutEffect(() => set(new Set()), [lines]);
  const pick = (at, of, range) => {
    const [begin, end] = range && last.current !== null ? [Math.min(at, last.current), Math.max(at, last.current)] : [at, at];
    last.current = at;
    set((before) => {
      const after = new Set(before);
      if (begin !== end) for (let row = begin; row <= end; row++) for (const key of rows.names(row)) after.add(key);
      else if (!after.delete(of.join(':'))) after.add(of.join(':'));
      return after;
    });
  };
  /** With the keyboard: the next line that is not chosen, from the one chosen last or the first in view. A key that is held
   * comes again before the page is drawn, so what counts is what is chosen by then. */
  const next = (here) => set((before) => {
    const start = last.current !== null && before.size ? last.current : here;
    let at = start;
    while (at < rows.count && rows.names(at).every((key) => before.has(key))) at++;
    if (at >= rows.count) return before;
    last.current = at;
    return new Set([...before, ...rows.names(at)]);
  });
  const clear = () => { last.current = null; set(new Set()); };
  const go = () => {
    const hunks = spelled(lines, chosen);
    takeBack(from, { hunks, what: plural(chosen.size, 'line') });
  };
  return { chosen, pick: from ? pick : undefined, next, clear, go };
}

/** All of it: the tree of files at the side, the differences in one scroll. `from` is what parts are taken back from. */
export function Differences({ files, lines, split, wrap, who, asked, to, viewed, view, from, focus, session, canComment }) {
  useComments();
  const [folded, setFolded] = useState(() => new Set(files.filter((file) => viewed.has(file.after_blob) && file.file !== focus).map((file) => file.file)));
  const [opened, setOpened] = useState(new Map());
  const [current, setCurrent] = useState(0);
  const [control, box] = [useRef(null), useRef(null)];
  const columns = useColumns(wrap, split, box);
  const rows = useMemo(() => flatten(files, lines, { folded, split, said: comments.value, opened }), [files, folded, split, comments.value, opened]);
  const heights = useMemo(() => (index) => rows.height(index, columns), [rows, columns]);
  const { heads, stops } = rows;
  const writers = useWriters(files, lines, who, to);
  useEffect(() => { for (const near of [current, current + 1]) writers.load(near); }, [current, who, files]);
  const picks = usePicks(rows, lines, from);
  useEffect(() => setOpened(new Map()), [files]);
  const fold = (name) => setFolded((before) => { const after = new Set(before); if (!after.delete(name)) after.add(name); return after; });
  const mark = (file) => {
    const isRead = !viewed.has(file.after_blob);
    setFolded((before) => { const after = new Set(before); if (isRead) after.add(file.file); else after.delete(file.file); return after; });
    view(file, isRead);
  };
  const comment = canComment ? (index, line, code) => write({ file: files[index].file, line, code, session }) : undefined;
  const revert = from ? (path) => takeBack(from, { paths: [path] }) : undefined;
  const takeHunk = from ? (row) => takeBack(from, { hunks: row.hunk.hunks.map((hunk) => hunk.id), what: `${row.hunk.hunks.length > 1 ? plural(row.hunk.hunks.length, 'hunk') : 'a hunk'} in ${files[row.index].file}` }) : undefined;
  const more = async (row, direction) => {
    const file = files[row.index];
    try {
      const known = opened.get(file.file) ?? wholeLines(await get('/api/hunks', { ...asked, path: file.file, context: WHOLE }, undefined, readLines));
      setOpened((before) => new Map(before).set(file.file, { ...known, shown: widen(file, lines, before.get(file.file)?.shown ?? [], row.place, direction) }));
    } catch (error) {
      say(error.message, { tone: 'error' });
    }
  };
  const acts = { folded, fold, viewed, view: mark, revert, comment, takeHunk, widen: asked && more, chosen: picks.chosen, pick: picks.pick, by: writers.by, writers: writers.writers };
  const show = (index) => control.current?.show(index, 'top');
  const step = (places, direction) => {
    const here = control.current?.first() ?? 0;
    const next = direction > 0 ? places.find((place) => place > here) : [...places].reverse().find((place) => place < here);
    if (next !== undefined) show(next);
  };
  /** The first changed line that is seen. */
  const commentHere = () => {
    const here = (control.current?.first() ?? 0) + 2;
    const found = rows.next(here, true) ?? rows.next(here, false);
    if (found) comment(found.index, found.line, found.code);
  };
  const hunkHere = () => {
    const here = (control.current?.first() ?? 0) + 2;
    const at = [...stops].reverse().find((place) => place <= here) ?? stops[0];
    if (at !== undefined) takeHunk(rows.at(at));
  };
  const shown = useRef(false);
  if (focus && !shown.current && control.current) {
    shown.current = true;
    queueMicrotask(() => show(heads[files.findIndex((file) => file.file === focus)] ?? 0));
  }
  useKeys([
    ['j', 'next hunk', () => step(stops, 1)], ['k', 'previous hunk', () => step(stops, -1)],
    [']', 'next file', () => step(heads, 1)], ['[', 'previous file', () => step(heads, -1)],
    ['v', 'viewed, and the next file', () => { const file = files[current]; if (file?.after_blob) { mark(file); queueMicrotask(() => show(heads[Math.min(current + 1, heads.length - 1)])); } }],
    ['f', 'fold the file', () => files[current] && fold(files[current].file)],
    comment && ['c', 'comment on the first changed line in view', commentHere],
    from && ['r', 'take this file back', () => files[current] && revert(files[current].file)],
    from && ['h', 'take this hunk back', hunkHere],
    from && ['x', 'choose the next changed line', () => picks.next((control.current?.first() ?? 0) + 1)],
    from && ['X', 'choose no line', picks.clear],
    from && ['Enter', 'take the chosen lines back', () => picks.chosen.size && picks.go()],
  ], [rows, current, viewed, files, picks.chosen]);
  const widest = useMemo(() => (split && !columns ? Math.min(400, lines.cells().reduce((most, cells) => Math.max(most, cells), 0)) : 0), [lines, split, columns]);
  const row = useMemo(() => (index) => html`<${Row} row=${rows.at(index)} acts=${acts} current=${current} />`, [rows, folded, viewed, current, picks.chosen, writers.known, who]);
  const paint = useMemo(() => (element, index) => drawCode(element, rows.at(index), acts), [rows, picks.chosen, writers.known, who]);
  const click = (event) => {
    const place = event.target.closest('[data-at]');
    if (!place) return;
    const at = Number(place.dataset.at);
    const shown = rows.at(at);
    const half = shown.type === 'line' ? { ...shown, number: shown.fresh } : event.target.closest('.half')?.nextSibling ? shown.left : shown.right;
    if (event.target.closest('.pick')) picks.pick(at, half.of, event.shiftKey);
    else if (event.target.closest('.is-fresh') && half?.number && comment) comment(shown.index, half.number, half.line.text);
  };
  const read = files.filter((file) => viewed.has(file.after_blob)).length;
  return html`<div class=${`diff ${columns ? 'is-wrapped' : ''}`} ref=${box} style=${{ '--columns': widest }}>
    <nav class="tree" aria-label="Files"><p class="quiet">${read} of ${plural(files.length, 'file')} viewed</p><progress max=${files.length} value=${read} aria-label="Viewed"></progress>
      <${Tree} files=${files} current=${current} viewed=${viewed} show=${(index) => show(heads[index])} /></nav>
    <${List} count=${rows.count} height=${heights} control=${control} label="Differences" wide=${true} end=${heads.at(-1)} onTop=${(top) => setCurrent(rows.file(top))}
      header=${files[current] && html`<div class="stuck"><${FileHead} file=${files[current]} ...${acts} current /></div>`}
      row=${row} kind=${rows.type} paint=${paint} isPainted=${rows.isCode} onClick=${click} />
    ${picks.chosen.size > 0 && html`<div class="picked" role="status"><span>${plural(picks.chosen.size, 'line')} chosen</span><button class="primary" onClick=${picks.go}>Take back …</button><button class="plain" onClick=${picks.clear}>Clear</button></div>`}
  </div>`;
}

/** The files by folder; folders with one child are one line. */
function Tree({ files, current, viewed, show }) {
  let folder = null;
  return html`<ul>${files.map((file, index) => {
    const cut = file.file.lastIndexOf('/');
    const own = cut < 0 ? '' : file.file.slice(0, cut);
    const head = own !== folder && own ? html`<li class="folder quiet">${own}/</li>` : null;
    folder = own;
    return html`${head}<li><button class=${`plain leaf ${index === current ? 'is-current' : ''} ${viewed.has(file.after_blob) ? 'is-viewed' : ''}`} onClick=${() => show(index)}>
      <span class=${`sign is-${file.status}`} aria-hidden="true">${{ added: '+', deleted: '−', renamed: '→' }[file.status] ?? '~'}</span><span class="name">${file.file.slice(cut + 1)}</span>
      <${Bar} added=${file.additions} removed=${file.deletions} /></button></li>`;
  })}</ul>`;
}

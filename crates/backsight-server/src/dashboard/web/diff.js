// Draws differences: all hunks of all files in one scroll, of which only the lines that are seen exist.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from './vendor.js';
import { get } from './api.js';
import { Comment, comments, useComments, write } from './comments.js';
import { takeBack } from './going.js';
import { useKeys } from './keys.js';
import { List } from './list.js';
import { Bar, Counts, html, say, short } from './parts.js';
import { flatten, height, spelled, wholeLines, widen } from './rows.js';
import { hue, plural } from './words.js';

/** Lines around a change that are all lines. */
export const WHOLE = '65535';

const PARTS = ['', 'comment', 'text', 'number', 'keyword', 'type', 'call', 'field'];

/** A line cut where a part of the language or a changed word begins or ends. */
export function pieces({ text, parts = [], words = [] }) {
  if (!parts.length && !words.length) return text;
  const cuts = new Set([0, text.length]);
  for (let at = 0; at < parts.length; at += 3) cuts.add(parts[at]).add(parts[at] + parts[at + 1]);
  for (let at = 0; at < words.length; at += 2) cuts.add(words[at]).add(words[at] + words[at + 1]);
  const sorted = [...cuts].filter((cut) => cut <= text.length).sort((one, other) => one - other);
  const found = [];
  let [part, word] = [0, 0];
  for (let index = 0; index + 1 < sorted.length; index++) {
    const [begin, end] = [sorted[index], sorted[index + 1]];
    while (part < parts.length && parts[part] + parts[part + 1] <= begin) part += 3;
    while (word < words.length && words[word] + words[word + 1] <= begin) word += 2;
    const kind = part < parts.length && parts[part] <= begin ? PARTS[parts[part + 2]] : '';
    const changed = word < words.length && words[word] <= begin;
    const name = `${kind && `part-${kind}`}${changed ? ' word' : ''}`.trim();
    const piece = text.slice(begin, end);
    found.push(name ? html`<span class=${name}>${piece}</span>` : piece);
  }
  return found;
}

function Code({ line }) {
  return html`<code class="code">${pieces(line)}${line.cut ? html`<span class="quiet"> … ${line.cut} more characters</span>` : ''}${line.no_newline ? html`<span class="quiet" title="no line feed at the end of the file"> ⏎̸</span>` : ''}</code>`;
}

const TONES = { '+': 'is-plus', '-': 'is-minus', ' ': '' };

/** The sign of a line; one that can be taken back by itself is chosen with it. */
function Sign({ line, of, acts, at, plain }) {
  if (!of || !acts.pick || plain) return html`<span class="side">${line?.side ?? ''}</span>`;
  const isChosen = acts.chosen.has(of.join(':'));
  return html`<button class="side pick" tabIndex="-1" aria-pressed=${isChosen} aria-label=${`${isChosen ? 'Leave out' : 'Choose'} this line`} title="Choose this line; with Shift all up to it" onClick=${(event) => acts.pick(at, of, event.shiftKey)}>${line.side}</button>`;
}

/** Who wrote a line, as a mark before it. */
const By = ({ by }) => (by ? html`<i class=${`by ${by.tone}`} title=${by.text}></i>` : null);

function Row({ row, at, acts, current, plain }) {
  const tell = (line, number) => (number && acts.comment ? () => acts.comment(row.index, number, line.text) : undefined);
  const code = (line) => (plain ? html`<code class="code">${line.text}</code>` : html`<${Code} line=${line} />`);
  const isChosen = (of) => (of && acts.chosen.has(of.join(':')) ? 'is-picked' : '');
  switch (row.type) {
    case 'comment': return html`<${Comment} comment=${row.comment} />`;
    case 'line': return html`<div class=${`code-row ${TONES[row.line.side]} ${isChosen(row.of)}`}><${By} by=${acts.by?.(row.index, row.fresh)} /><span class="gutter">${row.old ?? ''}</span><span class="gutter is-fresh" onClick=${tell(row.line, row.fresh)}>${row.fresh ?? ''}</span><${Sign} line=${row.line} of=${row.of} acts=${acts} at=${at} plain=${plain} />${code(row.line)}</div>`;
    case 'pair': return html`<div class="code-row is-pair">${[row.left, row.right].map((half, right) => html`<div class=${`half ${half ? TONES[half.line.side] : 'is-none'} ${isChosen(half?.of)}`}>${right ? html`<${By} by=${half && acts.by?.(row.index, half.number)} />` : null}<span class=${`gutter ${right ? 'is-fresh' : ''}`} onClick=${right && half ? tell(half.line, half.number) : undefined}>${half?.number ?? ''}</span><${Sign} line=${half?.line} of=${half?.of} acts=${acts} at=${at} plain=${plain} />${half && code(half.line)}</div>`)}</div>`;
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
function useWriters(files, wanted, to) {
  const [known, set] = useState(new Map());
  const asked = useRef(new Set());
  useEffect(() => { asked.current = new Set(); set(new Map()); }, [files]);
  const load = (index) => {
    const file = files[index];
    if (!wanted || !file || file.status === 'deleted' || file.binary || asked.current.has(file.file)) return;
    asked.current.add(file.file);
    get('/api/blame', { path: file.file, ref: to === 'now' ? undefined : to }).then(({ hunks }) => {
      const lines = [];
      for (const hunk of hunks) {
        const who = hunk.session ? short(hunk.session) : hunk.tool ?? '';
        const text = hunk.state === 'recorded' ? `#${hunk.sequence_number} ${who}`.trim() : `${WRITERS[hunk.state] ?? hunk.state}${hunk.sequence_number ? `, #${hunk.sequence_number}` : ''}`;
        const by = { text, tone: hunk.session && hunk.state === 'recorded' ? `fill-${hue(hunk.session)}` : 'fill-e' };
        hunk.lines.forEach((_, line) => (lines[hunk.start_line + line] = by));
      }
      set((before) => new Map(before).set(file.file, lines));
    }, (error) => say(error.message, { tone: 'error' }));
  };
  const by = (index, line) => known.get(files[index]?.file)?.[line];
  /** Of the lines that came. */
  const writers = (index, hunk) => {
    const found = new Set();
    let fresh = hunk.new_start;
    for (const { side } of hunk.lines) {
      if (side === '+' && by(index, fresh)) found.add(by(index, fresh).text);
      if (side !== '-') fresh++;
    }
    return [...found].join(', ');
  };
  return { load, by: wanted ? by : undefined, writers, known };
}

/** Lines that were chosen, to be taken back together. */
function usePicks(rows, files, from) {
  const [chosen, set] = useState(new Set());
  const last = useRef(null);
  useEffect(() => set(new Set()), [files]);
  const all = (row) => (row.type === 'line' ? [row.of] : row.type === 'pair' ? [row.left?.of, row.right?.of] : []).filter(Boolean).map((of) => of.join(':'));
  const pick = (at, of, range) => {
    const [begin, end] = range && last.current !== null ? [Math.min(at, last.current), Math.max(at, last.current)] : [at, at];
    last.current = at;
    set((before) => {
      const after = new Set(before);
      if (begin !== end) rows.slice(begin, end + 1).flatMap(all).forEach((key) => after.add(key));
      else if (!after.delete(of.join(':'))) after.add(of.join(':'));
      return after;
    });
  };
  /** With the keyboard: the next line that is not chosen, from the one chosen last or the first in view. A key that is held
   * comes again before the page is drawn, so what counts is what is chosen by then. */
  const next = (here) => set((before) => {
    const start = last.current !== null && before.size ? last.current : here;
    const at = rows.findIndex((row, index) => index >= start && all(row).some((key) => !before.has(key)));
    if (at < 0) return before;
    last.current = at;
    return new Set([...before, ...all(rows[at])]);
  });
  const clear = () => { last.current = null; set(new Set()); };
  const go = () => {
    const hunks = spelled(files, chosen);
    takeBack(from, { hunks, what: plural(chosen.size, 'line') });
  };
  return { chosen, pick: from ? pick : undefined, next, clear, go };
}

/** All of it: the tree of files at the side, the differences in one scroll. `from` is what parts are taken back from. */
export function Differences({ files, split, wrap, who, asked, to, viewed, view, from, focus, session, canComment }) {
  useComments();
  const [folded, setFolded] = useState(() => new Set(files.filter((file) => viewed.has(file.after_blob) && file.file !== focus).map((file) => file.file)));
  const [opened, setOpened] = useState(new Map());
  const [top, setTop] = useState(0);
  const [control, box] = [useRef(null), useRef(null)];
  const columns = useColumns(wrap, split, box);
  const rows = useMemo(() => flatten(files, { folded, split, said: comments.value, opened }), [files, folded, split, comments.value, opened]);
  const heights = useMemo(() => (index) => height(rows[index], columns), [rows, columns]);
  const kinds = useMemo(() => (index) => rows[index].type, [rows]);
  const heads = useMemo(() => rows.flatMap((row, index) => (row.type === 'file' ? [index] : [])), [rows]);
  const stops = useMemo(() => rows.flatMap((row, index) => (row.type === 'hunk' ? [index] : [])), [rows]);
  const current = rows[top]?.index ?? 0;
  const writers = useWriters(files, who, to);
  useEffect(() => { for (const near of [current, current + 1]) writers.load(near); }, [current, who, files]);
  const picks = usePicks(rows, files, from);
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
      const known = opened.get(file.file)?.lines ?? wholeLines((await get('/api/hunks', { ...asked, path: file.file, context: WHOLE })).files[0]);
      setOpened((before) => new Map(before).set(file.file, { lines: known, shown: widen(file, before.get(file.file)?.shown ?? [], row.place, direction) }));
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
    const numbered = (row) => (row.type === 'line' ? [row.line, row.fresh] : row.type === 'pair' && row.right ? [row.right.line, row.right.number] : null);
    const found = rows.slice(here).find((row) => numbered(row)?.[1] && numbered(row)[0].side === '+') ?? rows.slice(here).find((row) => numbered(row)?.[1]);
    if (found) comment(found.index, numbered(found)[1], numbered(found)[0].text);
  };
  const hunkHere = () => {
    const here = (control.current?.first() ?? 0) + 2;
    const at = [...stops].reverse().find((place) => place <= here) ?? stops[0];
    if (at !== undefined) takeHunk(rows[at]);
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
  const widest = useMemo(() => (split && !columns ? Math.min(400, rows.reduce((most, row) => Math.max(most, row.left?.line.text.length ?? 0, row.right?.line.text.length ?? 0), 0)) : 0), [rows, split, columns]);
  const row = useMemo(() => (index, plain) => html`<${Row} row=${rows[index]} at=${index} acts=${acts} current=${current} plain=${plain} />`, [rows, folded, viewed, current, picks.chosen, writers.known, who]);
  const read = files.filter((file) => viewed.has(file.after_blob)).length;
  return html`<div class=${`diff ${columns ? 'is-wrapped' : ''}`} ref=${box} style=${{ '--columns': widest }}>
    <nav class="tree" aria-label="Files"><p class="quiet">${read} of ${plural(files.length, 'file')} viewed</p><progress max=${files.length} value=${read} aria-label="Viewed"></progress>
      <${Tree} files=${files} current=${current} viewed=${viewed} show=${(index) => show(heads[index])} /></nav>
    <${List} count=${rows.length} height=${heights} control=${control} label="Differences" wide=${true} onTop=${setTop}
      header=${files[current] && html`<div class="stuck"><${FileHead} file=${files[current]} ...${acts} current /></div>`}
      row=${row} kind=${kinds} />
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

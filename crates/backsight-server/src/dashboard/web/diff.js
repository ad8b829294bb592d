// Draws differences: all hunks of all files in one scroll, of which only the lines that are seen exist.
import { useMemo, useRef, useState } from './vendor.js';
import { Comment, comments, useComments, write } from './comments.js';
import { useKeys } from './keys.js';
import { List } from './list.js';
import { Bar, Counts, html } from './parts.js';
import { plural } from './words.js';

const LINE = 20;
const HEAD = 44;
const GAP = 26;
const NOTE = 36;

/** What is drawn, row by row: heads of files, heads of hunks, lines; of a file that is folded only its head. */
export function flatten(files, folded, split, said = []) {
  const rows = [];
  const after = said.length ? places(files, said) : new Map();
  files.forEach((file, index) => {
    rows.push({ type: 'file', file, index });
    if (folded.has(file.file)) return;
    if (file.binary || file.cut || !file.hunks?.length) rows.push({ type: 'note', text: note(file), index });
    for (const hunk of file.hunks ?? []) {
      rows.push({ type: 'hunk', hunk, index });
      // Beside nothing there is nothing to see.
      if (split && file.status !== 'added' && file.status !== 'deleted') sideBySide(hunk, index, rows, after);
      else unified(hunk, index, rows, after);
    }
    if (file.lines_left_out) rows.push({ type: 'note', text: `${plural(file.lines_left_out, 'line')} more; \`backsight diff\` shows them`, index });
  });
  return rows;
}

/** Below which line each comment stands: the nearest that reads as it did. */
function places(files, said) {
  const found = new Map();
  for (const comment of said) {
    const file = files.find((file) => file.file === comment.file);
    let best = null;
    for (const hunk of file?.hunks ?? []) {
      let fresh = hunk.new_start;
      for (const line of hunk.lines) {
        if (line.side !== '-' && line.text === comment.code && (!best || Math.abs(fresh - comment.line) < best[1])) best = [line, Math.abs(fresh - comment.line)];
        if (line.side !== '-') fresh++;
      }
    }
    if (best) found.set(best[0], [...(found.get(best[0]) ?? []), comment]);
  }
  return found;
}

function note(file) {
  if (file.binary) return 'Bytes that are no text';
  if (file.cut) return `Not compared: ${file.cut}`;
  return { renamed: 'Moved, with the same content', mode_changed: 'Only its permissions changed', added: 'An empty file', deleted: 'It was empty' }[file.status] ?? 'No line changed';
}

function unified(hunk, index, rows, after) {
  let [old, fresh] = [hunk.old_start, hunk.new_start];
  for (const line of hunk.lines) {
    rows.push({ type: 'line', line, index, old: line.side === '+' ? null : old, fresh: line.side === '-' ? null : fresh });
    for (const comment of after.get(line) ?? []) rows.push({ type: 'comment', comment, index });
    if (line.side !== '+') old++;
    if (line.side !== '-') fresh++;
  }
}

function sideBySide(hunk, index, rows, after) {
  let [old, fresh] = [hunk.old_start, hunk.new_start];
  let gone = [];
  let come = [];
  const flush = () => {
    for (let place = 0; place < Math.max(gone.length, come.length); place++) {
      rows.push({ type: 'pair', index, left: gone[place], right: come[place] });
      for (const comment of after.get(come[place]?.line) ?? []) rows.push({ type: 'comment', comment, index });
    }
    [gone, come] = [[], []];
  };
  for (const line of hunk.lines) {
    if (line.side === '-') gone.push({ line, number: old++ });
    else if (line.side === '+') come.push({ line, number: fresh++ });
    else {
      flush();
      rows.push({ type: 'pair', index, left: { line, number: old++ }, right: { line, number: fresh++ } });
      for (const comment of after.get(line) ?? []) rows.push({ type: 'comment', comment, index });
    }
  }
  flush();
}

/** A comment takes as many lines as its words do, about. */
const tall = ({ text, answers = [] }) => 44 + [text, ...answers.map((answer) => answer.text)].reduce((sum, words) => sum + 22 * words.split('\n').reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / 80)), 0), 0);
const height = (row) => (row.type === 'comment' ? tall(row.comment) : { file: HEAD, hunk: GAP, note: NOTE }[row.type] ?? LINE);
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

function Row({ row, acts, current }) {
  const say = (line, number) => number && acts.comment ? () => acts.comment(row.index, number, line.text) : undefined;
  switch (row.type) {
    case 'comment': return html`<${Comment} comment=${row.comment} />`;
    case 'line': return html`<div class=${`code-row ${TONES[row.line.side]}`}><span class="gutter">${row.old ?? ''}</span><span class="gutter is-fresh" onClick=${say(row.line, row.fresh)}>${row.fresh ?? ''}</span><span class="side">${row.line.side}</span><${Code} line=${row.line} /></div>`;
    case 'pair': return html`<div class="code-row is-pair">${[row.left, row.right].map((half, right) => html`<div class=${`half ${half ? TONES[half.line.side] : 'is-none'}`}><span class=${`gutter ${right ? 'is-fresh' : ''}`} onClick=${right && half ? say(half.line, half.number) : undefined}>${half?.number ?? ''}</span><span class="side">${half?.line.side ?? ''}</span>${half && html`<${Code} line=${half.line} />`}</div>`)}</div>`;
    case 'hunk': return html`<div class="hunk-row"><span>@@ −${row.hunk.old_start} +${row.hunk.new_start}</span> <span class="quiet">${row.hunk.section ?? ''}</span></div>`;
    case 'note': return html`<div class="note-row quiet">${row.text}</div>`;
    // The head of the file that is being read is stuck to the upper edge.
    default: return row.index === current ? html`<div class="file-head"></div>` : html`<${FileHead} file=${row.file} ...${acts} />`;
  }
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

/** All of it: the tree of files at the side, the differences in one scroll. */
export function Differences({ files, split, viewed, view, revert, focus, session, canComment }) {
  useComments();
  const [folded, setFolded] = useState(() => new Set(files.filter((file) => viewed.has(file.after_blob) && file.file !== focus).map((file) => file.file)));
  const [top, setTop] = useState(0);
  const control = useRef(null);
  const rows = useMemo(() => flatten(files, folded, split, comments.value), [files, folded, split, comments.value]);
  const heights = useMemo(() => (index) => height(rows[index]), [rows]);
  const heads = useMemo(() => rows.flatMap((row, index) => (row.type === 'file' ? [index] : [])), [rows]);
  const stops = useMemo(() => rows.flatMap((row, index) => (row.type === 'hunk' ? [index] : [])), [rows]);
  const fold = (name) => setFolded((before) => { const after = new Set(before); if (!after.delete(name)) after.add(name); return after; });
  const mark = (file) => {
    const isRead = !viewed.has(file.after_blob);
    setFolded((before) => { const after = new Set(before); if (isRead) after.add(file.file); else after.delete(file.file); return after; });
    view(file, isRead);
  };
  const comment = canComment ? (index, line, code) => write({ file: files[index].file, line, code, session }) : undefined;
  const acts = { folded, fold, viewed, view: mark, revert, comment };
  const current = rows[top]?.index ?? 0;
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
    revert && ['r', 'take this file back', () => files[current] && revert(files[current].file)],
  ], [rows, current, viewed, files]);
  const columns = useMemo(() => (split ? Math.min(400, rows.reduce((most, row) => Math.max(most, row.left?.line.text.length ?? 0, row.right?.line.text.length ?? 0), 0)) : 0), [rows, split]);
  const row = useMemo(() => (index) => html`<${Row} row=${rows[index]} acts=${acts} current=${current} />`, [rows, folded, viewed, current]);
  const read = files.filter((file) => viewed.has(file.after_blob)).length;
  return html`<div class="diff" style=${{ '--columns': columns }}>
    <nav class="tree" aria-label="Files"><p class="quiet">${read} of ${plural(files.length, 'file')} viewed</p><progress max=${files.length} value=${read} aria-label="Viewed"></progress>
      <${Tree} files=${files} current=${current} viewed=${viewed} show=${(index) => show(heads[index])} /></nav>
    <${List} count=${rows.length} height=${heights} control=${control} label="Differences" wide=${true} onTop=${setTop}
      header=${files[current] && html`<div class="stuck"><${FileHead} file=${files[current]} ...${acts} current /></div>`}
      row=${row} />
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

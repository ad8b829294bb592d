// What a page of differences is made of, row by row: pure, from the answer of the server and what the person chose to see.
import { plural } from './words.js';

export const LINE = 20;
const HEIGHTS = { file: 44, hunk: 28, gap: 28, note: 36 };
/** Lines that one press shows more of. */
export const MORE = 20;

/** Which hunk each line of a passage is of, and which of its lines: `[id, number]`. */
function names(passage) {
  const found = new Array(passage.lines.length);
  for (const { id, at, lines } of passage.hunks ?? []) for (let line = 0; line < lines; line++) found[at + line] = [id, line + 1];
  return found;
}

/** Chosen lines as the server takes them: `id` when all of a hunk are, `id:2-3,7` otherwise. */
export function spelled(files, chosen) {
  const sizes = new Map(files.flatMap((file) => file.hunks ?? []).flatMap((passage) => passage.hunks ?? []).map(({ id, lines }) => [id, lines]));
  const of = new Map();
  for (const key of chosen) {
    const [id, line] = key.split(':');
    of.set(id, [...(of.get(id) ?? []), Number(line)]);
  }
  return [...of].map(([id, lines]) => {
    if (lines.length === sizes.get(id)) return id;
    const ranges = [];
    for (const line of lines.sort((one, other) => one - other)) {
      const last = ranges.at(-1);
      if (last && last[1] === line - 1) last[1] = line;
      else ranges.push([line, line]);
    }
    return `${id}:${ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',')}`;
  });
}

/** Where the lines of a passage end, on both sides. */
function ends({ old_start, new_start, lines }) {
  let [old, fresh] = [old_start, new_start];
  for (const { side } of lines) {
    if (side !== '+') old++;
    if (side !== '-') fresh++;
  }
  return [old, fresh];
}

/** The passages of a file, each with how many lines lie unseen before it; and those after the last. */
function gaps(file) {
  const passages = file.hunks ?? [];
  const isWhole = file.status === 'added' || file.status === 'deleted';
  let fresh = 1;
  const before = passages.map((passage) => {
    const count = isWhole ? 0 : Math.max(0, passage.new_start - fresh);
    const gap = { first: fresh, count, shift: passage.old_start - passage.new_start };
    fresh = ends(passage)[1];
    return gap;
  });
  const last = passages.at(-1);
  const shift = last ? ends(last)[0] - ends(last)[1] : 0;
  const count = isWhole || file.lines_left_out || !last ? 0 : Math.max(0, (file.after_lines ?? 0) - fresh + 1);
  return [...before, { first: fresh, count, shift }];
}

/**
 * What is drawn: heads of files, heads of hunks, lines; of a file that is folded only its head. `opened` holds, for a file, the
 * lines around its hunks and how many of each gap are shown: `{ lines, shown: [[head, tail]] }`.
 */
export function flatten(files, { folded, split, said = [], opened = new Map() }) {
  const rows = [];
  const after = said.length ? places(files, said) : new Map();
  files.forEach((file, index) => {
    rows.push({ type: 'file', file, index });
    if (folded.has(file.file)) return;
    if (file.binary || file.cut || !file.hunks?.length) rows.push({ type: 'note', text: note(file), index });
    const isSplit = split && file.status !== 'added' && file.status !== 'deleted';
    const draw = isSplit ? sideBySide : unified;
    const unseen = gaps(file);
    const more = opened.get(file.file);
    const around = (place, first, count) => {
      const { shift } = unseen[place];
      const lines = more.lines.slice(first - 1, first - 1 + count);
      draw({ old_start: first + shift, new_start: first, lines }, index, rows, after);
    };
    (file.hunks ?? []).forEach((hunk, place) => {
      const gap = unseen[place];
      const [head, tail] = more?.shown[place] ?? [0, 0];
      const left = gap.count - head - tail;
      if (head) around(place, gap.first, head);
      rows.push({ type: 'hunk', hunk, index, place, hidden: left });
      if (tail) around(place, gap.first + gap.count - tail, tail);
      draw(hunk, index, rows, after);
    });
    const place = unseen.length - 1;
    const [head] = more?.shown[place] ?? [0, 0];
    if (head) around(place, unseen[place].first, head);
    if (unseen[place].count > head) rows.push({ type: 'gap', index, place, hidden: unseen[place].count - head });
    if (file.lines_left_out) rows.push({ type: 'note', text: `${plural(file.lines_left_out, 'line')} more; \`backsight diff\` shows them`, index });
  });
  return rows;
}

/** More of a gap: at its head (`down`), at its tail (`up`), or all of it. */
export function widen(file, shown, place, direction) {
  const { count } = gaps(file)[place];
  const [head, tail] = shown[place] ?? [0, 0];
  const left = count - head - tail;
  const next = [...shown];
  if (direction === 'all') next[place] = [head + left, tail];
  else if (direction === 'down') next[place] = [head + Math.min(MORE, left), tail];
  else next[place] = [head, tail + Math.min(MORE, left)];
  return next;
}

/** The unchanged lines of a file by their numbers after the change, from an answer with all lines in one passage. */
export function wholeLines(file) {
  const lines = [];
  let fresh = file.hunks[0].new_start;
  for (const line of file.hunks.flatMap((passage) => passage.lines)) {
    if (line.side !== '-') lines[fresh++ - 1] = { ...line, side: ' ', words: [] };
  }
  return lines;
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
  const of = names(hunk);
  hunk.lines.forEach((line, at) => {
    rows.push({ type: 'line', line, index, of: of[at], old: line.side === '+' ? null : old, fresh: line.side === '-' ? null : fresh });
    for (const comment of after.get(line) ?? []) rows.push({ type: 'comment', comment, index });
    if (line.side !== '+') old++;
    if (line.side !== '-') fresh++;
  });
}

function sideBySide(hunk, index, rows, after) {
  let [old, fresh] = [hunk.old_start, hunk.new_start];
  let gone = [];
  let come = [];
  const of = names(hunk);
  const flush = () => {
    for (let place = 0; place < Math.max(gone.length, come.length); place++) {
      rows.push({ type: 'pair', index, left: gone[place], right: come[place] });
      for (const comment of after.get(come[place]?.line) ?? []) rows.push({ type: 'comment', comment, index });
    }
    [gone, come] = [[], []];
  };
  hunk.lines.forEach((line, at) => {
    if (line.side === '-') gone.push({ line, number: old++, of: of[at] });
    else if (line.side === '+') come.push({ line, number: fresh++, of: of[at] });
    else {
      flush();
      rows.push({ type: 'pair', index, left: { line, number: old++ }, right: { line, number: fresh++ } });
      for (const comment of after.get(line) ?? []) rows.push({ type: 'comment', comment, index });
    }
  });
  flush();
}

/** A comment takes as many lines as its words do, about. */
const tall = ({ text, answers = [] }) => 44 + [text, ...answers.map((answer) => answer.text)].reduce((sum, words) => sum + 22 * words.split('\n').reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / 80)), 0), 0);

/** How many cells of a line a text takes: tabs go to the next of every four, wide letters take two. */
function cells(text) {
  // Most lines are plain.
  if (!/[^\x20-\x7e]/.test(text)) return text.length;
  let count = 0;
  for (const letter of text) {
    if (letter === '\t') count += 4 - (count % 4);
    else count += letter.codePointAt(0) >= 0x1100 && /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(letter) ? 2 : 1;
  }
  return count;
}

/** How tall a row is; `columns` is how many cells a line has when long ones wrap, nothing when they do not. */
export function height(row, columns) {
  const lines = (line) => (line && columns ? Math.max(1, Math.ceil((cells(line.text) + (line.cut ? 26 : 0) + (line.no_newline ? 2 : 0)) / columns)) : 1);
  switch (row.type) {
    case 'comment': return tall(row.comment);
    case 'line': return LINE * lines(row.line);
    case 'pair': return LINE * Math.max(lines(row.left?.line), lines(row.right?.line));
    default: return HEIGHTS[row.type];
  }
}

// What a page of differences is made of, row by row: pure, from the answer of the server and what the person chose to see. The
// rows are tables of numbers; a row becomes an object when it is drawn.
import { COME, GONE } from './lines.js';
import { plural } from './words.js';

export const LINE = 20;
const TYPES = ['file', 'hunk', 'gap', 'note', 'comment', 'line', 'pair'];
const [FILE, HUNK, GAP, NOTE, COMMENT, SINGLE, PAIR] = TYPES.keys();
const HEIGHTS = [44, 28, 28, 36, 0, LINE, LINE];
/** Lines that one press shows more of. */
export const MORE = 20;

/** Chosen lines as the server takes them: `id` when all of a hunk are, `id:2-3,7` otherwise. */
export function spelled({ runs }, chosen) {
  const sizes = new Map(runs.slice(1).map(({ id, lines }) => [id, lines]));
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

/** The number after a passage's last line, after the change. */
function behind({ sides }, { new_start, lines: { first, count } }) {
  let fresh = new_start;
  for (let index = first; index < first + count; index++) if (sides[index] !== GONE) fresh++;
  return fresh;
}

/** The passages of a file, each with how many lines lie unseen before it; and those after the last. */
function gaps(file, lines) {
  const passages = file.hunks ?? [];
  const isWhole = file.status === 'added' || file.status === 'deleted';
  let fresh = 1;
  const before = passages.map((passage) => {
    const gap = { first: fresh, count: isWhole ? 0 : Math.max(0, passage.new_start - fresh) };
    fresh = behind(lines, passage);
    return gap;
  });
  const isKnown = !isWhole && !file.lines_left_out && passages.length > 0;
  return [...before, { first: fresh, count: isKnown ? Math.max(0, (file.after_lines ?? 0) - fresh + 1) : 0 }];
}

/** More of a gap: at its head (`down`), at its tail (`up`), or all of it. */
export function widen(file, lines, shown, place, direction) {
  const { count } = gaps(file, lines)[place];
  const [head, tail] = shown[place] ?? [0, 0];
  const left = count - head - tail;
  const next = [...shown];
  if (direction === 'all') next[place] = [head + left, tail];
  else if (direction === 'down') next[place] = [head + Math.min(MORE, left), tail];
  else next[place] = [head, tail + Math.min(MORE, left)];
  return next;
}

/** The lines of a file that are there after the change, by their numbers, of an answer with all lines of the file. */
export function wholeLines({ lines }) {
  const places = new Uint32Array(lines.count + 1);
  for (let index = 0; index < lines.count; index++) if (lines.sides[index] !== GONE) places[lines.fresh[index]] = index;
  return { lines, places };
}

/** Below which line each comment stands, the nearest that reads as it did: comments by the line's index. */
function places(files, lines, said) {
  const found = new Map();
  for (const comment of said) {
    const file = files.find((file) => file.file === comment.file);
    let [best, nearest] = [-1, Infinity];
    for (const { lines: { first, count } } of file?.hunks ?? []) {
      for (let index = first; index < first + count; index++) {
        const distance = Math.abs(lines.fresh[index] - comment.line);
        if (lines.sides[index] !== GONE && distance < nearest && lines.reads(index, comment.code)) [best, nearest] = [index, distance];
      }
    }
    if (best >= 0) found.set(best, [...(found.get(best) ?? []), comment]);
  }
  return found;
}

function note(file) {
  if (file.binary) return 'Bytes that are no text';
  if (file.cut) return `Not compared: ${file.cut}`;
  return { renamed: 'Moved, with the same content', mode_changed: 'Only its permissions changed', added: 'An empty file', deleted: 'It was empty' }[file.status] ?? 'No line changed';
}

/**
 * What is drawn: heads of files, heads of hunks, lines; of a file that is folded only its head. `opened` holds, for a file, all
 * its lines and how many of each gap are shown: `{ lines, places, shown: [[head, tail]] }`.
 */
export function flatten(files, lines, { folded, split, said = [], opened = new Map() }) {
  const rows = new Rows(files, lines, [...opened.values()].map((more) => more.lines));
  const after = said.length ? places(files, lines, said) : new Map();
  files.forEach((file, index) => {
    rows.push(FILE, index);
    if (folded.has(file.file)) return;
    if (file.binary || file.cut || !file.hunks?.length) rows.push(NOTE, index, rows.keep(note(file)));
    const draw = split && file.status !== 'added' && file.status !== 'deleted' ? pairs : singles;
    const unseen = gaps(file, lines);
    const more = opened.get(file.file);
    const around = (first, count) => { if (count) draw(rows, index, rows.source(more.lines), more.places[first], count); };
    (file.hunks ?? []).forEach((passage, place) => {
      const gap = unseen[place];
      const [head, tail] = more?.shown[place] ?? [0, 0];
      around(gap.first, head);
      rows.push(HUNK, index, place, gap.count - head - tail);
      around(gap.first + gap.count - tail, tail);
      draw(rows, index, 0, passage.lines.first, passage.lines.count, after);
    });
    const place = unseen.length - 1;
    const [head] = more?.shown[place] ?? [0, 0];
    around(unseen[place].first, head);
    if (unseen[place].count > head) rows.push(GAP, index, place, unseen[place].count - head);
    if (file.lines_left_out) rows.push(NOTE, index, rows.keep(`${plural(file.lines_left_out, 'line')} more; \`backsight diff\` shows them`));
  });
  return rows;
}

const NONE = new Map();

/** Lines one below the other. */
function singles(rows, file, source, first, count, after = NONE) {
  for (let index = first; index < first + count; index++) {
    rows.push(SINGLE, file, index, -1, source);
    for (const comment of after.get(index) ?? []) rows.push(COMMENT, file, rows.keep(comment));
  }
}

/** What went beside what came. */
function pairs(rows, file, source, first, count, after = NONE) {
  const { sides } = rows.sources[source];
  const end = first + count;
  const push = (left, right) => {
    rows.push(PAIR, file, left, right, source);
    for (const comment of after.get(right) ?? []) rows.push(COMMENT, file, rows.keep(comment));
  };
  for (let index = first; index < end;) {
    const gone = index;
    while (index < end && sides[index] === GONE) index++;
    const come = index;
    while (index < end && sides[index] === COME) index++;
    for (let place = 0; place < Math.max(come - gone, index - come); place++) push(gone + place < come ? gone + place : -1, come + place < index ? come + place : -1);
    if (index < end && sides[index] !== GONE) push(index, index++);
  }
}

/** A comment takes as many lines as its words do, about. */
const tall = ({ text, answers = [] }) => 44 + [text, ...answers.map((answer) => answer.text)].reduce((sum, words) => sum + 22 * words.split('\n').reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / 80)), 0), 0);

class Rows {
  constructor(files, lines, others) {
    Object.assign(this, { files, sources: [lines, ...others], count: 0, kept: [], heads: [], stops: [] });
    this.room(1024);
  }

  /** Tables for so many rows: their types, files, what they show, and of which source the lines are. */
  room(most) {
    const grown = (before, after) => { if (before) after.set(before); return after; };
    this.types = grown(this.types, new Uint8Array(most));
    this.of = grown(this.of, new Uint32Array(most));
    this.one = grown(this.one, new Int32Array(most));
    this.other = grown(this.other, new Int32Array(most));
    this.from = grown(this.from, new Uint16Array(most));
  }

  push(type, file, one = 0, other = 0, source = 0) {
    const at = this.count++;
    if (at === this.types.length) this.room(2 * at);
    this.types[at] = type;
    this.of[at] = file;
    this.one[at] = one;
    this.other[at] = other;
    this.from[at] = source;
    if (type === FILE) this.heads.push(at);
    if (type === HUNK) this.stops.push(at);
  }

  keep = (thing) => this.kept.push(thing) - 1;
  source = (lines) => this.sources.indexOf(lines);
  type = (at) => TYPES[this.types[at]];
  isCode = (at) => this.types[at] >= SINGLE;
  /** Which file a row is of. */
  file = (at) => this.of[at] ?? 0;

  /** A row as it is drawn. */
  at(at) {
    const [type, index, one, other] = [this.type(at), this.of[at], this.one[at], this.other[at]];
    const file = this.files[index];
    const lines = this.sources[this.from[at]];
    const half = (place, numbers) => (place < 0 ? undefined : { line: lines.at(place), number: numbers[place], of: lines.name(place) });
    switch (type) {
      case 'file': return { type, index, file };
      case 'hunk': return { type, index, place: one, hunk: file.hunks[one], hidden: other };
      case 'gap': return { type, index, place: one, hidden: other };
      case 'note': return { type, index, text: this.kept[one] };
      case 'comment': return { type, index, comment: this.kept[one] };
      case 'line': return { type, index, line: lines.at(one), of: lines.name(one), old: lines.old[one] || null, fresh: lines.fresh[one] || null };
      default: return { type, index, left: half(one, lines.old), right: half(other, lines.fresh) };
    }
  }

  /** The lines of a row that can be taken back by themselves, as `id:number`. */
  names(at) {
    if (this.types[at] < SINGLE) return [];
    const lines = this.sources[this.from[at]];
    const both = this.types[at] === PAIR && this.other[at] !== this.one[at] ? [this.one[at], this.other[at]] : [this.one[at]];
    return both.map((place) => (place < 0 ? undefined : lines.name(place)?.join(':'))).filter(Boolean);
  }

  /** The line of a row that is there after the change, by its index: the first such row from a place on, only one that came when `came`. */
  next(from, came) {
    for (let at = from; at < this.count; at++) {
      const place = this.types[at] === SINGLE ? this.one[at] : this.types[at] === PAIR ? this.other[at] : -1;
      const lines = this.sources[this.from[at]];
      if (place >= 0 && lines.fresh[place] && (!came || lines.sides[place] === COME)) return { index: this.of[at], line: lines.fresh[place], code: lines.at(place).text };
    }
    return undefined;
  }

  /** How tall a row is; `columns` is how many cells a line has when long ones wrap, nothing when they do not. */
  height(at, columns) {
    const type = this.types[at];
    if (type === COMMENT) return tall(this.kept[this.one[at]]);
    if (type < SINGLE || !columns) return HEIGHTS[type];
    const cells = this.sources[this.from[at]].cells();
    const lines = (place) => (place < 0 ? 1 : Math.max(1, Math.ceil(cells[place] / columns)));
    return LINE * Math.max(lines(this.one[at]), lines(type === PAIR ? this.other[at] : -1));
  }
}

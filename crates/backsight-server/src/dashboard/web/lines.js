// The lines of differences as the server sent them: one text, and tables that say where each line is in it. A line becomes an
// object when it is drawn and not before. Tens of thousands of objects with lists of their parts would be work for the
// browser's garbage collector whenever it runs, and it runs while a person scrolls.

/** How every line begins. No text holds this: a quote in a text has a backslash before it. */
const BEGIN = '{"side":"';
const LIST = '"lines":[';
/** From the beginning of a line to the quote that opens its text. */
const TEXT = `${BEGIN}+","text":`.length;

export const [SAME, GONE, COME] = [' ', '-', '+'].map((side) => side.charCodeAt(0));

/** An answer of the server with differences: as it is, but for the lines of its passages, which are `{ first, count }` of `lines`. */
export function readLines(text) {
  const lines = new Lines(text, countOf(text));
  let [skeleton, from, count] = ['', 0, 0];
  for (let at = text.indexOf(LIST + BEGIN); at >= 0; at = text.indexOf(LIST + BEGIN, from)) {
    const first = count;
    let begin = at + LIST.length;
    for (;;) {
      const end = lines.place(count++, begin);
      begin = end + 1;
      if (text[end] !== ',') break;
    }
    skeleton += `${text.slice(from, at)}"lines":{"first":${first},"count":${count - first}}`;
    from = begin;
  }
  const answer = JSON.parse(skeleton + text.slice(from));
  for (const file of answer.files ?? []) for (const passage of file.hunks ?? []) lines.number(passage);
  return { ...answer, lines };
}

function countOf(text) {
  let count = 0;
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at + BEGIN.length)) count++;
  return count;
}

/** Where the text that a quote opens ends: at the next quote that has no backslash, or an even number of them, before it. */
function closing(text, quote) {
  for (let at = text.indexOf('"', quote + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return at;
  }
  throw new SyntaxError('a line of the answer does not end');
}

/** All lines of an answer, by their places in it. */
class Lines {
  constructor(text, count) {
    this.text = text;
    this.count = count;
    this.begins = new Uint32Array(count);
    this.ends = new Uint32Array(count);
    /** `SAME`, `GONE` or `COME`. */
    this.sides = new Uint8Array(count);
    /** The numbers before and after, for those that have them. */
    this.old = new Uint32Array(count);
    this.fresh = new Uint32Array(count);
    /** Which of `runs` a line is in, and which of its lines; zero is none. */
    this.run = new Uint32Array(count);
    this.within = new Uint32Array(count);
    /** Runs of changed lines that can be taken back by themselves. */
    this.runs = [null];
    this.widths = null;
  }

  /** Takes note of a line; where it ends. */
  place(index, begin) {
    const end = this.text.indexOf('}', closing(this.text, begin + TEXT)) + 1;
    this.begins[index] = begin;
    this.ends[index] = end;
    this.sides[index] = this.text.charCodeAt(begin + BEGIN.length);
    return end;
  }

  /** Counts the lines of a passage, and names the runs in it. */
  number({ old_start, new_start, lines: { first, count }, hunks = [] }) {
    let [old, fresh] = [old_start, new_start];
    for (let index = first; index < first + count; index++) {
      if (this.sides[index] !== COME) this.old[index] = old++;
      if (this.sides[index] !== GONE) this.fresh[index] = fresh++;
    }
    for (const run of hunks) {
      const number = this.runs.push(run) - 1;
      for (let line = 0; line < run.lines; line++) {
        this.run[first + run.at + line] = number;
        this.within[first + run.at + line] = line + 1;
      }
    }
  }

  /** One line: `{ side, text, parts, words, cut, no_newline }`. */
  at = (index) => JSON.parse(this.text.slice(this.begins[index], this.ends[index]));

  /** How a line that can be taken back by itself is called: `[run, number]`. */
  name = (index) => (this.run[index] ? [this.runs[this.run[index]].id, this.within[index]] : undefined);

  /** Whether a line reads so. */
  reads = (index, code) => this.text.startsWith(JSON.stringify(code), this.begins[index] + TEXT);

  /** How many cells each line takes; counted when it is first asked for. */
  cells() {
    if (!this.widths) {
      this.widths = new Uint32Array(this.count);
      for (let index = 0; index < this.count; index++) this.widths[index] = this.wide(index);
    }
    return this.widths;
  }

  wide(index) {
    const quote = this.begins[index] + TEXT;
    const close = closing(this.text, quote);
    const [text, rest] = [this.text.slice(quote + 1, close), this.text.slice(close, this.ends[index])];
    // Most lines are plain.
    if (!/[^\x20-\x7e]|\\/.test(text) && !/cut|no_newline/.test(rest)) return text.length;
    const line = this.at(index);
    return cells(line.text) + (line.cut ? 26 : 0) + (line.no_newline ? 2 : 0);
  }
}

/** How many cells of a line a text takes: tabs go to the next of every four, wide letters take two. */
function cells(text) {
  let count = 0;
  for (const letter of text) {
    if (letter === '\t') count += 4 - (count % 4);
    else count += letter.codePointAt(0) >= 0x1100 && /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(letter) ? 2 : 1;
  }
  return count;
}

// Lines of code on the screen. The elements stay and show other lines when a person scrolls: making thousands of them in a
// second, and throwing as many away, is what the browser's garbage collector stops a page for.

const PARTS = ['', 'part-comment', 'part-text', 'part-number', 'part-keyword', 'part-type', 'part-call', 'part-field'];
const WORDS = PARTS.map((name) => `${name} word`.trim());
const TONES = { '+': 'is-plus', '-': 'is-minus', ' ': '' };

/** Calls `take(text, name)` for each piece of a line: it is cut where a part of the language or a changed word begins or ends. */
export function eachPiece({ text, parts = [], words = [] }, take) {
  let [at, part, word] = [0, 0, 0];
  while (at < text.length) {
    while (part < parts.length && parts[part] + parts[part + 1] <= at) part += 3;
    while (word < words.length && words[word] + words[word + 1] <= at) word += 2;
    const [isPart, isWord] = [part < parts.length && parts[part] <= at, word < words.length && words[word] <= at];
    let end = text.length;
    if (part < parts.length) end = Math.min(end, isPart ? parts[part] + parts[part + 1] : parts[part]);
    if (word < words.length) end = Math.min(end, isWord ? words[word] + words[word + 1] : words[word]);
    take(text.slice(at, end), (isWord ? WORDS : PARTS)[isPart ? parts[part + 2] : 0]);
    at = end;
  }
}

const make = (tag, name) => { const element = document.createElement(tag); element.className = name; return element; };

/** Characters that steer, change the order of reading or cannot be seen, but for tabs. */
const UNSEEN = /(?!\t)[\p{Cc}\p{Cf}\u2028\u2029\u115f\u1160\u3164\uffa0\u2800]/gu;

/** A line of a file as a person must see it: `<U+202E>`. */
const visible = (text) => text.replace(UNSEEN, (character) => `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}>`);

/** Puts a text into an element that holds nothing else. */
function write(element, text) {
  if (!element.firstChild) element.append(text);
  else if (element.firstChild.data !== text) element.firstChild.data = text;
}

function call(element, name) {
  if (element.className !== name) element.className = name;
}

/** Draws the pieces of a line; those that an earlier line needed and this one does not are empty. */
function pieces(code, line) {
  let next = code.firstChild;
  const take = (text, name) => {
    const piece = next ?? code.appendChild(make('span', name));
    next = piece.nextSibling;
    call(piece, name);
    write(piece, visible(text));
  };
  eachPiece(line, take);
  if (line.cut) take(` … ${line.cut} more characters`, 'quiet');
  if (line.no_newline) take(' ⏎̸', 'quiet no-newline');
  for (; next && next.className + next.textContent; next = next.nextSibling) {
    call(next, '');
    write(next, '');
  }
}

/** The sign of a line; one that can be taken back by itself is chosen with it. */
function sign(element, side, canPick, isChosen) {
  write(element, side);
  call(element, canPick ? 'side pick' : 'side');
  if (!canPick) return ['role', 'aria-pressed', 'aria-label', 'title'].forEach((name) => element.removeAttribute(name));
  element.setAttribute('role', 'button');
  element.setAttribute('aria-pressed', isChosen);
  element.setAttribute('aria-label', `${isChosen ? 'Leave out' : 'Choose'} this line`);
  element.title = 'Choose this line; with Shift all up to it';
}

/** What a line is drawn with: a mark for its author, so many numbers, its sign and its code. */
function framed(box, gutters) {
  const numbers = gutters.map((name) => make('span', name));
  numbers.at(-1).title = gutters.at(-1).includes('is-fresh') ? 'Comment on this line' : '';
  box.append(make('i', ''), ...numbers, make('span', 'side'), make('code', 'code'));
  return box;
}

/** One line, or nothing beside one: `{ line, of, numbers, by }`. */
function draw(box, name, half, { chosen, pick }) {
  const isChosen = Boolean(half?.of && chosen.has(half.of.join(':')));
  call(box, `${name} ${half ? TONES[half.line.side] : 'is-none'} ${isChosen ? 'is-picked' : ''}`.trim());
  const by = box.firstChild;
  call(by, half?.by ? `by ${half.by.tone}` : '');
  if (by.title !== (half?.by?.text ?? '')) by.title = half?.by?.text ?? '';
  let element = by.nextSibling;
  for (let number = 0; element.nextSibling.nextSibling; element = element.nextSibling) write(element, `${half?.numbers[number++] ?? ''}`);
  sign(element, half?.line.side ?? '', Boolean(half?.of && pick), isChosen);
  pieces(element.nextSibling, half?.line ?? { text: '' });
}

/** Draws a row of one line or two into an element, which may show another one. */
export function drawCode(place, row, acts) {
  const isPair = row.type === 'pair';
  let box = place.firstChild;
  if (!box || box.classList.contains('is-pair') !== isPair) {
    box = isPair ? make('div', 'code-row is-pair') : framed(make('div', 'code-row'), ['gutter', 'gutter is-fresh']);
    if (isPair) box.append(framed(make('div', 'half'), ['gutter']), framed(make('div', 'half'), ['gutter is-fresh']));
    place.replaceChildren(box);
  }
  const by = (number) => (number ? acts.by?.(row.index, number) : undefined);
  if (!isPair) return draw(box, 'code-row', { line: row.line, of: row.of, numbers: [row.old, row.fresh], by: by(row.fresh) }, acts);
  const { left, right } = row;
  draw(box.firstChild, 'half', left && { ...left, numbers: [left.number] }, acts);
  draw(box.lastChild, 'half', right && { ...right, numbers: [right.number], by: by(right.number) }, acts);
}

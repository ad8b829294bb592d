// A long list of which only what is seen exists. Rows have known heights, so that the place of each is arithmetic.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from './vendor.js';
import { html } from './parts.js';

/** Rows beyond the edges that exist all the same. */
const BEYOND = 12;
/** Where each row begins; one more than there are rows. */
export function offsets(count, height) {
  const found = new Float64Array(count + 1);
  for (let index = 0; index < count; index++) found[index + 1] = found[index] + (typeof height === 'number' ? height : height(index));
  return found;
}

/** The row at a place. */
export function at(tops, place) {
  let [low, high] = [0, tops.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle] <= place) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** A row that draws itself into its element, `paint(element, index)`, and into the same one again when it becomes another row. */
function Painted({ index, name, style, paint }) {
  const element = useRef(null);
  useLayoutEffect(() => paint(element.current, index), [index, paint]);
  return html`<div ref=${element} class=${name} style=${style} data-at=${index}></div>`;
}

/** Which element each row in view has, by number. Rows that stay in view keep theirs; those that come take the elements of
 * those that went, in the order in which they stand. */
function seat(before, first, last) {
  const isSeen = ([index]) => index >= first && index < last;
  const free = [...before].filter((one) => !isSeen(one)).map(([, element]) => element);
  let next = Math.max(-1, ...before.values()) + 1;
  const after = new Map();
  for (let index = first; index < last; index++) after.set(index, before.get(index) ?? free.shift() ?? next++);
  return after;
}

/**
 * Shows `count` rows of `height` (a number, or by row): with `row(index)`, or with `paint(element, index)` those that
 * `isPainted(index)`. `kind(index)` names a row's kind for the style sheet. `onTop` is told the first row that is seen;
 * `control.current.show(index)` brings a row into view; so that row `end` can come to the upper edge too, there is room behind all.
 */
export function List({ count, height, row, kind, paint, isPainted, onTop, onClick, control, label, role, selected, onKey, end, wide = false, header = null }) {
  const tops = useMemo(() => offsets(count, height), [count, height]);
  const scroller = useRef(null);
  const [range, setRange] = useState([0, 60]);
  const waiting = useRef(0);
  const seats = useRef(new Map());

  const measure = () => {
    waiting.current = 0;
    const box = scroller.current;
    if (!box) return;
    // Only when it is another: each time the styles of every row are found again.
    if (wide) for (const [name, value] of [['--seen', `${box.clientWidth}px`], ['--tall', `${box.clientHeight}px`], ['--sideways', `${box.scrollLeft}px`]]) if (box.style.getPropertyValue(name) !== value) box.style.setProperty(name, value);
    const first = at(tops, box.scrollTop);
    const last = at(tops, box.scrollTop + box.clientHeight);
    const next = [Math.max(0, first - BEYOND), Math.min(count, last + 1 + BEYOND)];
    setRange((before) => (before[0] === next[0] && before[1] === next[1] ? before : next));
    onTop?.(first);
  };
  const soon = () => { waiting.current ||= requestAnimationFrame(measure); };
  useLayoutEffect(measure, [tops]);
  useEffect(() => {
    const watcher = new ResizeObserver(soon);
    watcher.observe(scroller.current);
    return () => { watcher.disconnect(); cancelAnimationFrame(waiting.current); waiting.current = 0; };
  }, [tops]);

  if (control) {
    control.current = {
      show(index, place = 'near') {
        const box = scroller.current;
        if (!box || index < 0 || index >= count) return;
        const [begin, end] = [tops[index], tops[index + 1]];
        if (place === 'top') box.scrollTop = begin;
        else if (begin < box.scrollTop) box.scrollTop = Math.max(0, begin - 60);
        else if (end > box.scrollTop + box.clientHeight) box.scrollTop = end - box.clientHeight + 60;
        measure();
      },
      focus: () => scroller.current?.focus({ preventScroll: true }),
      first: () => at(tops, scroller.current?.scrollTop ?? 0),
    };
  }

  const [first, last] = [Math.min(range[0], count), Math.min(range[1], count)];
  seats.current = seat(seats.current, first, last);
  // A row that was drawn and has not changed is not drawn again: only what comes into view costs anything.
  const drawn = useMemo(() => new Map(), [row, paint, tops]);
  for (const index of drawn.keys()) if (index < first || index >= last) drawn.delete(index);
  const draw = (index) => {
    const element = seats.current.get(index);
    const name = kind ? `row-place of-${kind(index)}` : 'row-place';
    const style = { top: `${tops[index]}px`, height: `${tops[index + 1] - tops[index]}px` };
    if (isPainted?.(index)) return html`<${Painted} key=${`painted ${element}`} index=${index} name=${name} style=${style} paint=${paint} />`;
    return html`<div key=${element} class=${name} role=${role === 'listbox' ? 'presentation' : undefined} style=${style}>${row(index)}</div>`;
  };
  const rows = [];
  for (let index = first; index < last; index++) {
    if (!drawn.has(index)) drawn.set(index, draw(index));
    rows.push(drawn.get(index));
  }
  return html`<div ref=${scroller} class=${`list ${wide ? 'is-wide' : ''}`} tabIndex="0" role=${role ?? 'region'} aria-label=${label}
    aria-activedescendant=${role === 'listbox' && selected >= first && selected < last ? `row-${selected}` : undefined} onScroll=${soon} onKeyDown=${onKey} onClick=${onClick}>
    ${header}
    <div class="list-room" role=${role === 'listbox' ? 'presentation' : undefined} style=${{ height: end === undefined ? `${tops[count]}px` : `calc(${tops[count]}px + max(0px, var(--tall, 0px) - ${tops[count] - tops[end]}px))` }}>${rows}</div>
  </div>`;
}

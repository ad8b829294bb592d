// A long list of which only what is seen exists. Rows have known heights, so that the place of each is arithmetic.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from './vendor.js';
import { html } from './parts.js';

/** Rows beyond the edges that exist all the same. */
const BEYOND = 12;
/** Rows that one frame draws with all they have. The others are there at once without what only a reader needs, and get it
 * in the frames that follow: no frame takes long, however far a person scrolls. */
const WHOLE = 12;

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

/**
 * Shows `count` rows of `height` (a number, or by row) with `row(index, rough)`. `kind(index)` names its kind for the style sheet. `top` is told the first row that is seen;
 * `control.current.show(index)` brings a row into view.
 */
export function List({ count, height, row, kind, onTop, control, label, role, selected, onKey, wide = false, header = null }) {
  const tops = useMemo(() => offsets(count, height), [count, height]);
  const scroller = useRef(null);
  const [range, setRange] = useState([0, 60]);
  const waiting = useRef(0);
  const [, drawAgain] = useState(0);

  const measure = () => {
    waiting.current = 0;
    const box = scroller.current;
    if (!box) return;
    // Only when it is another: each time the styles of every row are found again.
    if (wide) for (const [name, value] of [['--seen', `${box.clientWidth}px`], ['--sideways', `${box.scrollLeft}px`]]) if (box.style.getPropertyValue(name) !== value) box.style.setProperty(name, value);
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
  // A row that was drawn and has not changed is not drawn again: only what comes into view costs anything.
  const drawn = useMemo(() => new Map(), [row, tops]);
  for (const index of drawn.keys()) if (index < first || index >= last) drawn.delete(index);
  let [left, isRough] = [WHOLE, false];
  const draw = (index) => {
    const known = drawn.get(index);
    if (!known || (known.rough && left > 0)) {
      const rough = left-- <= 0;
      const fresh = html`<div key=${index} class=${kind ? `row-place of-${kind(index)}` : 'row-place'} role=${role === 'listbox' ? 'presentation' : undefined} style=${{ top: `${tops[index]}px`, height: `${tops[index + 1] - tops[index]}px` }}>${row(index, rough)}</div>`;
      fresh.rough = rough;
      drawn.set(index, fresh);
    }
    isRough ||= drawn.get(index).rough;
  };
  // What is seen comes before what is beyond the upper edge.
  const seen = Math.min(first === 0 ? 0 : first + BEYOND, last);
  for (let index = seen; index < last; index++) draw(index);
  for (let index = first; index < seen; index++) draw(index);
  const rows = Array.from({ length: last - first }, (_, place) => drawn.get(first + place));
  useEffect(() => {
    if (!isRough) return undefined;
    const frame = requestAnimationFrame(() => drawAgain((count) => count + 1));
    return () => cancelAnimationFrame(frame);
  });
  return html`<div ref=${scroller} class=${`list ${wide ? 'is-wide' : ''}`} tabIndex="0" role=${role ?? 'region'} aria-label=${label}
    aria-activedescendant=${role === 'listbox' && selected >= first && selected < last ? `row-${selected}` : undefined} onScroll=${soon} onKeyDown=${onKey}>
    ${header}
    <div class="list-room" role=${role === 'listbox' ? 'presentation' : undefined} style=${{ height: `${tops[count]}px` }}>${rows}</div>
  </div>`;
}

// Small parts that several pages are made of.
import { h, htm, signal, useEffect, useRef, useState } from './vendor.js';
import { newest, root } from './api.js';
import { SEVERITY, ago, clock, exactly, hue, thousands } from './words.js';

export const html = htm.bind(h);

/** What is shown for a moment at the lower edge: `{ text, undo }`. */
export const toast = signal(null);
let clearing;
export function say(text, more = {}) {
  clearTimeout(clearing);
  toast.value = { text, ...more };
  clearing = setTimeout(() => (toast.value = null), more.lasting ?? 8000);
}

/** Loads something, again when `deps` change; with `isLive`, again when the timeline grows. */
export function useLoaded(load, deps, isLive = false) {
  const [state, set] = useState({ loading: true });
  const count = useRef(0);
  const now = isLive ? newest.value : 0;
  useEffect(() => {
    const mine = ++count.current;
    const abort = new AbortController();
    load(abort.signal).then(
      (data) => mine === count.current && set({ data }),
      (error) => mine === count.current && error.name !== 'AbortError' && set((before) => ({ data: before.data, error })),
    );
    return () => abort.abort();
  }, [...deps, now]);
  return [state, () => { count.current++; return load().then((data) => set({ data }), (error) => set({ error })); }];
}

export const Time = ({ at, relative = false }) =>
  html`<time dateTime=${typeof at === 'number' ? new Date(at).toISOString() : at} title=${exactly(at)}>${relative ? ago(at) : clock(at)}</time>`;

export const Severity = ({ severity, text }) =>
  html`<span class=${`severity is-${severity}`}><span class="dot" aria-hidden="true"></span>${text ?? SEVERITY[severity] ?? severity}</span>`;

/** Copies a text. */
export const Copy = ({ text }) =>
  html`<button class="link" onClick=${() => navigator.clipboard.writeText(text).then(() => say('Copied'), () => say('The browser does not let it be copied', { tone: 'error' }))}>copy</button>`;

export const Counts = ({ added, removed }) =>
  added === undefined && removed === undefined ? null
    : html`<span class="counts"><span class="plus">+${thousands(added ?? 0)}</span> <span class="minus">−${thousands(removed ?? 0)}</span></span>`;

/** Five small boxes: how much of a change is new. */
export function Bar({ added = 0, removed = 0 }) {
  const total = added + removed;
  const boxes = total === 0 ? 0 : Math.max(1, Math.min(5, Math.ceil(Math.log2(total + 1) / 2)));
  const green = total === 0 ? 0 : Math.round((boxes * added) / total);
  const tone = (index) => (index >= boxes ? 'none' : index < green ? 'plus' : 'minus');
  return html`<span class="boxes" aria-hidden="true">${[0, 1, 2, 3, 4].map((index) => html`<i class=${tone(index)}></i>`)}</span>`;
}

export const Who = ({ row }) => html`<span class="who">
  ${row.tool && html`<span class="tool">${row.tool}</span>`}
  ${row.session && html`<span class=${`session lane-${hue(row.session)}`} title=${row.session}>${short(row.session)}</span>`}
</span>`;

/** A text in which files of the workspace are named as everywhere else. */
export const inside = (text) => (root.value ? text.replaceAll(`${root.value}/`, '') : text);

/** A long id by its beginning. */
export const short = (text) => (/^[0-9a-f-]{24,}$/i.test(text) ? text.slice(0, 8) : text);

export function Problem({ error, again }) {
  return html`<div class="problem" role="alert">
    <h2>That did not work</h2>
    <p>${error.message}</p>
    ${error.hint && html`<p class="quiet">${withCode(error.hint)}</p>`}
    ${again && html`<button onClick=${again}>Try again</button>`}
  </div>`;
}

/** Text in which backticks stand around what can be typed. */
export const withCode = (text) => text.split('`').map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));

export const Loading = () => html`<div class="loading" role="status"><span class="visually-hidden">Loading</span></div>`;

export const Empty = ({ title, children }) => html`<div class="empty"><p class="empty-title">${title}</p><div class="quiet">${children}</div></div>`;

/** What is loaded, or why it is not. */
export function Loaded({ state, again, children }) {
  if (state.data === undefined) return state.error ? html`<${Problem} error=${state.error} again=${again} />` : html`<${Loading} />`;
  return children(state.data);
}

/** A dialog that has the keyboard while it is open. */
export function Dialog({ title, close, children, wide = false }) {
  const element = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${element} class=${wide ? 'wide' : ''} aria-label=${title} onCancel=${(event) => { event.preventDefault(); close(); }}
    onClick=${(event) => event.target === element.current && close()}>
    <header><h2>${title}</h2><button class="plain" aria-label="Close" onClick=${close}>✕</button></header>
    ${children}
  </dialog>`;
}

/** A small line through numbers. */
export function Spark({ values, width = 120, height = 28 }) {
  const numbers = values.filter((value) => value !== null);
  if (numbers.length < 2) return html`<span class="quiet">–</span>`;
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const x = (index) => 2 + (index / (values.length - 1)) * (width - 4);
  const y = (value) => (high === low ? height / 2 : height - 3 - ((value - low) / (high - low)) * (height - 6));
  const points = values.map((value, index) => (value === null ? null : `${x(index).toFixed(1)},${y(value).toFixed(1)}`)).filter(Boolean);
  return html`<svg class="spark" width=${width} height=${height} role="img" aria-label=${`from ${values[0]} to ${values.at(-1)}, lowest ${low}, highest ${high}`}>
    <polyline points=${points.join(' ')} /><circle cx=${points.at(-1).split(',')[0]} cy=${points.at(-1).split(',')[1]} r="2.5" />
  </svg>`;
}

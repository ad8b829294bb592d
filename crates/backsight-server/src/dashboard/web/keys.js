// The keyboard: each page says which keys it takes and what they do, and `?` lists them.
import { signal, useLayoutEffect } from './vendor.js';

/** What can be typed now, for the list of keys. */
export const bound = signal([]);
export const helpOpen = signal(false);
const layers = [];

/** Takes keys while a component is shown: `[['j', 'next row', handler], ...]`. */
export function useKeys(keys, deps) {
  // At once: what is typed as soon as something is shown is meant for that.
  useLayoutEffect(() => {
    const layer = keys.filter(Boolean);
    layers.push(layer);
    bound.value = layers.flat();
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      bound.value = layers.flat();
    };
  }, deps);
}

const isTyping = (target) =>
  target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'SELECT' ||
  (target.tagName === 'INPUT' && !['checkbox', 'radio', 'button'].includes(target.type));

export function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target)) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    // A dialog has the keyboard to itself.
    if (document.querySelector('dialog[open]')) return;
    // A button that has the focus is pressed by Enter, not the page.
    if (event.key === 'Enter' && event.target.closest('a, button, summary, input')) return;
    for (const layer of [...layers].reverse()) {
      const found = layer.find(([key]) => key === event.key);
      if (found) {
        event.preventDefault();
        found[2](event);
        return;
      }
    }
  });
}

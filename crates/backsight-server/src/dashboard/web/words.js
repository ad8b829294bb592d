// How things are called and written: times, numbers, kinds of rows.

/** What each kind of row is called, its sign, the group a filter shows it in, and its colour. */
export const KINDS = {
  track: { name: 'step', sign: '●', group: 'steps', tone: 'step' },
  external: { name: 'outside change', sign: '◌', group: 'outside', tone: 'outside' },
  safety: { name: 'safety copy', sign: '◍', group: 'back', tone: 'quiet' },
  restore: { name: 'restore', sign: '↶', group: 'back', tone: 'back' },
  revert: { name: 'revert', sign: '↶', group: 'back', tone: 'back' },
  undo: { name: 'undo', sign: '↶', group: 'back', tone: 'back' },
  redo: { name: 'redo', sign: '↷', group: 'back', tone: 'back' },
  milestone: { name: 'milestone', sign: '★', group: 'marks', tone: 'mark' },
  reset: { name: 'reset', sign: '⟲', group: 'back', tone: 'back' },
  bisect: { name: 'bisect', sign: '⌖', group: 'errors', tone: 'mark' },
  first_error: { name: 'error', sign: '✕', group: 'errors', tone: 'error' },
  recovery: { name: 'recovery', sign: '✓', group: 'errors', tone: 'clean' },
  navigation: { name: 'page load', sign: '→', group: 'app', tone: 'quiet' },
  debugger_stop: { name: 'debugger stop', sign: '■', group: 'debug', tone: 'debug' },
  capture: { name: 'capture', sign: '▣', group: 'debug', tone: 'debug' },
  debug_end: { name: 'end of debugging', sign: '□', group: 'debug', tone: 'quiet' },
  commit: { name: 'commit', sign: '◆', group: 'commits', tone: 'commit' },
  checkpoint: { name: 'checkpoint', sign: '⚑', group: 'marks', tone: 'mark' },
};

export const GROUPS = [
  ['all', 'All'], ['steps', 'Steps'], ['outside', 'Outside'], ['errors', 'Errors'], ['marks', 'Marks'], ['commits', 'Commits'],
  ['back', 'Going back'], ['debug', 'Debugger'], ['app', 'Page loads'],
];

export const kindOf = (row) => KINDS[row.kind] ?? { name: row.kind, sign: '·', group: 'all', tone: 'quiet' };
/** Whether a row holds files, so that there is something to show. */
export const isStep = (row) => row.files_changed !== undefined;

const NUMBER = new Intl.NumberFormat('en');
export const thousands = (count) => (count < 1000 ? `${count}` : NUMBER.format(count));
export const plural = (count, word, many = `${word}s`) => `${thousands(count)} ${count === 1 ? word : many}`;

export const millis = (time) => (typeof time === 'number' ? time : Date.parse(time));

// Made once: making one takes longer than drawing a row.
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** `14:02`, with the day when it is not today. */
export function clock(time) {
  const at = millis(time);
  const midnight = new Date().setHours(0, 0, 0, 0);
  const text = TIME.format(at);
  return at >= midnight && at < midnight + 86_400_000 ? text : `${DAY.format(at)} ${text}`;
}

export const exactly = (time) => EXACT.format(millis(time));

/** `3 min ago`. */
export function ago(time, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - millis(time)) / 1000));
  if (seconds < 45) return 'just now';
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return plural(Math.round(seconds / 86_400), 'day') + ' ago';
}

export function span(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  return plural(Math.round(ms / 86_400_000), 'day');
}

export function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  for (; count >= 1000 && unit < units.length - 1; unit++) count /= 1000;
  return `${count >= 100 || unit === 0 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
}

/** `2 new console errors` for `2 new console error(s)`. */
export const counted = (text) => text.replace(/(\d+) ([a-z ]+)\(s\)/g, (_, count, words) => plural(Number(count), words));

/** How the app was at a checkpoint: `clean`, `1 warning`, `3 errors`. */
export function inShort({ severity, summary }) {
  if (severity === 'clean' || severity === 'unknown') return SEVERITY[severity];
  const count = [...summary.matchAll(/(\d+) /g)].reduce((sum, [, number]) => sum + Number(number), 0);
  return count ? plural(count, severity) : severity;
}

/** A colour of its own for each session, the same every time. */
export function hue(text) {
  let hash = 2166136261;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 16777619);
  return LANES[(hash >>> 0) % LANES.length];
}
const LANES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

export const SEVERITY = { clean: 'clean', unknown: 'not watched', warning: 'warning', error: 'error' };

/** An address with its parts written as addresses are. */
export const address = (...parts) => '/' + parts.map((part) => encodeURIComponent(part)).join('/');

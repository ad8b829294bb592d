// The frame around every page: where we are, the way elsewhere, the keyboard, light and dark.
import { effect, render, signal, useEffect } from './vendor.js';
import { admitted, get, listen, live, raw, root } from './api.js';
import { bound, helpOpen, listenToKeys, useKeys } from './keys.js';
import { Dialog, html, Loaded, useLoaded } from './parts.js';
import { Writing } from './comments.js';
import { Going } from './going.js';
import { Since } from './pages/since.js';
import { Timeline } from './pages/timeline.js';
import { DiffPage } from './pages/diff.js';
import { Checkpoint, Checkpoints } from './pages/checkpoints.js';
import { ErrorPage, Errors } from './pages/errors.js';
import { Debug } from './pages/debug.js';
import { Store } from './pages/store.js';
import { Attempts } from './pages/attempts.js';

const here = signal({ path: location.pathname, search: location.search });

/** Goes to an address of ours without loading anything anew. */
export function go(to, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  here.value = { path: location.pathname, search: location.search };
}
window.addEventListener('popstate', () => (here.value = { path: location.pathname, search: location.search }));
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link.target || event.defaultPrevented) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.pathname.startsWith('/assets/') || link.hasAttribute('download')) return;
  event.preventDefault();
  go(url.pathname + url.search);
  document.querySelector('main')?.focus({ preventScroll: true });
});

const PLACES = [
  ['/', 'Since', '1', 'since you last looked'], ['/timeline', 'Timeline', '2', 'the timeline'], ['/range/@/now', 'On disk', '3', 'what differs on disk'],
  ['/checkpoints', 'Checkpoints', '4', 'checkpoints of the app'], ['/errors', 'Errors', '5', 'errors'], ['/debug', 'Debug', '6', 'debugged programs'],
  ['/attempts', 'Attempts', '7', 'two attempts side by side'], ['/store', 'Store', '8', 'the store'],
];

/** The page of an address. */
function page(path, search) {
  const parts = path.split('/').slice(1).map((part) => decodeURIComponent(part));
  const query = Object.fromEntries(new URLSearchParams(search));
  switch (parts[0]) {
    case '': return ['Since you last looked', html`<${Since} go=${go} />`];
    case 'timeline': return ['Timeline', html`<${Timeline} query=${query} go=${go} />`];
    case 'step': return [`#${parts[1]}`, html`<${DiffPage} key=${path} reference=${parts[1]} query=${query} go=${go} />`];
    case 'range': return [`${parts[1]} to ${parts[2] ?? 'now'}`, html`<${DiffPage} key=${path} from=${parts[1]} to=${parts[2] ?? 'now'} query=${query} go=${go} />`];
    case 'checkpoints': return ['Checkpoints', html`<${Checkpoints} go=${go} />`];
    case 'checkpoint': return [parts[1], html`<${Checkpoint} key=${path} name=${parts[1]} />`];
    case 'errors': return ['Errors', html`<${Errors} go=${go} />`];
    case 'error': return [parts[1], html`<${ErrorPage} key=${path} id=${parts[1]} go=${go} />`];
    case 'debug': return ['Debug', html`<${Debug} query=${query} go=${go} />`];
    case 'attempts': return ['Attempts', html`<${Attempts} one=${parts[1]} other=${parts[2]} go=${go} />`];
    case 'store': return ['Store', html`<${Store} />`];
    default: return ['Not found', html`<div class="page"><h1>No such page</h1><p><a href="/">What happened since you last looked</a></p></div>`];
  }
}

const theme = signal(localStorage.getItem('backsight.theme') ?? 'auto');
effect(() => {
  if (theme.value === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
function turnTheme() {
  const dark = document.documentElement.dataset.theme ? theme.value === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  theme.value = dark ? 'light' : 'dark';
  localStorage.setItem('backsight.theme', theme.value);
}

function App() {
  const { path, search } = here.value;
  const [title, content] = path.endsWith('.json') ? [path, html`<${Data} key=${path + search} path=${path} search=${search} />`] : page(path, search);
  useEffect(() => {
    document.title = `${title} · Backsight`;
    document.querySelector('.bar nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [title]);
  useKeys([
    ['?', 'list the keys', () => (helpOpen.value = true)],
    ...PLACES.map(([to, , key, what]) => [key, what, () => go(to)]),
    ['t', 'light or dark', turnTheme],
    ['.', 'the data of this page', () => go(dataOf(path) + search)],
    ['Backspace', 'back', () => history.back()],
  ], [path, search]);
  if (admitted.value === false) return html`<${Door} />`;
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.querySelector('main').focus(); }}>Skip to the content</a>
    <header class="bar">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="22" height="22" /><span>Backsight</span><${Root} /></a>
      <nav aria-label="Pages">${PLACES.map(([to, name]) => html`<a href=${to} aria-current=${isHere(path, to) ? 'page' : undefined}>${name}</a>`)}</nav>
      <div class="tools">
        <span class=${`live ${live.value ? 'is-on' : ''}`} title=${live.value ? 'what happens is shown at once' : 'not connected'}><i></i><span class="visually-hidden">${live.value ? 'Live' : 'Not connected'}</span></span>
        <button class="plain" onClick=${turnTheme} aria-label="Light or dark">◐</button>
        <button class="plain" onClick=${() => (helpOpen.value = true)} aria-label="Keys">?</button>
      </div>
    </header>
    <main id="main" tabIndex="-1">${content}</main>
    <${Going} />
    <${Writing} />
    ${helpOpen.value && html`<${Help} />`}`;
}

const isHere = (path, to) => (to === '/' ? path === '/' : path.startsWith(to) || (to === '/errors' && path.startsWith('/error/')) || (to === '/checkpoints' && path.startsWith('/checkpoint/')) || (to === '/timeline' && path.startsWith('/step/')));
const dataOf = (path) => (path === '/' ? '/index.json' : `${path}.json`);

/** Which workspace this is. */
function Root() {
  useEffect(() => { get('/api/version').then((answer) => (root.value = answer.root ?? ''), () => {}); }, []);
  return root.value ? html`<span class="root" title=${root.value}>${root.value.split('/').pop()}</span>` : null;
}

function Data({ path, search }) {
  const [state, again] = useLoaded(() => raw(path + search), []);
  return html`<div class="page"><h1>Data</h1><p class="quiet"><code>${path + search}</code> as every client of the API gets it. <a href=${path.replace(/\.json$/, '').replace(/^\/index$/, '/')}>The page</a></p>
    <${Loaded} state=${state} again=${again}>${(text) => html`<pre class="data" tabIndex="0">${text}</pre>`}</${Loaded}></div>`;
}

function Door() {
  return html`<main class="door"><img src="/assets/icon.svg" alt="" width="48" height="48" />
    <h1>This browser is not let in</h1>
    <p>Run <code>backsight open</code> in the workspace: it prints an address that works once. A server that was started again has forgotten its visitors.</p></main>`;
}

function Help() {
  const rows = [...new Map(bound.value.map((key) => [key[0], key])).values()];
  return html`<${Dialog} title="Keys" close=${() => (helpOpen.value = false)}><dl class="keys">
    ${rows.map(([key, what]) => html`<div><dt><kbd>${key === ' ' ? 'space' : key}</kbd></dt><dd>${what}</dd></div>`)}
  </dl></${Dialog}>`;
}

listenToKeys();
listen();
render(html`<${App} />`, document.getElementById('app'));

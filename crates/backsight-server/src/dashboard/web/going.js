// Going back: the plan first, what is in its way, then the deed, and the deed can be taken back with one key.
import { signal, useEffect, useRef, useState } from './vendor.js';
import { post } from './api.js';
import { useKeys } from './keys.js';
import { Dialog, html, Loading, say, toast, withCode } from './parts.js';
import { plural } from './words.js';

/** What is about to be done: `{ title, verb, path, body }`. */
const asked = signal(null);

/** Takes back a step (`12`) or what differs in a range (`3..now`): all of it, some paths, or some hunks and lines of them. */
export const takeBack = (reference, { paths = [], hunks = [], what } = {}) => {
  const whole = /^\d+$/.test(reference) ? `#${reference}` : reference.replace('..', ' to ');
  const part = what ?? paths.join(', ');
  const words = part ? `${part} of ${whole}` : whole;
  asked.value = { title: `Take back ${words}`, verb: 'Take back', done: `took back ${words}`, path: '/api/revert', body: { refs: [reference], paths, hunks } };
};
export const revertStep = (number, paths = []) => takeBack(`${number}`, { paths });
export const restoreTo = (number, paths = []) => {
  const what = paths.length ? `${paths.join(', ')} as of #${number}` : `all files as of #${number}`;
  asked.value = { title: `Restore ${what}`, verb: 'Restore', done: `restored ${what}`, path: '/api/restore', body: { ref: `#${number}`, paths } };
};
export const undoLast = () => {
  asked.value = { title: 'Take the newest step back', verb: 'Undo', done: 'took the newest step back', path: '/api/undo', body: {} };
};

/** Takes back what was just done, without a question: it was this person's own doing a moment ago. */
async function undoNow() {
  try {
    const plan = await post('/api/undo', { dry_run: true });
    const done = await post('/api/undo', { plan: plan.plan, tool: 'dashboard' });
    say(done.changed ? 'Undone: everything is as it was' : 'There was nothing to undo');
  } catch (error) {
    say(`Not undone: ${error.message}`, { tone: 'error' });
  }
}

export function Going() {
  const current = toast.value;
  useKeys([['z', 'undo', () => (toast.value?.undo ? undoNow() : undoLast())]], []);
  return html`
    ${asked.value && html`<${Plan} key=${JSON.stringify(asked.value.body)} asked=${asked.value} close=${() => (asked.value = null)} />`}
    <div class="toasts" role="status" aria-live="polite">${current && html`<div class=${`toast ${current.tone === 'error' ? 'is-error' : ''}`}>
      <span>${current.text}</span>
      ${current.undo && html`<button onClick=${undoNow}>Undo <kbd>z</kbd></button>`}
    </div>`}</div>`;
}

function Plan({ asked, close }) {
  const [onConflict, setOnConflict] = useState('refuse');
  const [state, set] = useState({});
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    set({});
    const body = { ...asked.body, dry_run: true, on_conflict: onConflict };
    post(asked.path, body).then((plan) => set({ plan }), (error) => set({ error }));
  }, [onConflict]);
  // Enter is enough once the plan is there.
  const confirm = useRef(null);
  useEffect(() => confirm.current?.focus(), [state.plan]);
  const carryOut = async () => {
    setBusy(true);
    try {
      const done = await post(asked.path, { ...asked.body, on_conflict: onConflict, plan: state.plan.plan, tool: 'dashboard' });
      close();
      say(done.changed ? `Done: ${asked.done}, recorded as #${done.snapshot?.sequence_number ?? '?'}` : 'There was nothing to do', { undo: done.changed, lasting: 20_000 });
    } catch (error) {
      set({ plan: state.plan, error });
      setBusy(false);
    }
  };
  const { plan, error } = state;
  const conflicts = error?.details?.conflicts ?? [];
  const nothing = plan && !plan.reverted.length && !plan.merged.length && !plan.conflicts.length;
  return html`<${Dialog} title=${asked.title} close=${close}>
    <div class="plan">
      ${!plan && !error && html`<${Loading} />`}
      ${error && html`<div class="problem" role="alert"><p>${error.message}</p>${error.hint && !conflicts.length && html`<p class="quiet">${withCode(error.hint)}</p>`}</div>`}
      ${conflicts.length > 0 && html`<${Part} title="In the way" tone="error" items=${conflicts} />`}
      ${plan && html`
        <${Part} title="Put back" items=${plan.reverted} tone="plain" />
        <${Part} title="Merged: later edits stay" items=${plan.merged} tone="plain" />
        <${Part} title="Left as they are" items=${[...plan.skipped, ...plan.kept]} tone="quiet" />
        <${Part} title="Written with conflict marks" items=${plan.conflicts} tone="error" />
        ${(plan.warnings ?? []).map((text) => html`<p class="quiet">${text}</p>`)}
        ${nothing && html`<p>Nothing would change: the files are as they would be.</p>`}
      `}
      ${(conflicts.length > 0 || onConflict !== 'refuse') && html`<fieldset class="choice"><legend>Where later edits overlap</legend>
        ${[['refuse', 'change nothing'], ['skip', 'leave those files, take back the rest'], ['merge', 'merge, and mark what cannot be merged']].map(([value, text]) =>
          html`<label><input type="radio" name="on-conflict" checked=${onConflict === value} onChange=${() => setOnConflict(value)} /> ${text}</label>`)}
      </fieldset>`}
    </div>
    <footer>
      <button class="plain" onClick=${close}>Cancel</button>
      <button class="primary" disabled=${!plan || nothing || busy} ref=${confirm} onClick=${carryOut}>${asked.verb}${plan && !nothing ? ` in ${plural(plan.reverted.length + plan.merged.length + plan.conflicts.length, 'file')}` : ''}</button>
    </footer>
  </${Dialog}>`;
}

function Part({ title, items, tone }) {
  if (!items.length) return null;
  const sign = { added: '+', deleted: '−', modified: '~', renamed: '→', mode_changed: 'm', type_changed: 't' };
  return html`<section class=${`part is-${tone}`}><h3>${title} <span class="quiet">${items.length}</span></h3><ul>
    ${items.slice(0, 200).map((item) => html`<li><span class="sign" aria-hidden="true">${sign[item.status] ?? '·'}</span><code>${item.path}</code>${item.reason && html`<span class="quiet"> ${item.reason}</span>`}</li>`)}
    ${items.length > 200 && html`<li class="quiet">and ${items.length - 200} more</li>`}
  </ul></section>`;
}

// A step, or any range of the timeline: what it is, who did it, and all its differences.
import { useEffect, useState } from '../vendor.js';
import { get, person, post } from '../api.js';
import { Differences, WHOLE } from '../diff.js';
import { readLines } from '../lines.js';
import { revertStep, restoreTo, takeBack } from '../going.js';
import { useKeys } from '../keys.js';
import { Counts, Empty, html, Loaded, Time, useLoaded, Who } from '../parts.js';
import { address, kindOf, plural, span } from '../words.js';

export function DiffPage({ reference, from, to, query, go }) {
  const context = query.context;
  const isLive = to === 'now';
  const asked = reference ? { ref: reference, context } : { from, to, context };
  const [state, again] = useLoaded((signal) => get('/api/hunks', asked, signal, readLines), [reference, from, to, context], isLive);
  const [marks, setMarks] = useState(new Set());
  useEffect(() => { get('/api/viewed', { person: person() }).then((answer) => setMarks(new Set(answer.blobs)), () => {}); }, []);
  const set = (changes) => {
    const next = new URLSearchParams(Object.entries({ ...query, ...changes }).filter(([, value]) => value));
    go(`${location.pathname}${next.size ? `?${next}` : ''}`, { replace: true });
  };
  const [wrap, who] = [query.wrap ? query.wrap === 'on' : innerWidth <= 900, query.who === 'on'];
  const split = query.view ? query.view === 'split' : innerWidth >= 1200;
  const number = state.data?.step?.sequence_number;
  const near = (direction) => number && neighbour(number, direction).then((next) => next && go(address('step', `${next}`)));
  useKeys([
    ['w', 'side by side or not', () => set({ view: split ? 'unified' : 'split' })],
    ['l', 'long lines wrap or not', () => set({ wrap: wrap ? 'off' : 'on' })],
    ['b', 'who wrote each line', () => set({ who: who ? '' : 'on' })],
    ['e', 'whole files', () => set({ context: context ? '' : WHOLE })],
    number && ['R', 'take the whole step back', () => revertStep(number)],
    number && ['n', 'the next step', () => near(1)],
    number && ['p', 'the step before', () => near(-1)],
  ], [split, context, number, query, wrap, who]);
  const view = (file, isRead) => {
    setMarks((before) => { const after = new Set(before); if (isRead) after.add(file.after_blob); else after.delete(file.after_blob); return after; });
    post('/api/viewed', { person: person(), [isRead ? 'add' : 'remove']: [file.after_blob] }).catch(() => {});
  };
  return html`<div class="page is-full"><${Loaded} state=${state} again=${again}>${(data) => html`
    <${Head} data=${data} from=${from} to=${to} split=${split} wrap=${wrap} who=${who} whole=${Boolean(context)} set=${set} near=${near} />
    ${data.files.length ? html`<${Differences} key=${`${reference ?? `${from}-${to}`}`} files=${data.files} lines=${data.lines} split=${split} wrap=${wrap} who=${who} asked=${context ? undefined : asked} to=${reference ?? to} viewed=${marks} view=${view} focus=${query.file} session=${data.step?.session} canComment=${true} from=${data.step ? `${data.step.sequence_number}` : `${from}..${to}`} />`
      : html`<${Nothing} data=${data} />`}`}</${Loaded}></div>`;
}

/** The step after or before one. */
async function neighbour(number, direction) {
  const page = direction > 0 ? await get('/api/timeline', { oldest_first: true, cursor: `after-${number}`, limit: 50 }) : await get('/api/timeline', { cursor: `before-${number}`, limit: 50 });
  return page.rows.find((row) => row.files_changed !== undefined)?.sequence_number;
}

function Head({ data, from, to, split, wrap, who, whole, set, near }) {
  const { step } = data;
  const kind = step && kindOf(step);
  const title = step ? step.description || `${kind.name} #${step.sequence_number}` : to === 'now' ? (from === '@' ? 'On disk and not recorded' : `From ${name(from)} to the files on disk`) : `From ${name(from)} to ${name(to)}`;
  return html`<header class="diff-head">
    <div class="diff-title">
      ${step && html`<p class="eyebrow"><span class=${`kind is-${kind.tone}`}>${kind.sign}</span> ${kind.name} <strong>#${step.sequence_number}</strong> · <${Time} at=${step.timestamp} />${step.execution_time_ms ? ` · took ${span(step.execution_time_ms)}` : ''}</p>`}
      <h1>${title}</h1>
      <p class="facts">${step && html`<${Who} row=${step} />`}${step?.message && html`<span class="quiet">message ${step.message}</span>`}
        <span>${plural(data.files.length, 'file')}</span><${Counts} added=${data.additions} removed=${data.deletions} />
        ${(step?.unknown_changes?.length ?? 0) > 0 && html`<span class="tag">${plural(step.unknown_changes.length, 'change')} of others in the same row</span>`}
        ${(step?.may_hold ?? []).map((one) => html`<span class="tag" title=${one.paths.join(', ')}>may hold work of ${one.of}</span>`)}</p>
    </div>
    <div class="acts">
      ${step && html`<span class="pair"><button class="plain" aria-label="Step before" onClick=${() => near(-1)}>‹</button><button class="plain" aria-label="Next step" onClick=${() => near(1)}>›</button></span>`}
      <button aria-pressed=${split} onClick=${() => set({ view: split ? 'unified' : 'split' })}>Side by side</button>
      <button aria-pressed=${wrap} onClick=${() => set({ wrap: wrap ? 'off' : 'on' })}>Wrap</button>
      <button aria-pressed=${who} onClick=${() => set({ who: who ? '' : 'on' })}>Who</button>
      <button aria-pressed=${whole} onClick=${() => set({ context: whole ? '' : WHOLE })}>Whole files</button>
      ${step && html`<button onClick=${() => restoreTo(step.sequence_number)}>Restore to here …</button><button class="primary" onClick=${() => revertStep(step.sequence_number)}>Take back …</button>`}
      ${!step && data.files.length > 0 && html`<button class="primary" onClick=${() => takeBack(`${from}..${to}`)}>Take back …</button>`}
    </div>
  </header>`;
}

const name = (reference) => (/^\d+$/.test(reference) ? `#${reference}` : reference);

function Nothing({ data }) {
  const { step } = data;
  if (step?.expired_at) return html`<${Empty} title="Its contents are gone">Retention removed them <${Time} at=${step.expired_at} relative />; the row stays.</${Empty}>`;
  if (step && !step.base_tree) return html`<${Empty} title="The first snapshot">There is nothing before it to compare with. It holds ${plural(step.files_changed, 'file')}.</${Empty}>`;
  return html`<${Empty} title="Nothing differs">The files are the same on both sides.</${Empty}>`;
}

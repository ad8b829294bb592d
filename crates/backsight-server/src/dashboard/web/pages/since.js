// The start page: what happened since this person last looked, with one verdict, and a way to say "seen".
import { get, person, post } from '../api.js';
import { Comment, comments, useComments } from '../comments.js';
import { useKeys } from '../keys.js';
import { Bar, Counts, Empty, html, inside, Loaded, say, Severity, Time, useLoaded, Who } from '../parts.js';
import { address, ago, counted, isStep, kindOf, plural } from '../words.js';
import { broken, Suspect, Why } from './errors.js';

export function Since({ go }) {
  const [state, again] = useLoaded((signal) => get('/api/since', { person: person() }, signal), [], true);
  const seen = async () => {
    try {
      await post('/api/seen', { person: person(), sequence_number: state.data?.newest });
      await again();
      say('Seen up to here');
    } catch (error) {
      say(error.message, { tone: 'error' });
    }
  };
  useKeys([
    ['s', 'mark everything as seen', seen],
    ['Enter', 'all differences in one scroll', () => state.data?.from && go(address('range', `${state.data.from}`, 'now'))],
  ], [state.data]);
  return html`<div class="page since"><${Loaded} state=${state} again=${again}>${(data) => html`<${Looked} data=${data} seen=${seen} />`}</${Loaded}></div>`;
}

/** The verdict in one line, and how bad it is. */
function verdict({ rows, files, changes, more_rows }) {
  const nothing = !rows.length && !files.length;
  const { severity, summary, coverage } = changes;
  if (severity === 'error' || severity === 'warning') return [severity, inWords(broken(changes)) || counted(summary)];
  const watched = coverage?.attached;
  if (nothing && !watched) return ['quiet', 'Nothing happened'];
  if (severity === 'clean') return ['clean', nothing ? 'Nothing happened, and the app is well' : 'Files changed, and the app is well'];
  const many = rows.length + more_rows;
  return ['unknown', many || files.length ? 'Files changed; the app was not watched' : 'Nothing happened; the app was not watched'];
}

/** `2 errors, 1 failing request`. */
function inWords(found) {
  const names = [['error', 'error'], ['request', 'failing request'], ['still fails', 'request that still fails', 'requests that still fail'], ['no answer', 'request without an answer', 'requests without an answer'], ['wrong type', 'answer of the wrong type', 'answers of the wrong type'], ['socket', 'socket error'], ['socket ended', 'socket that ended', 'sockets that ended'], ['warning', 'warning']];
  const told = names.map(([what, one, many]) => [found.filter((thing) => thing.what === what).length, one, many]).filter(([count]) => count);
  return told.map(([count, one, many]) => plural(count, one, many)).join(', ');
}

function Looked({ data, seen }) {
  const { rows, more_rows, files, more_files, additions, deletions, changes, from } = data;
  const [tone, line] = verdict(data);
  const steps = rows.filter((row) => isStep(row)).length;
  const sessions = new Set(rows.map((row) => row.session).filter(Boolean)).size;
  const bad = broken(changes);
  useComments();
  const said = comments.value.filter((comment) => !comment.resolved).slice(-20).reverse();
  const programs = changes.debug?.events ?? [];
  return html`
    <section class=${`verdict is-${tone}`} aria-label="Verdict">
      <div class="verdict-mark" aria-hidden="true">${{ error: '✕', warning: '!', clean: '✓', unknown: '?', quiet: '–' }[tone]}</div>
      <div>
        <p class="eyebrow">${data.seen ? html`Since you last looked, ${ago(data.seen.at)}` : 'You have not looked yet: this is everything so far'}</p>
        <h1>${line}</h1>
        <p class="facts">
          <span>${plural(steps, 'step')}${more_rows ? '+' : ''}</span>
          ${sessions > 0 && html`<span>${plural(sessions, 'session')}</span>`}
          <span>${plural(files.length + more_files, 'file')}</span> <${Counts} added=${additions} removed=${deletions} />
          ${changes.because?.[0]?.step && html`<${Suspect} because=${changes.because[0]} />`}
          ${programs.length > 0 && html`<span>${plural(changes.debug.total_new, 'event')} in programs</span>`}
        </p>
      </div>
      <div class="verdict-acts">
        <button class="primary" onClick=${seen} disabled=${!rows.length && !files.length && tone === 'quiet'}>Seen <kbd>s</kbd></button>
        ${from !== undefined && files.length > 0 && html`<a class="button" href=${address('range', `${from}`, 'now')}>All differences</a>`}
      </div>
    </section>
    <div class="columns">
      <div>
        ${bad.length > 0 && html`<section class="card" aria-label="Broken"><h2>Broken <span class="count">${bad.length}</span></h2><ul class="plainlist">${bad.slice(0, 30).map((one) => html`<${Broken} one=${one} changes=${changes} />`)}</ul></section>`}
        <section class="card" aria-label="Files"><h2>Files <span class="count">${files.length + more_files}</span></h2>
          ${files.length ? html`<ul class="files">${files.slice(0, 100).map((file) => html`<${File} file=${file} from=${from} />`)}</ul>` : html`<p class="quiet">No file differs.</p>`}
          ${files.length + more_files > 100 && html`<p class="quiet">and ${files.length + more_files - 100} more, in <a href=${address('range', `${from}`, 'now')}>all differences</a></p>`}
        </section>
        ${programs.length > 0 && html`<section class="card" aria-label="Programs"><h2>Variables and programs <span class="count">${changes.debug.total_new}</span></h2><ul class="plainlist">
          ${programs.map((event) => html`<li><span class="number">${event.id}</span> ${inside(event.what)}</li>`)}</ul><p><a href="/debug">Captures and series</a></p></section>`}
        ${said.length > 0 && html`<section class="card" aria-label="Comments"><h2>Comments <span class="count">${said.length}</span></h2>${said.map((comment) => html`<${Comment} comment=${comment} place />`)}</section>`}
        <${Watched} changes=${changes} />
      </div>
      <section class="card" aria-label="What happened"><h2>What happened <span class="count">${rows.length + more_rows}</span></h2>
        ${rows.length ? html`<ol class="happened">${rows.slice(0, 60).map((row) => html`<${Row} row=${row} />`)}</ol>` : html`<${Empty} title="Nothing new">What agents and people do from now on appears here at once.</${Empty}>`}
        ${rows.length + more_rows > 60 && html`<p class="quiet">and ${rows.length + more_rows - 60} earlier, in the <a href="/timeline">timeline</a></p>`}
        ${data.seen && html`<p class="line"><span>you looked up to #${data.seen.sequence_number}</span></p>`}
      </section>
    </div>`;
}

const SIGNS = { added: ['+', 'plus'], deleted: ['−', 'minus'], modified: ['~', 'edit'], renamed: ['→', 'edit'], mode_changed: ['m', 'edit'], type_changed: ['t', 'edit'] };

function File({ file, from }) {
  const [sign, tone] = SIGNS[file.status] ?? ['~', 'edit'];
  const cut = file.file.lastIndexOf('/') + 1;
  return html`<li><a href=${`${address('range', `${from}`, 'now')}?file=${encodeURIComponent(file.file)}`}>
    <span class=${`sign ${tone}`} aria-label=${file.status}>${sign}</span>
    <span class="path"><span class="quiet">${file.file.slice(0, cut)}</span>${file.file.slice(cut)}</span>
    <${Counts} added=${file.additions} removed=${file.deletions} /><${Bar} added=${file.additions} removed=${file.deletions} />
  </a></li>`;
}

export function Row({ row }) {
  const kind = kindOf(row);
  const text = inside(row.description) || (isStep(row) ? plural(row.files_changed, 'file') : kind.name);
  const line = html`<span class=${`kind is-${kind.tone}`} title=${kind.name} aria-label=${kind.name}>${kind.sign}</span>
    <span class="number">#${row.sequence_number}</span><span class="text">${text}</span>
    <${Who} row=${row} />${isStep(row) && html`<${Counts} added=${row.lines_added} removed=${row.lines_removed} />`}<${Time} at=${row.timestamp} />`;
  return html`<li>${isStep(row) ? html`<a href=${address('step', `${row.sequence_number}`)}>${line}</a>` : html`<div>${line}</div>`}</li>`;
}

function Broken({ one, changes }) {
  return html`<li class="broken"><div class="broken-head">
      <${Severity} severity=${one.tone} text=${one.what} />
      ${one.id ? html`<a class="broken-text" href=${address('error', one.id)}>${one.text}</a>` : html`<span class="broken-text">${one.text}</span>`}
      ${one.count > 1 && html`<span class="times">×${one.count}</span>`}
    </div>
    ${one.source && html`<p class="quiet source"><code>${one.source}</code></p>`}
    <${Why} id=${one.id} changes=${changes} />
  </li>`;
}

function Watched({ changes }) {
  const { coverage, gap = [] } = changes;
  if (!coverage) return null;
  return html`<section class="card slim" aria-label="What was watched"><h2>Watched</h2>
    ${coverage.watching?.length ? html`<ul class="plainlist">${coverage.watching.map((who) => html`<li>${who}</li>`)}</ul>`
      : html`<p class="quiet">Nobody watches the app now. <code>backsight run npm run dev</code> or <code>backsight browser launch URL</code> does.</p>`}
    ${gap.slice(0, 5).map((one) => html`<p class="quiet">Not seen from <${Time} at=${one.from} />: ${one.reason}</p>`)}
  </section>`;
}

// Comments on lines: written here, told to the agent with its next hook, answered by it.
import { signal, useEffect, useRef, useState } from './vendor.js';
import { get, newest, person, post } from './api.js';
import { Dialog, html, say, Time } from './parts.js';

/** Every comment that is known. */
export const comments = signal([]);
/** What is being written: `{ file, line, code, session }`. */
const writing = signal(null);

export const loadComments = () => get('/api/comments').then((answer) => (comments.value = answer.comments), () => {});

/** Keeps them known while a page shows them. */
export const useComments = () => useEffect(() => { loadComments(); }, [newest.value]);

export const write = (place) => (writing.value = place);

export const isOver = (comment) => Boolean(comment.resolved || comment.outdated);

export function state(comment) {
  if (comment.resolved) return ['clean', 'resolved'];
  if (comment.outdated) return ['clean', 'the line has changed'];
  if (comment.answers?.length) return ['clean', 'answered'];
  if (comment.told) return ['unknown', `told to ${comment.told.session}`];
  return ['warning', 'waits for the agent'];
}

async function resolve(comment) {
  try {
    await post('/api/comments/resolve', { id: comment.id });
    await loadComments();
  } catch (error) {
    say(error.message, { tone: 'error' });
  }
}

/** A comment with its answers. */
export function Comment({ comment, place = false }) {
  const [tone, text] = state(comment);
  return html`<div class=${`comment ${isOver(comment) ? 'is-over' : ''}`}>
    <p class="comment-head"><strong>${comment.person}</strong> <span class=${`severity is-${tone}`}><span class="dot"></span>${text}</span> <${Time} at=${comment.at} relative />
      ${!comment.resolved && html`<button class="link" onClick=${() => resolve(comment)}>resolve</button>`}</p>
    ${place && html`<p class="quiet"><code>${comment.file}:${comment.line}</code> <code>${comment.code.trim()}</code></p>`}
    <p class="comment-text">${comment.text}</p>
    ${(comment.answers ?? []).map((answer) => html`<p class="comment-answer"><strong>${answer.by}</strong> ${answer.text}</p>`)}
  </div>`;
}

/** The words for an agent whose hooks are not installed. */
const asPrompt = ({ file, line, code }, text) => `On ${file}:${line}\n\n    ${code.trim()}\n\n${text}`;

export function Writing() {
  const place = writing.value;
  const [text, setText] = useState('');
  const area = useRef(null);
  useEffect(() => { setText(''); area.current?.focus(); }, [place]);
  if (!place) return null;
  const close = () => (writing.value = null);
  const send = async () => {
    try {
      await post('/api/comments', { person: person(), file: place.file, line: place.line, text, session: place.session });
      close();
      await loadComments();
      say('The agent is told with its next prompt or tool');
    } catch (error) {
      say(error.message, { tone: 'error' });
    }
  };
  return html`<${Dialog} title=${`Comment on ${place.file}:${place.line}`} close=${close}><div class="plan">
      <pre class="data">${place.code}</pre>
      <label>What the agent should know or do<textarea ref=${area} rows="4" maxLength="4000" value=${text} onInput=${(event) => setText(event.target.value)}
        onKeyDown=${(event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && text.trim()) send(); }}></textarea></label>
    </div><footer>
      <button class="plain" disabled=${!text.trim()} onClick=${() => navigator.clipboard.writeText(asPrompt(place, text)).then(() => say('Copied'), () => say('The browser does not let it be copied', { tone: 'error' }))}>Copy as a prompt</button>
      <button class="primary" disabled=${!text.trim()} onClick=${send}>Comment <kbd>Ctrl Enter</kbd></button>
    </footer></${Dialog}>`;
}

// One bug: planted, seen, fixed, seen to be clean.

/** How often an agent asks before it gives up; each question waits for what the edit does. */
const QUESTIONS = 4;
const RANK = { clean: 0, unknown: 1, warning: 2, error: 3 };

/** Plays a bug; what of it was seen. What fails on the stage itself is in the row, and the next bug has its turn. */
export async function look(bug, app, scene) {
  try {
    return await play(bug, app, scene);
  } catch (error) {
    scene.say(error);
    scene.stage.fix();
    scene.stage.track();
    return { bug: bug.name, kind: bug.kind, broke: error.message, answer: error.message, answers: [''], milliseconds: 0 };
  }
}

async function play(bug, app, scene) {
  const began = Date.now();
  const row = { bug: bug.name, kind: bug.kind, wanted: bug.severity, answers: [] };
  await scene.stage.distract(`before ${bug.name}`.replaceAll(/\W/g, '_'));
  const planted = await scene.stage.asStep('planter', 'Edit', () => bug.plant(scene));
  const places = bug.at(scene);
  await bug.act?.(scene);
  const told = [];
  do {
    told.push(await ask(scene, told.length ? 4000 : 15_000));
    row.seen = judge(bug, places, told);
  } while (!row.seen.right && told.length < QUESTIONS);
  row.questions = told.length;
  row.early = leading(told);
  row.because = scene.stage.records ? suspected(planted, told) : '-';
  await ask(scene, 700);
  let files;
  await scene.stage.asStep('planter', 'Edit', async () => {
    files = scene.stage.fix();
    await bug.fix?.(scene);
  });
  await app.fixed?.(scene, files, bug);
  await bug.after?.(scene);
  const first = await ask(scene, 15_000);
  row.cleanAtOnce = first.severity === 'clean';
  row.afterFix = first.text;
  row.clean = row.cleanAtOnce || (await isCleanAfterReload(app, scene));
  if (!row.clean) await settle(scene);
  row.answers = [...told, first].map((answer) => answer.text);
  row.milliseconds = Date.now() - began;
  const { seen, ...rest } = row;
  return { ...rest, ...seen, told: told.map((answer) => answer.text).join('\n') };
}

/** How many answers were clean before the first that was not. */
function leading(told) {
  const first = told.findIndex((answer) => answer.severity !== 'clean');
  return first < 0 ? told.length : first;
}

async function ask({ agent, say }, wait) {
  const { text, structured } = await agent.call('get_changes_since', { wait_ms: wait });
  say(`${text}\n`);
  return { severity: structured.severity, text, because: structured.because ?? [] };
}

/** What the first answer that explains anything says of the planted step: named first, elsewhere, or not at all. */
function suspected(planted, told) {
  const reasons = told.flatMap((answer) => answer.because);
  const first = reasons.find((reason) => reason.step);
  if (!planted) return first ? `no file was changed, and ${first.step} is named (${first.certainty})` : 'no file was changed';
  if (first?.step === planted) return 'first';
  const others = reasons.flatMap((reason) => [reason.step, ...(reason.also ?? [])]);
  const named = first ? `${first.step} (${first.certainty})` : 'nothing';
  return others.includes(planted) ? `second to ${named}` : `no: ${named} is named`;
}

/** Asks until nothing of the bug is left to tell. */
export async function settle(scene) {
  for (let count = 0; count < QUESTIONS; count++) {
    if ((await ask(scene, 1000)).severity === 'clean') return;
  }
}

/** A fresh load of the mended app must be clean, whatever was left to tell of the broken one. */
async function isCleanAfterReload(app, scene) {
  await settle(scene);
  await app.reload(scene);
  return (await ask(scene, 15_000)).severity === 'clean';
}

/** Whether the answers so far, taken together, say what an agent needs. */
function judge(bug, places, told) {
  const text = told.map((answer) => answer.text).join('\n');
  const severity = told.map((answer) => answer.severity).sort((one, other) => RANK[other] - RANK[one])[0];
  const missing = bug.says.filter((words) => !text.includes(words));
  const place = places.map((place) => found(text, place)).find(Boolean);
  const isSeen = severity === bug.severity && missing.length === 0;
  return { right: isSeen && Boolean(place), isSeen, severity, missing, place, places, answer: line(text, bug) };
}

/** A place in a text, or nothing; a file and line is not found in a longer number. */
function found(text, place) {
  if (place instanceof RegExp) return text.match(place)?.[0];
  const at = text.indexOf(place);
  if (at < 0) return undefined;
  const goesOn = /:\d+$/.test(place) && /\d/.test(text[at + place.length] ?? '');
  return goesOn ? found(text.slice(at + place.length), place) : place;
}

/** The line of an answer that tells of the bug. */
function line(text, bug) {
  const lines = text.split('\n').filter(Boolean);
  return lines.find((line) => bug.says.every((words) => line.includes(words))) ?? lines.find((line) => line.includes(bug.says[0])) ?? lines[0];
}

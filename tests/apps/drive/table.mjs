// What was seen of the bugs: as a table for people, and as complaints where it is not as it should be.

/** What an answer may cost, and one that also tells of steps. */
const BUDGET = 500;
const WITH_STEPS = 700;
/** In how many of a hundred bugs of an app the planted step must be named first. */
const SUSPECTED = 80;

export function table(rows) {
  const cells = rows.map((row) => [
    row.app,
    row.kind,
    shorten(row.answer),
    row.place ?? 'no',
    row.because,
    row.questions,
    row.tokens,
    row.clean ? (row.cleanAtOnce ? 'yes' : 'yes, after a reload') : 'no',
    `${(row.milliseconds / 1000).toFixed(1)} s`,
  ]);
  const head = ['app', 'bug', 'answer', 'place', 'planted step named', 'questions', 'tokens', 'clean after the fix', 'time'];
  const lines = [head, head.map(() => '---'), ...cells].map((line) => `| ${line.map(escape).join(' | ')} |\n`);
  return lines.join('');
}

/** How often the planted step was named first, of the bugs that are an edit. */
export function rates(rows) {
  const apps = [...new Set(rows.map((row) => row.app))];
  return apps.map((app) => `${app}: the planted step was named first in ${counted(rows, app).join(' of ')} bugs\n`).join('');
}

function counted(rows, app) {
  const planted = rows.filter((row) => row.app === app && row.because && row.because !== '-' && !row.because.startsWith('no file'));
  return [planted.filter((row) => row.because === 'first').length, planted.length];
}

/** Rows that do not hold and are not known, and known ones that hold or are no rows. */
export function complaints(rows, known) {
  const reasons = new Map(known.split('\n').filter((line) => line && !line.startsWith('#')).map(parse));
  const wrong = [];
  for (const row of rows) {
    const name = `${row.app}: ${row.bug}`;
    const faults = faultsOf(row);
    if (faults.length && !reasons.has(name)) wrong.push(`${name}: ${faults.join('; ')}`);
    if (!faults.length && reasons.has(name)) wrong.push(`${name}: holds, so take it off known.txt`);
  }
  for (const app of new Set(rows.map((row) => row.app))) {
    const [first, all] = counted(rows, app);
    if (first * 100 < all * SUSPECTED) wrong.push(`${app}: the planted step was named first in only ${first} of ${all} bugs`);
  }
  return wrong;
}

function faultsOf(row) {
  if (row.broke) return [row.broke];
  const faults = [];
  if (row.early) faults.push(`clean in ${row.early} of ${row.questions} answers, although the bug was there`);
  if (row.severity !== row.wanted) faults.push(`${row.severity} and not ${row.wanted}`);
  if (row.missing.length) faults.push(`not said: ${row.missing.join(', ')}`);
  if (!row.place) faults.push(`no place such as ${row.places?.[0]}`);
  if (!row.clean) faults.push(`not clean after the fix: ${row.afterFix}`);
  if (row.tokens > (row.because === '-' ? BUDGET : WITH_STEPS)) faults.push(`${row.tokens} tokens`);
  return faults.length ? [...faults, `told: ${row.told}`] : faults;
}

function parse(line) {
  const [app, bug, reason] = line.split(': ');
  if (!reason) throw new Error(`known.txt: no reason: ${line}`);
  return [`${app}: ${bug}`, reason];
}

/** One line, without what differs from run to run. */
export function shorten(text) {
  const plain = text.replace(/http:\/\/127\.0\.0\.1:\d+/g, '').replace(/\/tmp\/backsight-app-\w+\/app\//g, '').trim();
  return plain.length > 160 ? `${plain.slice(0, 160)}…` : plain;
}

export function escape(cell) {
  return String(cell).replaceAll('|', '\\|').replaceAll('\n', ' ');
}

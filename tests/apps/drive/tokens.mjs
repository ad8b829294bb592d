// What the answers cost a model of today.
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Adds the length of each row's longest answer in tokens; the answers themselves go. */
export function countTokens(rows, modules) {
  const { get_encoding } = createRequire(join(modules, '-'))('tiktoken');
  const encoding = get_encoding('o200k_base');
  for (const row of rows) {
    row.tokens = Math.max(...row.answers.map((answer) => encoding.encode(answer, [], []).length));
    delete row.answers;
  }
}

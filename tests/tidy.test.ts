import { describe, expect, it } from 'vitest';
import { builtImportFindings } from './tidy/built-import-rule.js';
import { circleFindings } from './tidy/circle-rule.js';
import { codeFindings } from './tidy/code-rules.js';
import { commentFindings } from './tidy/comment-rules.js';
import { consoleFindings } from './tidy/console-rules.js';
import { type Finding, findingText } from './tidy/finding.js';
import { importFindings } from './tidy/import-rules.js';
import { markdownFindings } from './tidy/markdown-rules.js';
import { moneyFindings } from './tidy/money-rules.js';
import { nameFindings } from './tidy/name-rules.js';
import { stalePlainStores } from './tidy/plain-stores.js';
import { privateFindings, singleFindings } from './tidy/single-rules.js';
import { smallFileFindings } from './tidy/small-file-rule.js';
import { codeFiles, textFiles } from './tidy/source.js';
import { dependencyFindings, textFindings } from './tidy/text-rules.js';

/** The conventions of this repository (ARCHITECTURE.md), proved over every file of it. */
describe('the repository', () => {
  const texts = textFiles();
  const code = codeFiles(texts);

  const rules: [string, () => Finding[]][] = [
    ['imports only along the layers', () => code.flatMap(importFindings)],
    ['has no files that import each other in a circle', () => circleFindings(code)],
    ['lists no store as plain that is not', () => stalePlainStores(code)],
    ['imports from build output only names that its source has', () => builtImportFindings(code)],
    ['gives each exported name one meaning', () => nameFindings(code)],
    ['has no small files with a single user', () => smallFileFindings(code)],
    ['keeps code small, typed and free of hidden inputs', () => code.flatMap(codeFindings)],
    [
      'sends requests of the console from one file, and writes no ref during render',
      () => code.flatMap(consoleFindings),
    ],
    ['never takes a missing amount for zero', () => code.flatMap(moneyFindings)],
    ['has private members of one kind', () => code.flatMap(privateFindings)],
    ['has one implementation of each thing', () => code.flatMap(singleFindings)],
    ['has comments that people can read', () => texts.flatMap(commentFindings)],
    ['has documents that people can read', () => texts.flatMap(markdownFindings)],
    ['holds nothing unfinished and no address of one machine', () => texts.flatMap(textFindings)],
    ['pins its dependencies', () => dependencyFindings(texts)],
  ];

  it.each(rules)('%s', (_name, findings) => {
    expect(findings().map(findingText)).toEqual([]);
  });
});

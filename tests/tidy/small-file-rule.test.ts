import { describe, expect, it } from 'vitest';
import { SMALL_FILE_LINES, smallFileFindings } from './small-file-rule.js';
import { parseCode } from './source.js';

const src = (path: string) => `packages/service/src/${path}`;

describe('the rule about small files', () => {
  const small = 'export const a = 1;\n';
  const user = `import { a } from './a.js';\n`;
  const smallFiles = (files: Readonly<Record<string, string>>) =>
    smallFileFindings(Object.entries(files).map(([path, code]) => parseCode(src(path), code))).map(
      ({ rule, path }) => [rule, path],
    );

  it.each([
    ['two users', { 'modules/m/a.ts': small, 'modules/m/b.ts': user, 'modules/m/c.ts': user }],
    [
      'enough lines',
      { 'modules/m/a.ts': small + 'a;\n'.repeat(SMALL_FILE_LINES - 1), 'modules/m/b.ts': user },
    ],
    ['an index', { 'modules/m/a.ts': small, 'modules/m/index.ts': `export { a } from './a.js';\n` }],
    ['a store', { 'modules/m/a-store.ts': small, 'modules/m/b.ts': `import { a } from './a-store.js';\n` }],
    ['a command', { 'main/a.ts': small, 'main/cli.ts': user }],
    ['the start of the program', { 'main/a.ts': small }],
  ])('allows %s', (_name, files) => {
    expect(smallFiles(files)).toEqual([]);
  });

  it.each([
    ['one user', { 'modules/m/a.ts': small, 'modules/m/b.ts': user }],
    [
      'a user of its types',
      { 'modules/m/a.ts': small, 'modules/m/b.ts': `import type { A } from './a.js';\n` },
    ],
    [
      'one user and its test',
      { 'modules/m/a.ts': small, 'modules/m/b.ts': user, 'modules/m/a.test.ts': user },
    ],
  ])('refuses %s', (_name, files) => {
    expect(smallFiles(files)).toEqual([['small-files', src('modules/m/a.ts')]]);
  });
});

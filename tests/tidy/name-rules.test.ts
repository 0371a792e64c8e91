import { describe, expect, it } from 'vitest';
import { nameFindings } from './name-rules.js';
import { parseCode } from './source.js';

const src = (path: string) => `packages/service/src/${path}`;

describe('name rules', () => {
  const nameRules = (...files: readonly (readonly [path: string, code: string])[]) =>
    nameFindings(files.map(([path, code]) => parseCode(path, code))).map(({ rule, path }) => [rule, path]);

  it('allow a name in the console too, in tests, twice in one file, and handed on', () => {
    expect(
      nameRules(
        [src('modules/a/grant.ts'), 'export interface Grant {}\nexport const Grant = 1;'],
        [src('modules/a/index.ts'), `export { Grant } from './grant.js'; export { Grant as Credit };`],
        [src('modules/b/grant.testing.ts'), 'export interface Grant {}'],
        ['packages/console/src/grant.ts', 'export interface Grant {}'],
      ),
    ).toEqual([]);
  });

  it.each([
    'interface Grant {}',
    'type Grant = 1;',
    'class Grant {}',
    'const Other = 1, Grant = 2;',
    'function Grant() {}',
  ])('refuse a second %s', (declaration) => {
    const second = src('modules/b/grant.ts');
    expect(
      nameRules([src('modules/a/grant.ts'), 'export interface Grant {}'], [second, `export ${declaration}`]),
    ).toEqual([['one-meaning', second]]);
  });

  it.each([
    'export { Other as Grant };',
    `export { Other as Grant } from './other.js';`,
    `export type { Other as Grant } from './other.js';`,
  ])('refuse a second name by %s', (code) => {
    const second = src('modules/b/grant.ts');
    expect(nameRules([src('modules/a/grant.ts'), 'export interface Grant {}'], [second, code])).toEqual([
      ['one-meaning', second],
    ]);
  });

  it('refuse a name of the service that the contract has', () => {
    const second = src('modules/a/grant.ts');
    expect(
      nameRules(
        ['packages/contract/src/grant.ts', 'export const Grant = 1; export type Grant = 1;'],
        [second, 'export interface Grant {}'],
      ),
    ).toEqual([['one-meaning', second]]);
  });
});

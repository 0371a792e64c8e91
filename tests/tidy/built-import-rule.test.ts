import { describe, expect, it } from 'vitest';
import { builtImportFindings } from './built-import-rule.js';
import { parseCode } from './source.js';

describe('imports of build output', () => {
  const importing = (names: string, file = 'packages/service/dist/a.js') =>
    builtImportFindings([
      parseCode(
        'packages/service/src/a.ts',
        `export const one = 1, two = 2;\nexport function three() {}\nexport { four as five } from './b.js';`,
      ),
      parseCode('bench/run.mjs', `import { ${names} } from '../${file}';`),
    ]).map(({ rule, path, line }) => [rule, path, line]);

  it('may name what the source exports', () => {
    expect(importing('one, two as other, three, five')).toEqual([]);
  });

  it.each([['four'], ['one, six']])('may not name anything else: %s', (names) => {
    expect(importing(names)).toEqual([['built-imports', 'bench/run.mjs', 1]]);
  });

  it('may not come from a file without a source', () => {
    expect(importing('one', 'packages/service/dist/gone.js')).toEqual([
      ['built-imports', 'bench/run.mjs', 1],
    ]);
  });
});

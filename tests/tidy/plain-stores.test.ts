import { describe, expect, it } from 'vitest';
import { PLAIN_STORES, stalePlainStores } from './plain-stores.js';
import { parseCode } from './source.js';

const src = (path: string) => `packages/service/src/${path}`;

describe('the list of plain stores', () => {
  const path = 'modules/boards/a-store.ts';
  const staleWith = (from: string, code: string) => stalePlainStores([parseCode(src(from), code)], [path]);

  it('may name a store that takes a plain handle', () => {
    expect(staleWith(path, `import type { Tx } from '../../platform/postgres/index.js';`)).toEqual([]);
  });

  it.each([
    ['is gone', 'modules/boards/b-store.ts', `import type { Tx } from '../../platform/postgres/index.js';`],
    ['is confined', path, `import type { ProjectDb } from '../../platform/postgres/index.js';`],
  ])('must not name a store that %s', (_case, from, code) => {
    expect(staleWith(from, code)).toMatchObject([
      { rule: 'stale-plain-store', advice: expect.stringContaining(path) },
    ]);
  });

  it('names files and a reason for each', () => {
    for (const [file, reason] of Object.entries(PLAIN_STORES)) {
      expect(file).toMatch(/^modules\/.*store\.ts$/);
      expect(reason).not.toBe('');
    }
  });
});

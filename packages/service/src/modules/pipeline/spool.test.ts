import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileSpool, type Spool, SpoolReader } from './spool.js';

let folder: string;
let spool: Spool;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-spool-'));
  spool = await createFileSpool(folder);
});
afterAll(() => rm(folder, { recursive: true }));

const put = (batches: readonly Buffer[]) => spool.put(batches.map((rows) => [rows]));

describe('a reader of spooled batches', () => {
  it('returns the rows of each group as they were put', async () => {
    const batches = fc.array(fc.uint8Array({ maxLength: 2_000 }).map(Buffer.from), { maxLength: 40 });
    const group = fc.record({ batches, isReleased: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(group, { maxLength: 6 }), async (groups) => {
        const reader = new SpoolReader(spool);
        const unreleased: [read: Buffer[], put: Buffer[]][] = [];
        for (const { batches, isReleased } of groups) {
          const { rows, release } = await reader.read(await put(batches));
          expect(rows).toEqual(batches);
          if (isReleased) release();
          else unreleased.push([rows, batches]);
        }
        for (const [read, batches] of unreleased) expect(read).toEqual(batches);
      }),
      { numRuns: 20 },
    );
  });

  it('uses its memory again after a release, and only then', async () => {
    const reader = new SpoolReader(spool);
    const locations = await put([Buffer.from('one'), Buffer.from('two')]);
    const memoryOf = async (isReleased: boolean) => {
      const { rows, release } = await reader.read(locations);
      if (isReleased) release();
      return rows[0]?.buffer;
    };
    await memoryOf(true);
    const kept = await memoryOf(true);
    expect((await memoryOf(false)) === kept).toBe(true);
    expect((await memoryOf(true)) === kept).toBe(false);
  });
});

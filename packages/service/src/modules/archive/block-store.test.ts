import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { holdArchive } from './block-store.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

describe('the lock of the archive', () => {
  it('is held by one at a time, and those who wait leave all other connections to others', async () => {
    const { postgres } = store;
    let inside = 0;
    const work = async () => {
      expect(++inside).toBe(1);
      await postgres.pool.query('select 1');
      inside--;
    };
    const waiting: Promise<void>[] = [];
    await holdArchive(postgres, async () => {
      // More than the pool has connections.
      for (let count = 0; count < 11; count++) waiting.push(holdArchive(postgres, work));
      const queries = Array.from({ length: 30 }, () => postgres.pool.query('select 1'));
      expect(await Promise.all(queries)).toHaveLength(30);
    });
    await Promise.all(waiting);
    expect(inside).toBe(0);
  });

  it('is free again after a failure', async () => {
    const failing = holdArchive(store.postgres, () => Promise.reject(new Error('inside')));
    await expect(failing).rejects.toThrow('inside');
    expect(await holdArchive(store.postgres, async () => 1)).toBe(1);
  });
});

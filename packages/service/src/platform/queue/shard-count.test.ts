import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { changeShards, chooseShards, readShards, ShardCount } from './shard-count.js';

describe('the number of shards', () => {
  let test: TestPostgres;
  beforeAll(async () => {
    test = await createTestPostgres();
  });
  beforeEach(() => test.postgres.pool.query('truncate sharding'));
  afterAll(() => test.drop());

  it('is 1 until one is stored, and a stored one stays as it is when a process starts', async () => {
    expect(await readShards(test.postgres)).toBe(1);
    expect(await chooseShards(test.postgres, 8)).toBe(8);
    expect(await chooseShards(test.postgres, 2)).toBe(8);
    expect(await changeShards(test.postgres, 5)).toBe(8);
    expect(await readShards(test.postgres)).toBe(5);
  });

  it('stays 1 in an installation that had projects before it could be chosen', async () => {
    await createProject(test.postgres, 'ten_1', 'prj_1');
    expect(await chooseShards(test.postgres, 8)).toBe(1);
    await test.postgres.pool.query('delete from projects');
    expect(await chooseShards(test.postgres, 8)).toBe(1);
    expect(await changeShards(test.postgres, 8)).toBe(1);
    expect(await chooseShards(test.postgres, 2)).toBe(8);
  });

  it.each([0, 65])('is never %i', async (shards) => {
    await expect(changeShards(test.postgres, shards)).rejects.toThrow('sharding_shards_check');
  });

  it('reaches a running process after some seconds', async () => {
    let nowMs = 0;
    const changes: unknown[] = [];
    const onChange = (...change: number[]) => changes.push(change);
    const count = await ShardCount.open(test.postgres, { onChange, nowMs: () => nowMs });
    const read = async () => {
      count.current();
      await count.settled();
      return count.current();
    };
    await changeShards(test.postgres, 4);
    nowMs = 1_999;
    expect(await read()).toBe(1);
    nowMs = 2_000;
    expect(await read()).toBe(4);
    nowMs = 4_000;
    expect(await read()).toBe(4);
    expect(changes).toEqual([[4, 1]]);
  });

  it('stays in use while the database cannot be reached', async () => {
    await changeShards(test.postgres, 4);
    let isAway = false;
    const query = (text: string) => {
      if (isAway) throw new Error('away');
      return test.postgres.pool.query(text);
    };
    let nowMs = 0;
    const count = await ShardCount.open({ pool: { query } } as never, { nowMs: () => nowMs });
    isAway = true;
    nowMs = 2_000;
    expect(count.current()).toBe(4);
    await count.settled();
    expect(count.current()).toBe(4);
    isAway = false;
    await changeShards(test.postgres, 2);
    nowMs = 4_000;
    count.current();
    await count.settled();
    expect(count.current()).toBe(2);
  });
});

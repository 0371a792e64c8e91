import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Tx, transaction } from '../../platform/postgres/index.js';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import { EventIds, type EventKey } from './event-id-store.js';

let store: TestPostgres;
let eventIds: EventIds;
beforeAll(async () => {
  store = await createTestPostgres();
});
beforeEach(async () => {
  await store.postgres.pool.query(
    `delete from usage_event_ids; delete from usage_event_id_blocks;
     update event_id_compaction set compacted_before = 0`,
  );
  eventIds = new EventIds();
});
afterAll(() => store.drop());

const key = (id: number, projectNo = 1): EventKey => ({
  projectNo,
  idHex: id.toString(16).padStart(32, '0'),
});
const keys = (...ids: number[]): EventKey[] => ids.map((id) => key(id));

/** Records ids in a transaction of its own. */
const record = (batch: readonly EventKey[], shard = 0): Promise<Set<EventKey>> =>
  transaction(store.postgres, (tx) => eventIds.record(tx, batch, shard));

async function recorded(): Promise<string[]> {
  const { rows } = await store.postgres.pool.query<{ key: string }>(
    `select project_no || ':' || ltrim(replace(raw_event_id::text, '-', ''), '0') as key
     from usage_event_ids order by project_no, raw_event_id`,
  );
  return rows.map((row) => row.key);
}

/** Returns the statements of a batch, each by its beginning. */
async function statementsOf(batch: readonly EventKey[], shard = 0): Promise<string[]> {
  const statements: string[] = [];
  await transaction(store.postgres, async (tx: Tx) => {
    const executed = vi.spyOn(tx.getExecutor(), 'executeQuery');
    await eventIds.record(tx, batch, shard);
    for (const [{ sql }] of executed.mock.calls) {
      const isLooking = sql.includes('on conflict');
      statements.push(isLooking ? 'look' : (/^\s*(\w+( to)?)/.exec(sql)?.[1] as string));
    }
  });
  return statements;
}

describe('the ids of rated events', () => {
  it('are recorded once, whatever their order', async () => {
    const batch = keys(3, 1, 2);
    expect(await record(batch)).toEqual(new Set());
    expect(await recorded()).toEqual(['1:1', '1:2', '1:3']);
    expect(await record([])).toEqual(new Set());
  });

  it('show which were rated before, and the new ones of the same batch are recorded', async () => {
    await record(keys(2, 4));
    const batch = keys(1, 2, 3, 4, 5);
    expect(await record(batch)).toEqual(new Set([batch[1], batch[3]]));
    expect(await recorded()).toEqual(['1:1', '1:2', '1:3', '1:4', '1:5']);
  });

  it('belong to their project', async () => {
    await record([key(1, 1)]);
    expect(await record([key(1, 2), key(2, 1)])).toEqual(new Set());
    expect(await recorded()).toEqual(['1:1', '1:2', '2:1']);
  });

  it('are looked at one by one where some are repeated, and in the batches that follow until one repeats none', async () => {
    expect(await statementsOf(keys(1, 2))).toEqual(['savepoint', 'insert', 'release', 'select']);
    expect(await statementsOf(keys(2, 3))).toEqual(['savepoint', 'insert', 'rollback to', 'look', 'select']);
    expect(await statementsOf(keys(3, 4))).toEqual(['select', 'look', 'select']);
    expect(await statementsOf(keys(5))).toEqual(['select', 'look', 'select']);
    expect(await statementsOf(keys(6))).toEqual(['savepoint', 'insert', 'release', 'select']);
    expect(await recorded()).toEqual(['1:1', '1:2', '1:3', '1:4', '1:5', '1:6']);
  });

  it('are looked up in blocks only if their events are old enough', async () => {
    const { pool } = store.postgres;
    const old = '60000000'.padEnd(32, '1');
    await pool.query(`insert into usage_event_id_blocks values (1, '${old}', array['${old}'::uuid])`);
    const young = { projectNo: 1, idHex: '60000001'.padEnd(32, '0') };
    const usual = ['savepoint', 'insert', 'release', 'select'];
    expect(await statementsOf([young])).toEqual(usual);
    expect(await statementsOf([{ projectNo: 2, idHex: old }])).toEqual([...usual, 'select']);
    const repeated = { projectNo: 1, idHex: old };
    const other = { projectNo: 1, idHex: '60000000'.padEnd(32, 'f') };
    expect(await record([other, repeated])).toEqual(new Set([repeated]));
    // Further repetitions are found before anything is inserted.
    expect(await statementsOf([repeated])).toEqual(['select', 'select']);
    expect(await recorded()).toEqual([`1:${other.idHex}`, `1:${young.idHex}`, `2:${old}`]);
  });

  it('fail the batch with what else goes wrong', async () => {
    const tooLarge = { projectNo: 2 ** 31, idHex: '0'.repeat(32) };
    await expect(record([tooLarge])).rejects.toThrow(RangeError);
    await store.postgres.pool.query(
      'alter table usage_event_ids add constraint no_nine check (project_no <> 9)',
    );
    try {
      await expect(record([key(1, 9)])).rejects.toMatchObject({ code: '23514' });
    } finally {
      await store.postgres.pool.query('alter table usage_event_ids drop constraint no_nine');
    }
    expect(await recorded()).toEqual([]);
  });

  it.each([
    ['commit', 'as new', true],
    ['rollback', 'as new', false],
    ['commit', 'one by one', true],
    ['rollback', 'one by one', false],
  ])(
    'wait for a batch that records one of them, and its %s decides, inserted %s',
    async (ends, how, isRepeated) => {
      if (how === 'one by one') {
        await record(keys(9));
        await record(keys(9));
      }
      const batch = keys(1, 2);
      await whileRecorded(1, async (other) => {
        const outcome = record(batch);
        await waitFor(somebodyWaits);
        await other.query(ends);
        expect(await outcome).toEqual(new Set(isRepeated ? [batch[0]] : []));
      });
      expect(await recorded()).toEqual(how === 'as new' ? ['1:1', '1:2'] : ['1:1', '1:2', '1:9']);
    },
  );

  it.each(['as new', 'one by one'])(
    'are inserted in the order of the index, so that batches wait in a line: %s',
    async (how) => {
      if (how === 'one by one') {
        await record(keys(9));
        await record(keys(9));
      }
      await whileRecorded(2, async (other) => {
        const outcome = record(keys(3, 1, 2));
        await waitFor(somebodyWaits);
        // The batch has passed the first id, and not reached the third.
        const third = await store.postgres.pool.connect();
        try {
          await third.query(`begin; set local lock_timeout = '1ms'`);
          await third.query(`insert into usage_event_ids values (1, '${key(3).idHex}')`);
          await expect(
            third.query(`insert into usage_event_ids values (1, '${key(1).idHex}')`),
          ).rejects.toMatchObject({
            code: '55P03',
          });
          await third.query('rollback');
        } finally {
          third.release();
        }
        await other.query('rollback');
        expect(await outcome).toEqual(new Set());
      });
    },
  );
});

/** Runs work while another connection has recorded an id and not committed it. */
async function whileRecorded(
  id: number,
  test: (other: { query(sql: string): Promise<unknown> }) => Promise<void>,
): Promise<void> {
  const other = await store.postgres.pool.connect();
  try {
    await other.query('begin');
    await other.query(`insert into usage_event_ids values (1, '${key(id).idHex}')`);
    await test(other);
  } finally {
    other.release();
  }
}

async function somebodyWaits(): Promise<boolean> {
  const { rowCount } = await store.postgres.pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount === 1;
}

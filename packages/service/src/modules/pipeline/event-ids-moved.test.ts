import { DAY_S } from '@tollgate/timezone';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startBuiltProcess } from '../../testing/built-process.js';
import { createProject, waitFor } from '../../testing/index.js';
import { EventIds, type EventKey } from './event-id-store.js';
import {
  blocksOf,
  clock,
  compactors,
  connection,
  expectRecorded,
  isWaiting,
  job,
  key,
  keysOf,
  looseOf,
  NOW_S,
  OLD_S,
  query,
  record,
  store,
  sweep,
  useEventIds,
} from './event-ids.testing.js';

useEventIds();

describe('a batch during a compaction', () => {
  /** Runs `test` while a compaction has moved the ids and cannot commit before `go`. */
  async function whileHeld(test: (go: () => Promise<unknown>) => Promise<void>): Promise<void> {
    const gate = await store.postgres.pool.connect();
    try {
      await gate.query('select pg_advisory_lock(1)');
      await query(`create function wait_in_test() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(1); return null; end $$`);
      await query(`create trigger wait_in_test after insert on usage_event_id_blocks
        for each statement execute function wait_in_test()`);
      await test(() => gate.query('select pg_advisory_unlock(1)'));
    } finally {
      gate.release(true);
      await query('drop function wait_in_test cascade');
    }
  }

  async function whileMoved(test: (end: () => Promise<void>) => Promise<void>): Promise<void> {
    await whileHeld(async (go) => {
      // It fails where a test cuts its connection; the caller sees that by the blocks.
      const sweeping = sweep().catch(() => {});
      await waitFor(() => isWaiting('with moved'));
      await test(async () => {
        await go();
        await sweeping;
      });
    });
  }

  it('ends before a move of the tenant begins, which copies both tables', async () => {
    await record(keysOf(20));
    await whileMoved(async (end) => {
      const beginning = query(`insert into tenant_moves values ('ten_a', 'mov_1', 'copying', 0)`);
      await waitFor(() => isWaiting('insert into tenant_moves'));
      await end();
      await beginning;
    });
    await query('delete from tenant_moves');
    expect(await looseOf()).toEqual([]);
  });

  it.each([
    ['as new', 'commits'],
    ['one by one', 'commits'],
    ['as new', 'fails'],
    ['one by one', 'fails'],
  ])('waits and finds the moved ids, inserted %s, when the compaction %s', async (how, end) => {
    const ids = new EventIds();
    if (how === 'one by one') {
      await record([key(NOW_S, 1)], ids);
      await record([key(NOW_S, 1)], ids);
    }
    const old = keysOf(20);
    await record(old);
    await whileMoved(async (go) => {
      const batch = [...old.slice(5, 8), key(OLD_S, 777)];
      const repeated = record(batch, ids);
      await waitFor(() => isWaiting('insert into usage_event_ids'));
      if (end === 'fails') {
        await query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and query like '%with moved%' and pid <> pg_backend_pid()`,
        );
      }
      await go();
      expect(await repeated).toEqual(new Set(old.slice(5, 8)));
      const others = how === 'one by one' ? [key(NOW_S, 1)] : [];
      await expectRecorded([...old, key(OLD_S, 777), ...others].map(({ idHex }) => idHex));
      expect(await blocksOf()).toHaveLength(end === 'fails' ? 0 : 1);
    });
  });

  it('does not wait if it has other ids, and the ids that it records stay loose', async () => {
    const old = keysOf(20);
    await record(old);
    const fresh = key(OLD_S + 5, 888);
    await whileMoved(async (go) => {
      expect(await record([fresh])).toEqual(new Set());
      await go();
    });
    expect(await looseOf()).toEqual([fresh.idHex]);
    expect(await record([fresh, ...old])).toEqual(new Set([fresh, ...old]));
  });

  it('finds every id after the compaction was killed, and the next compaction does its work', async () => {
    const old = keysOf(400);
    await record(old);
    await whileHeld(async (go) => {
      const compacting = startBuiltProcess(COMPACT, [JSON.stringify(connection()), String(clock.nowMs())]);
      await waitFor(() => isWaiting('with moved'));
      await compacting.kill();
      // The server notices when it responds.
      await go();
      await waitFor(async () => (await compactors()) === 0);
    });
    await expectRecorded(old.map(({ idHex }) => idHex));
    expect(await blocksOf()).toEqual([]);
    expect(await job().sweep()).toBe(0);
    clock.advanceMs(10 * 60_000);
    expect(await job().sweep()).toBe(400);
    await expectRecorded(old.map(({ idHex }) => idHex));
  });
});

/** Sweeps once, in a process that can be killed. */
const COMPACT = `
  import { connectPostgres } from '{dist}platform/postgres/index.js';
  import { createMetrics } from '{dist}platform/metrics/index.js';
  import { createEventIdCompactionJob } from '{dist}modules/pipeline/index.js';
  const [connection, nowMs] = process.argv.slice(1).map((argument) => JSON.parse(argument));
  const log = { info() {}, warn() {}, error() {} };
  const postgres = connectPostgres({ connection, applicationName: 'compaction', poolMax: 1, log });
  await createEventIdCompactionJob({ postgres, clock: { nowMs: () => nowMs }, log, metrics: createMetrics() }).sweep();`;

describe('ids around compactions', () => {
  it('are recognized exactly, whenever and however often they are sent', async () => {
    const sendArb = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 399 })), {
      minLength: 1,
      maxLength: 60,
    });
    const actArb = fc.record({ send: sendArb, again: sendArb, sweeps: fc.boolean(), together: fc.boolean() });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(actArb, { minLength: 3, maxLength: 10 }),
        fc.integer({ min: 5, max: 100 }),
        async (acts, idsPerStep) => {
          round += 1;
          const own = await createProject(store.postgres, 'ten_a', `prj_${round}`);
          const known = new Set<string>();
          const ids = new EventIds();
          const send = async (events: [number, number][]) => {
            const batch = distinct(
              events.map(([day, n]) => key(OLD_S + day * 10 * DAY_S + (n >> 1), n, own)),
            );
            const repeated = await record(batch, ids);
            return { batch, repeated };
          };
          const note = ({ batch, repeated }: Awaited<ReturnType<typeof send>>, before: Set<string>) => {
            for (const { idHex } of batch) known.add(idHex);
            for (const each of batch) {
              if (before.has(each.idHex)) expect(repeated.has(each)).toBe(true);
            }
          };
          for (const act of acts) {
            const before = new Set(known);
            if (act.together) {
              const [first, second] = await Promise.all([
                send(act.send),
                send(act.again),
                act.sweeps ? sweep({ idsPerStep }) : 0,
              ]);
              note(first, before);
              note(second, before);
              // If two batches have an id that was not known, exactly one of them records it.
              const counts = new Map<string, number>();
              for (const { batch, repeated } of [first, second]) {
                for (const each of batch) {
                  if (!repeated.has(each)) counts.set(each.idHex, (counts.get(each.idHex) ?? 0) + 1);
                }
              }
              expect(new Set(counts.keys())).toEqual(new Set([...known].filter((id) => !before.has(id))));
              expect([...counts.values()].every((count) => count === 1)).toBe(true);
            } else {
              const sent = await send(act.send);
              expect(new Set([...sent.repeated].map(({ idHex }) => idHex))).toEqual(
                new Set(sent.batch.map(({ idHex }) => idHex).filter((id) => before.has(id))),
              );
              note(sent, before);
              if (act.sweeps) await sweep({ idsPerStep });
            }
            await expectRecorded(known, own);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

function distinct(keys: readonly EventKey[]): EventKey[] {
  return [...new Map(keys.map((each) => [each.idHex, each])).values()];
}

import { DAY_S } from '@tollgate/timezone';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../platform/metrics/index.js';
import { waitFor } from '../../testing/index.js';
import { BLOCK_IDS_MAX } from './event-id-block-store.js';
import { COMPACTED_AFTER_S } from './event-id-compaction.js';
import {
  blocksOf,
  clock,
  expectRecorded,
  isWaiting,
  job,
  key,
  keysOf,
  looseOf,
  NOW_S,
  OLD_S,
  other,
  project,
  query,
  record,
  store,
  sweep,
  useEventIds,
} from './event-ids.testing.js';

useEventIds();

describe('ids of old events', () => {
  it('are moved into full blocks; those of younger events are not', async () => {
    const old = keysOf(3 * BLOCK_IDS_MAX);
    const young = keysOf(20, NOW_S - COMPACTED_AFTER_S);
    await record([...old, ...young]);
    expect(await sweep()).toBe(old.length);
    expect((await blocksOf()).map(({ length }) => length)).toEqual([120, 120, 120]);
    expect(await looseOf()).toEqual(young.map(({ idHex }) => idHex));
    await expectRecorded([...old, ...young].map(({ idHex }) => idHex));
  });

  it('are still found, but only in their own project', async () => {
    const old = keysOf(500);
    await record(old);
    await sweep();
    const fresh = key(OLD_S + 3, 9_999);
    const batch = [...old, fresh, key(OLD_S - 5, 1), key(NOW_S, 1)];
    expect(await record(batch)).toEqual(new Set(old));
    expect(await record(old)).toEqual(new Set(old));
    expect(await record(keysOf(500, OLD_S, other))).toEqual(new Set());
    await expectRecorded(batch.map(({ idHex }) => idHex));
  });

  it('take under 30 bytes each', async () => {
    const count = 60_000;
    await query(
      `insert into usage_event_ids select $1, (to_hex($2::bigint + n / 10) || left(md5(n::text), 24))::uuid
       from generate_series(1, $3::integer) n`,
      [project.projectNo, OLD_S, count],
    );
    expect(await sweep()).toBe(count);
    const [size] = await query<{ bytes: number }>(
      `select pg_total_relation_size('usage_event_id_blocks') as bytes`,
    );
    expect((size?.bytes ?? Infinity) / count).toBeLessThan(30);
  });

  it('stay loose while they are few, and are merged into their block when that pays', async () => {
    const full = keysOf(3 * BLOCK_IDS_MAX);
    await record(full);
    await sweep();
    const late = Array.from({ length: 8 }, (_, n) => key(OLD_S + 150, 1_000 + n));
    await record(late.slice(0, 7));
    expect(await sweep()).toBe(0);
    await record(late.slice(7));
    expect(await sweep()).toBe(8);
    expect((await blocksOf()).map(({ length }) => length)).toEqual([120, 64, 64, 120]);
    await expectRecorded([...full, ...late].map(({ idHex }) => idHex));
    expect(await record([...full, ...late])).toEqual(new Set([...full, ...late]));
  });

  it('that come before all blocks get blocks of their own', async () => {
    const full = keysOf(10);
    const before = keysOf(8, OLD_S - 100);
    await record(full);
    await sweep();
    await record(before);
    expect(await sweep()).toBe(8);
    expect((await blocksOf()).map(({ length }) => length)).toEqual([8, 10]);
    await expectRecorded([...full, ...before].map(({ idHex }) => idHex));
  });

  it('are compacted in small steps, and tenants take turns', async () => {
    const many = keysOf(200);
    const few = keysOf(30, OLD_S, other);
    await record(many);
    await record(few);
    expect(await sweep({ idsPerStep: 20 })).toBe(230);
    await expectRecorded(many.map(({ idHex }) => idHex));
    await expectRecorded(
      few.map(({ idHex }) => idHex),
      other,
    );
    const [turns] = await query<{ steps: number; otherFirst: boolean }>(
      `select count(distinct xmin::text) filter (where project_no = $1)::integer as steps,
         max(xmin::text::bigint) filter (where project_no = $2)
           < max(xmin::text::bigint) filter (where project_no = $1) as "otherFirst"
       from usage_event_id_blocks`,
      [project.projectNo, other.projectNo],
    );
    expect(turns?.steps).toBeGreaterThan(1);
    expect(turns?.otherFirst).toBe(true);
  });

  it('stay loose while their tenant moves to another cell', async () => {
    await record(keysOf(20));
    await record(keysOf(20, OLD_S, other));
    await query(`insert into tenant_moves values ('ten_a', 'mov_1', 'copying', 0)`);
    try {
      expect(await sweep()).toBe(20);
      expect(await looseOf()).toHaveLength(20);
      expect(await looseOf(other)).toEqual([]);
    } finally {
      await query('delete from tenant_moves');
    }
    expect(await sweep()).toBe(20);
  });

  it('that are not worth merging do not delay later ones', async () => {
    const full = keysOf(10 * BLOCK_IDS_MAX);
    await record(full);
    await sweep();
    const sparse = Array.from({ length: 20 }, (_, n) => key(OLD_S + n * 60, 5_000));
    const later = keysOf(50, OLD_S + DAY_S);
    await record([...sparse, ...later]);
    expect(await sweep({ idsPerStep: 10 })).toBe(50);
    await expectRecorded([...full, ...sparse, ...later].map(({ idHex }) => idHex));
  });
});

describe('the compaction of event ids', () => {
  it('runs once an hour, whichever process does it', async () => {
    await record(keysOf(20));
    const moved = await Promise.all([job().sweep(), job().sweep(), job().sweep()]);
    expect(moved.toSorted()).toEqual([0, 0, 20]);
    await record(keysOf(20, OLD_S + 1_000));
    expect(await job().sweep()).toBe(0);
    clock.advanceMs(60 * 60_000);
    expect(await job().sweep()).toBe(20);
  });

  it('goes on after a clock that was ahead is set back', async () => {
    clock.advanceMs(366 * DAY_S * 1_000);
    await job().sweep();
    clock.advanceMs(-366 * DAY_S * 1_000);
    await record(keysOf(20));
    expect(await job().sweep()).toBe(20);
  });

  it('counts the moved ids, and shows the age of the last complete sweep', async () => {
    await record(keysOf(20));
    const metrics = createMetrics();
    await job({}, metrics).sweep();
    clock.advanceMs(30_000);
    const text = await metrics.metrics();
    expect(text).toContain('tollgate_event_ids_compacted_total 20');
    expect(text).toContain('tollgate_event_id_compaction_age_seconds 30');
  });

  it('ends without a change when another process has claimed it meanwhile', async () => {
    await record(keysOf(20));
    const slow = await store.postgres.pool.connect();
    try {
      // The first process has claimed the sweep and waits; its claim expires.
      await slow.query('begin');
      await slow.query('lock table projects');
      const first = job().sweep();
      await waitFor(() => isWaiting('from projects'));
      await slow.query('update event_id_compaction set due_at_ms = 1');
      await slow.query('commit');
      expect(await first).toBe(0);
    } finally {
      slow.release();
    }
    await expectRecorded(keysOf(20).map(({ idHex }) => idHex));
    expect(await blocksOf()).toEqual([]);
  });

  it('stops after its current step', async () => {
    await record(keysOf(100));
    const stop = new AbortController();
    stop.abort();
    expect(await sweep({}, stop.signal)).toBe(0);
    await expectRecorded(keysOf(100).map(({ idHex }) => idHex));
  });
});

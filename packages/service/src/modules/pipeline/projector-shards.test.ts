import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { ProcessLeases } from '../../platform/leases/index.js';
import { lockUntilCommit, transaction } from '../../platform/postgres/index.js';
import { batchRecord, PipelineFixture, TEST_DAY, testEvent, waitFor } from '../../testing/index.js';
import { createProjector, type OwnedShards, type Projector } from './projector.js';
import { GroupTakenError, ProjectorSession } from './projector-store.js';
import type { Spool } from './spool.js';

const ALL = [0, 1, 2, 3];
const WAITING_MAX = 100;
const DAY_START_S = TEST_DAY * 86_400;

let fixture: PipelineFixture;
let keys: number;
const sessions: ProjectorSession[] = [];
const stops: (() => Promise<void>)[] = [];
beforeEach(async () => {
  fixture = await PipelineFixture.create();
  [keys, sessions.length, stops.length] = [0, 0, 0];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  for (const session of sessions) await session.close();
  await fixture.drop();
});

/** Commits one batch with one event in a shard, and returns the id of the batch. */
async function rateIn(shard: number): Promise<number> {
  await fixture.accept(batchRecord(fixture.project, [testEvent(`k${keys++}`, { occurred_at: DAY_START_S })]));
  await fixture.worker().drain();
  const { rows } = await fixture.postgres.pool.query(
    'update usage_batches set shard = $1 where id = (select max(id) from usage_batches) returning id',
    [shard],
  );
  return rows[0].id;
}

async function open(): Promise<ProjectorSession> {
  const session = await ProjectorSession.open(fixture.postgres, async () => {});
  if (session === undefined) throw new Error('no session');
  sessions.push(session);
  return session;
}

const batches = () => fixture.rows('select id, insert_group from usage_batches order by id');
const waitingIds = async (session: ProjectorSession, shards = ALL) =>
  (await session.waitingBatches(shards, WAITING_MAX)).map(({ id }) => id) as [number, ...number[]];

describe('a stale projector', () => {
  it('adds nothing to a group that another has formed from some of its batches', async () => {
    const [first, second] = [await rateIn(0), await rateIn(0)];
    const stale = await open();
    const seen = await waitingIds(stale);
    const third = await rateIn(0);
    const other = await open();
    // The other one chose fewer batches, and inserts them.
    expect(await other.formGroup([first, second], [])).toMatchObject({ group: first });
    expect(await stale.formGroup([...seen, third], [])).toBeUndefined();
    expect(await batches()).toEqual([
      { id: first, insert_group: first },
      { id: second, insert_group: first },
      { id: third, insert_group: null },
    ]);
  });

  it('cannot form a group of batches that another has in a group with another first batch', async () => {
    const [first, second] = [await rateIn(0), await rateIn(0)];
    const [stale, other] = [await open(), await open()];
    await other.formGroup([second], []);
    expect(await stale.formGroup([first, second], [])).toBeUndefined();
    expect(await batches()).toEqual([
      { id: first, insert_group: null },
      { id: second, insert_group: second },
    ]);
  });

  it('does not end a group that another has ended, and reports no changes twice', async () => {
    const first = await rateIn(0);
    const stale = await open();
    const group = await stale.formGroup([first], []);
    if (group === undefined) throw new Error('no group');
    await stale.leaveGroup(first);
    const other = await open();
    const taken = await other.begunGroup(ALL, []);
    expect(taken).toEqual(group);
    await other.endGroup(group, undefined, 1);
    await rateIn(0);
    await expect(stale.checkInHand(group)).rejects.toThrow(GroupTakenError);
    await expect(stale.endGroup(group, undefined, 2)).rejects.toThrow(GroupTakenError);
    expect(await fixture.rows('select at_ms from projections')).toEqual([{ at_ms: 1 }]);
    expect(await batches()).toHaveLength(1);
  });

  it('forms no group once it has lost a lease', async () => {
    const first = await rateIn(0);
    const leasesOf = () =>
      new ProcessLeases({
        postgres: fixture.postgres,
        kinds: [{ kind: 'projector', count: () => 1 }],
        log: { warn: () => {} },
      });
    const [before, after] = [leasesOf(), leasesOf()];
    await before.renew();
    const held = before.held('projector');
    const stale = await open();
    await before.release();
    await after.renew();
    expect(await stale.formGroup([first], held)).toBeUndefined();
    expect(await stale.formGroup([first], after.held('projector'))).toMatchObject({ group: first });
  });
});

describe('groups', () => {
  it('are held by one projector at a time, and another gets the next oldest', async () => {
    const [first, second] = [await rateIn(0), await rateIn(1)];
    const [one, two] = [await open(), await open()];
    await one.formGroup([first], []);
    await one.formGroup([second], []);
    expect(await two.begunGroup(ALL, [])).toBeUndefined();
    await one.leaveGroup(second);
    expect(await two.begunGroup(ALL, [])).toMatchObject({ group: second });
    await one.close();
    sessions.splice(sessions.indexOf(one), 1);
    expect(await two.begunGroup(ALL, [second])).toMatchObject({ group: first });
  });

  it('are those of the given shards', async () => {
    const [first, second] = [await rateIn(0), await rateIn(3)];
    const session = await open();
    expect(await waitingIds(session, [0, 1])).toEqual([first]);
    expect(await waitingIds(session, [3])).toEqual([second]);
    await session.formGroup([second, first].sort((a, b) => a - b) as [number, number], []);
    await session.leaveGroup(first);
    // The shard of the first batch decides who gets the group.
    expect(await session.begunGroup([3], [])).toBeUndefined();
    expect((await session.begunGroup([0], []))?.batches.map(({ id }) => id)).toEqual([first, second]);
  });

  it('get positions that become visible in order', async () => {
    const first = await rateIn(0);
    const session = await open();
    const group = await session.formGroup([first], []);
    if (group === undefined) throw new Error('no group');
    const other = await open();
    const second = await rateIn(1);
    const otherGroup = await other.formGroup([second], []);
    if (otherGroup === undefined) throw new Error('no group');
    let ending: Promise<void> | undefined;
    // This transaction acts as a projector that has its position and has not committed yet.
    await transaction(fixture.postgres, async (tx) => {
      await lockUntilCommit(tx, 'tollgate-projections');
      await tx
        .insertInto('projections')
        .values({ project_id: 'prj_a', spans: '{[0,60)}', at_ms: 1 })
        .execute();
      ending = other.endGroup(otherGroup, undefined, 2);
      await waitFor(async () => (await fixture.rows(WAITING)).length > 0, { what: 'the wait' });
      expect(await fixture.rows('select from projections')).toEqual([]);
    });
    await ending;
    await session.endGroup(group, undefined, 3);
    expect(await fixture.rows('select at_ms from projections order by position')).toEqual(
      [1, 2, 3].map((at_ms) => ({ at_ms })),
    );
  });
});

const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

describe('several projectors at once', () => {
  /** The first event count of each insert, per projector. */
  let inserted: Map<string, string[]>;
  let failures: unknown[];
  beforeEach(() => {
    [inserted, failures] = [new Map(), []];
  });

  function start(
    name: string,
    shards?: () => OwnedShards,
    { beforeInsert = async () => {}, spool = fixture.spool } = {},
  ): Projector {
    const { postgres } = fixture;
    const projector = createProjector({
      postgres,
      spool,
      clock: new ManualClock(PipelineFixture.nowMs),
      clickhouse: {
        ...fixture.recordedGroups,
        insertRows: async (_table, _columns, _data, _rows, token) => {
          inserted.set(name, [...(inserted.get(name) ?? []), token]);
          await beforeInsert();
        },
      },
      observer: {
        ...{ stage: () => {}, group: () => {}, spoolCorrupt: () => {} },
        groupFailed: (error) => failures.push(error),
      },
      ...(shards && { shards }),
    });
    const stop = new AbortController();
    const running = projector.run(stop.signal);
    stops.push(async () => {
      stop.abort();
      await running;
    });
    return projector;
  }

  const owning =
    (...stored: number[]) =>
    () => ({ stored, leases: [] });

  it('project their own shards, while one of them hangs', async () => {
    let thaw = () => {};
    const hanging = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    const one = start('one', owning(0, 2), { beforeInsert: () => hanging });
    const two = start('two', owning(1, 3));
    const first = await rateIn(0);
    one.notify();
    await waitFor(() => inserted.has('one'));
    for (const shard of [1, 3, 2]) await rateIn(shard);
    two.notify();
    await waitFor(async () => (await batches()).length === 2);
    expect(inserted.get('one')).toHaveLength(1);
    expect(await batches()).toMatchObject([{ id: first, insert_group: first }, { insert_group: null }]);
    thaw();
    await waitFor(async () => {
      one.notify();
      return (await batches()).length === 0;
    });
  });

  it('insert no group that another has finished while they were frozen', async () => {
    const { spool } = fixture;
    let thaw: (() => void) | undefined;
    const read: Spool['read'] = async (location) => {
      const rows = await spool.read(location);
      await new Promise<void>((resolve) => {
        thaw = resolve;
      });
      return rows;
    };
    await rateIn(0);
    start('frozen', undefined, { spool: { ...spool, read } });
    await waitFor(() => thaw !== undefined);
    // The process that takes over the shards of a lost one does this too.
    await fixture.postgres.pool.query(`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and mode = 'ExclusiveLock'
        and database = (select oid from pg_database where datname = current_database())`);
    start('taker');
    await waitFor(async () => (await batches()).length === 0);
    thaw?.();
    await waitFor(() => failures.length > 0);
    expect([...inserted.keys()]).toEqual(['taker']);
  });

  it('insert each group once when they have the same shard', async () => {
    for (let batch = 0; batch < 6; batch++) await rateIn(batch % 4);
    const projectors = ['one', 'two', 'three'].map((name) => start(name));
    await waitFor(async () => {
      for (const projector of projectors) projector.notify();
      return (await batches()).length === 0;
    });
    const tokens = [...inserted.values()].flat();
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  it('continue the groups of a shard that they take over', async () => {
    let owned: number[] = [];
    const taker = start('taker', () => ({ stored: owned, leases: [] }));
    const first = await rateIn(2);
    const lost = await open();
    const group = await lost.formGroup([first], []);
    await lost.close();
    sessions.splice(sessions.indexOf(lost), 1);
    taker.notify();
    owned = [2];
    taker.notify();
    await waitFor(async () => (await batches()).length === 0);
    expect(inserted.get('taker')).toEqual([group?.token]);
  });
});

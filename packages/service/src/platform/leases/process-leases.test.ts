import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import { connectPostgres, transaction } from '../postgres/index.js';
import { processName } from '../process-identity.js';
import { fenceOf, ProcessLeases } from './index.js';
import { joinKinds, memberProcesses, removeExpired } from './lease-store.js';

const KIND = 'shard';
/** Members that were not renewed for this long have expired. */
const EXPIRY_MS = 10_000;

describe('leases of processes', () => {
  let test: TestPostgres;
  let warnings: object[];
  let count: number;
  let clockMs: number;

  beforeEach(async () => {
    test = await createTestPostgres();
    [warnings, count, clockMs] = [[], 8, 0];
  });
  afterEach(() => test.drop());

  function member(onChange = () => {}): ProcessLeases {
    return new ProcessLeases({
      postgres: test.postgres,
      kinds: [{ kind: KIND, count: () => count }],
      log: { warn: (details) => warnings.push(details) },
      onChange,
      nowMs: () => clockMs,
    });
  }

  const numbersOf = (leases: ProcessLeases) => leases.held(KIND).map(({ number }) => number);
  const expire = (leases: ProcessLeases) =>
    test.postgres.pool.query('update lease_members set expires_at_ms = 1 where owner = $1', [leases.owner]);

  /** Renews in turns until nothing changes any more. */
  async function settle(...members: ProcessLeases[]): Promise<number[][]> {
    let before: string;
    do {
      before = JSON.stringify(members.map(numbersOf));
      for (const one of members) await one.renew();
    } while (JSON.stringify(members.map(numbersOf)) !== before);
    return members.map(numbersOf);
  }

  async function isFenceOpen(leases: ProcessLeases, number: number): Promise<boolean> {
    const lease = leases.held(KIND).find((held) => held.number === number);
    if (lease === undefined) throw new Error(`${number} is not held`);
    const open = test.postgres.db.selectNoFrom(fenceOf([lease]).as('open'));
    return (await open.executeTakeFirstOrThrow()).open;
  }

  it('gives all numbers to a single member', async () => {
    const only = member();
    await only.renew();
    expect(numbersOf(only)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it.each([
    [8, 3, [3, 3, 2]],
    [4, 3, [2, 1, 1]],
    [2, 4, [1, 1, 0, 0]],
  ])('shares %i numbers out among %i members: %j', async (numbers, memberCount, expected) => {
    count = numbers;
    const members = Array.from({ length: memberCount }, () => member());
    const held = await settle(...members);
    expect(held.map(({ length }) => length)).toEqual(expected);
    expect(held.flat().sort()).toEqual(Array.from({ length: numbers }, (_, number) => number));
    expect(members.map((one) => one.isStandby(KIND))).toEqual(expected.map((length) => length === 0));
  });

  it('never gives a number to two members that join at the same time', async () => {
    const members = [1, 2, 3, 4].map(() => member());
    for (let round = 0; round < 5; round++) {
      await Promise.all(members.map((one) => one.renew()));
      const held = members.flatMap(numbersOf);
      expect(new Set(held).size).toBe(held.length);
    }
    expect(members.flatMap(numbersOf)).toHaveLength(8);
  });

  it('follows a changed count', async () => {
    const [first, second] = [member(), member()];
    await settle(first, second);
    count = 3;
    expect((await settle(first, second)).flat().sort()).toEqual([0, 1, 2]);
    count = 5;
    expect((await settle(first, second)).flat().sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it('releases its numbers at once, and the others take them', async () => {
    const [first, second] = [member(), member()];
    await settle(first, second);
    await first.release();
    expect(numbersOf(first)).toEqual([]);
    await second.renew();
    expect(numbersOf(second)).toHaveLength(8);
    expect(second.takeovers(KIND)).toBe(0);
  });

  it('replaces a member that has expired; it then fails the fence, and joins as the last member', async () => {
    const [lost, taker] = [member(), member()];
    await settle(lost, taker);
    clockMs = EXPIRY_MS;
    await settle(lost, taker);
    const [number = -1] = numbersOf(lost);
    expect(await isFenceOpen(lost, number)).toBe(true);
    await expire(lost);
    await taker.renew();
    expect(numbersOf(taker)).toHaveLength(8);
    expect(taker.takeovers(KIND)).toBe(4);
    expect(warnings).toMatchObject([{ kind: KIND, owners: [lost.owner] }]);
    expect(await isFenceOpen(lost, number)).toBe(false);
    expect(await isFenceOpen(taker, number)).toBe(true);
    count = 1;
    expect(await settle(lost, taker)).toEqual([[], [0]]);
  });

  it('keeps the leases of a member that was late, if no other member has taken them', async () => {
    const only = member();
    await only.renew();
    const before = only.held(KIND);
    await expire(only);
    await only.renew();
    expect(only.held(KIND)).toEqual(before);
  });

  it('removes nobody after all have expired, until each has had the time to renew', async () => {
    const [one, other, lost] = [member(), member(), member()];
    const before = await settle(one, other, lost);
    clockMs = EXPIRY_MS;
    await settle(one, other, lost);
    // PostgreSQL could not be reached by anybody.
    for (const each of [one, other, lost]) await expire(each);
    await one.renew();
    await other.renew();
    clockMs += EXPIRY_MS - 1;
    await one.renew();
    await other.renew();
    expect(warnings).toEqual([]);
    expect([one, other].map(numbersOf)).toEqual(before.slice(0, 2));
    clockMs += 1;
    await one.renew();
    expect(warnings).toMatchObject([{ kind: KIND, owners: [lost.owner], numbers: before[2] }]);
  });

  it('removes nobody when it has just joined', async () => {
    const [lost, joining] = [member(), member()];
    await lost.renew();
    await expire(lost);
    await joining.renew();
    expect([numbersOf(joining), warnings]).toEqual([[], []]);
    await lost.renew();
    expect(await settle(lost, joining)).toMatchObject([{ length: 4 }, { length: 4 }]);
    await expire(lost);
    clockMs = EXPIRY_MS;
    await joining.renew();
    expect(numbersOf(joining)).toHaveLength(8);
  });

  it('removes nobody when it hung after its renewal', async () => {
    const [hung, other] = [member(), member()];
    await settle(hung, other);
    for (const each of [hung, other]) await expire(each);
    expect(await removeExpired(test.postgres.db, hung.owner, KIND, 'expired')).toEqual([]);
    await settle(hung, other);
    expect([hung, other].map(numbersOf)).toMatchObject([{ length: 4 }, { length: 4 }]);
  });

  it('holds nothing once the last renewal is too old', async () => {
    const only = member();
    await only.renew();
    clockMs = EXPIRY_MS;
    expect(numbersOf(only)).toEqual([]);
    await only.renew();
    expect(numbersOf(only)).toHaveLength(8);
  });

  it('ends the connections of a lost member, and no others', async () => {
    const [lost, taker] = [member(), member()];
    await settle(lost, taker);
    const config = { connection: test.connectionString, poolMax: 2, log: { warn: () => {} } };
    const pools = [lost, taker].map(({ owner }) =>
      connectPostgres({ ...config, applicationName: `tollgate worker ${owner}` }),
    );
    const [frozen, other] = pools as [(typeof pools)[0], (typeof pools)[0]];
    await other.pool.query('select 1');
    const hanging = transaction(frozen, async (tx) => {
      await tx.selectFrom('process_leases').selectAll().forUpdate().execute();
      clockMs = EXPIRY_MS;
      await taker.renew();
      await expire(lost);
      await taker.renew();
      // Waits for the rows that the hanging transaction has locked, unless its connection is ended.
      await test.postgres.db.selectFrom('process_leases').selectAll().forUpdate().execute();
      await tx.selectFrom('process_leases').selectAll().execute();
    });
    await expect(hanging).rejects.toThrow();
    await other.pool.query('select 1');
    await Promise.all(pools.map((pool) => pool.close()));
  });

  const own = processName(process.pid);
  it.skipIf(own === undefined)('replaces at once an ended process of its machine alone', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const childName = processName(child.pid ?? 0) ?? '';
    const owners = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const;
    await joinKinds(test.postgres.db, owners[0], [{ kind: KIND, count }], childName, 60_000);
    await joinKinds(test.postgres.db, owners[1], [{ kind: KIND, count }], own, 60_000);
    await member().renew();
    expect(await memberProcesses(test.postgres.db, [{ kind: KIND, count }])).toContain(childName);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await member().renew();
    expect(await memberProcesses(test.postgres.db, [{ kind: KIND, count }])).toEqual([own]);
  });

  it('renews until it is stopped, and then releases', async () => {
    const stop = new AbortController();
    let changes = 0;
    const only = member(() => changes++);
    const running = only.run(stop.signal);
    await waitFor(() => numbersOf(only).length === 8);
    expect(changes).toBe(1);
    count = 2;
    only.notify();
    await waitFor(() => numbersOf(only).length === 2);
    stop.abort();
    await running;
    const { rows } = await test.postgres.pool.query(
      'select from lease_members union all select from process_leases where owner is not null',
    );
    expect(rows).toEqual([]);
  });
});

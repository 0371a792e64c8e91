import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../../testing/index.js';
import type { ProjectorDeps } from '../pipeline/index.js';
import { rebuildHistory } from './rebuild.js';
import { HistoryFixture } from './rebuild.testing.js';
import { repairHistory } from './repair.js';

let fixture: HistoryFixture;
beforeEach(async () => {
  fixture = await HistoryFixture.create();
  await fixture.rate(3);
  await fixture.project();
});
afterEach(() => fixture.drop());

/** Ends all connections that hold locks, as if their process were frozen and replaced. */
async function endSessions(): Promise<void> {
  await fixture.pipeline.rows(
    `select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
      and pid <> pg_backend_pid()`,
  );
}

/** ClickHouse for a process that is frozen before it sends rows of events, until `meanwhile` has ended. */
function frozenBeforeRows(meanwhile: () => Promise<void>): ProjectorDeps['clickhouse'] {
  const { clickhouse } = fixture.house;
  return {
    upToDate: clickhouse.upToDate.bind(clickhouse),
    command: clickhouse.command.bind(clickhouse),
    async insertRows(...call) {
      await endSessions();
      await meanwhile();
      await clickhouse.insertRows(...call);
    },
  };
}

describe.each([
  ['repair', repairHistory],
  ['rebuild', rebuildHistory],
])('a %s', (_name, renew) => {
  it('is not followed by the insert of a projector that was frozen', async () => {
    // Two batches of each storage, so that the rows are sent from memory, and not from a file that is gone.
    for (let batch = 0; batch < 2; batch++) await fixture.rate(2);
    let after: unknown;
    const frozen = frozenBeforeRows(async () => {
      await renew(fixture.deps());
      expect(await fixture.project()).toBe(8);
      after = await fixture.contents();
    });
    await expect(fixture.project(true, frozen)).rejects.toThrow();
    expect(await fixture.contents()).toEqual(after);
    expect(await fixture.verifyStatus()).toBe('equal');
    // The frozen projector has recorded its group under the name of the earlier history.
    await fixture.rate(1);
    expect(await fixture.project()).toBe(2);
  });

  it('waits for an insert that ClickHouse still runs', async () => {
    const before = await fixture.contents();
    const late = fixture.house.clickhouse.command(
      'INSERT INTO usage_events SELECT * FROM usage_events WHERE sleepEachRow(0.9) = 0',
    );
    const running = `SELECT query_id FROM system.processes
      WHERE current_database = currentDatabase() AND query_kind = 'Insert'`;
    await waitFor(async () => (await fixture.house.clickhouse.query(running)).length > 0, {
      what: 'the insert',
    });
    await renew(fixture.deps());
    await late;
    expect(await fixture.contents()).toEqual(before);
    expect(await fixture.verifyStatus()).toBe('equal');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { checkHistory, HistoryMismatchError, type ProjectionState, recordGroup } from './history-check.js';

const HISTORY = '00000000-0000-4000-8000-000000000001';
const OTHER = '00000000-0000-4000-8000-000000000002';

describe('the check that both stores belong together', () => {
  let house: TestClickHouse;
  beforeEach(async () => {
    house = await createTestClickHouse();
  });
  afterEach(() => house.drop());

  const state = (lastFormed: number, lastEnded: number): ProjectionState => ({
    historyId: HISTORY,
    lastFormed,
    lastEnded,
    isRebuilding: false,
  });
  const check = (before: ProjectionState, later = before, hasArchive = true) =>
    checkHistory({ clickhouse: house.clickhouse, hasArchive }, before, async () => later);
  const record = (group: number, history = HISTORY) => recordGroup(house.clickhouse, history, group);

  it('passes for two new stores', async () => {
    await check(state(0, 0));
  });

  it('passes while a group is formed, recorded, inserted and ended', async () => {
    await check(state(1, 0));
    await record(1);
    await check(state(1, 0));
    await check(state(1, 1));
    await record(2);
    await check(state(2, 1));
  });

  it('passes although groups end in another order than they were formed', async () => {
    await record(2);
    await check(state(2, 2));
    await record(1);
    await check(state(2, 2));
  });

  it('passes when another projector has formed a group since the state was read', async () => {
    await record(3);
    await check(state(2, 2), state(3, 2));
  });

  it('finds a ClickHouse that was emptied', async () => {
    await expect(check(state(7, 7))).rejects.toThrow('ClickHouse is empty or is another one');
  });

  it('finds a ClickHouse that was restored to an earlier time', async () => {
    await record(5);
    await expect(check(state(7, 6))).rejects.toThrow('ClickHouse is older than PostgreSQL');
  });

  it('finds a PostgreSQL that was restored to an earlier time', async () => {
    await record(5);
    await expect(check(state(4, 4))).rejects.toThrow('PostgreSQL is older than ClickHouse');
    await expect(check(state(4, 4))).rejects.toThrow(HistoryMismatchError);
  });

  it('finds the ClickHouse of another installation, also for a new one', async () => {
    await record(5, OTHER);
    await expect(check(state(0, 0))).rejects.toThrow('the rows of another installation');
    await expect(check(state(9, 9))).rejects.toThrow('ClickHouse is empty or is another one');
  });

  it('ignores groups of another history once this one was begun', async () => {
    await record(0);
    await record(5, OTHER);
    await check(state(0, 0));
  });

  it('names the repair with an archive, and another way without one', async () => {
    await record(5);
    const messageOf = (hasArchive: boolean) =>
      check(state(4, 4), undefined, hasArchive).then(
        () => 'no error',
        ({ message }: Error) => message,
      );
    expect(await messageOf(true)).toMatch(
      /until this is repaired: see tollgate repair in docs.guides.backups.md\.$/,
    );
    const without = await messageOf(false);
    expect(without).toContain('PostgreSQL is older than ClickHouse');
    expect(without).toContain('no archive to repair from, because TOLLGATE_OBJECT_STORE_URL is not set');
    expect(without).toContain(
      'tollgate repair --incomplete, see "Without an archive" in docs/guides/backups.md',
    );
  });

  it('fails when the table of recorded groups is missing', async () => {
    await house.clickhouse.command('DROP TABLE recorded_groups SYNC');
    await expect(check(state(0, 0))).rejects.toThrow('recorded_groups');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMigrations } from '../../platform/migration-files.js';
import { type TestProject, waitFor } from '../../testing/index.js';
import { createUsageHistory } from './history.js';
import { recordRetention } from './record-retention.js';
import { createRetentionFixture, type RetentionFixture } from './retention.testing.js';

let fixture: RetentionFixture;
beforeEach(async () => {
  fixture = await createRetentionFixture();
});
afterEach(() => fixture.drop());

describe('history that a shorter plan hides', () => {
  const shownFrom = async (project: TestProject) => {
    let monotonicMs = 0;
    const history = createUsageHistory({
      postgres: fixture.store.postgres,
      monotonicMs: () => (monotonicMs += 60_000),
    });
    const { retainedFrom } = await history.scopeOf(project);
    return new Date(retainedFrom * 1_000).toISOString().slice(0, 10);
  };

  it('is hidden at once, kept as long as it may come back, and shown when it does', async () => {
    const project = await fixture.newProject('ten_a');
    await fixture.insert(project, '2028-01-15T00:00:00Z', '2028-02-15T00:00:00Z', '2028-03-31T00:00:00Z');
    [fixture.retentionDays, fixture.keptDays] = [{ ten_a: 10 }, { ten_a: -1 }];
    await fixture.sweepTwice();
    expect(await shownFrom(project)).toBe('2028-03-22');
    expect(await fixture.boundary(project)).toBe('1970-01-01');
    expect(await fixture.daysLeft(project)).toHaveLength(3);
    // A longer plan shows history again that was not deleted yet.
    [fixture.retentionDays, fixture.keptDays] = [{ ten_a: 60 }, { ten_a: -1 }];
    await fixture.sweepTwice();
    expect(await shownFrom(project)).toBe('2028-02-01');
    [fixture.retentionDays, fixture.keptDays] = [{}, {}];
    await fixture.sweepTwice();
    expect(await shownFrom(project)).toBe('1970-01-01');
    expect(await fixture.daysLeft(project)).toHaveLength(3);
    // The grace period of a shorter plan is over: history that it does not show is deleted, and no plan brings it back.
    fixture.retentionDays = { ten_a: 10 };
    await fixture.sweepTwice();
    expect(await fixture.daysLeft(project)).toEqual(['2028-03-31']);
    fixture.retentionDays = {};
    await fixture.sweepTwice();
    expect(await shownFrom(project)).toBe('2028-03-22');
  });

  it('is not hidden again by a sweep that began before the longer plan', async () => {
    const project = await fixture.newProject('ten_a');
    const { postgres } = fixture.store;
    const { clock, policy } = fixture;
    [fixture.retentionDays, fixture.keptDays] = [{ ten_a: 10 }, { ten_a: -1 }];
    let goOn = () => {};
    const isBought = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let hasRead = false;
    const sweep = fixture
      .job({
        policy: {
          retentionOf: async (tx, tenantId) => {
            const known = await policy.retentionOf(tx, tenantId);
            hasRead = true;
            await isBought;
            return known;
          },
        },
      })
      .sweep();
    await waitFor(() => hasRead);
    fixture.retentionDays = { ten_a: 60 };
    let isRecorded = false;
    const purchase = recordRetention({ postgres, clock, policy }, 'ten_a').then(() => {
      isRecorded = true;
    });
    const isWaiting = async () =>
      (
        await postgres.pool.query(`select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`)
      ).rows.length > 0;
    await waitFor(async () => isRecorded || (await isWaiting()));
    goOn();
    await Promise.all([sweep, purchase]);
    expect(await shownFrom(project)).toBe('2028-02-01');
  });

  it('goes on after the upgrade where an earlier release had recorded what it keeps', async () => {
    const project = await fixture.newProject('ten_a');
    const untouched = await fixture.newProject('ten_b');
    await fixture.insert(project, '2028-02-15T00:00:00Z', '2028-03-31T00:00:00Z');
    const step = readMigrations('postgres').find(({ name }) => name === 'hidden_history');
    if (step === undefined) throw new Error('the migration that hides history has another name');
    const boundaryDay = Date.parse('2028-03-22T00:00:00Z') / 86_400_000;
    await fixture.store.postgres.pool.query(`alter table usage_retention drop column shown_from_day;
      insert into usage_retention (tenant_id, project_id, retained_from_day, recorded_at_ms)
        values ('ten_a', '${project.projectId}', ${boundaryDay}, 0);
      ${step.sql}`);
    // History that was hidden before stays hidden; all other history is shown.
    expect(await shownFrom(project)).toBe('2028-03-22');
    expect(await shownFrom(untouched)).toBe('1970-01-01');
    // The earlier release had marked it for deletion: a longer plan does not bring it back.
    await fixture.sweepTwice();
    expect(await shownFrom(project)).toBe('2028-03-22');
    expect(await fixture.boundary(project)).toBe('2028-03-22');
    expect(await fixture.daysLeft(project)).toEqual(['2028-03-31']);
    // From now on a shorter plan hides history before it is deleted.
    [fixture.retentionDays, fixture.keptDays] = [{ ten_a: 2 }, { ten_a: 10 }];
    await fixture.sweepTwice();
    expect(await shownFrom(project)).toBe('2028-03-30');
    expect(await fixture.boundary(project)).toBe('2028-03-22');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../kernel/clock.js';
import { createLog } from '../../../platform/log/index.js';
import {
  batchRecord,
  createTestClickHouse,
  PipelineFixture,
  TEST_DAY,
  type TestClickHouse,
  testEvent,
  waitFor,
} from '../../../testing/index.js';
import { createProjector } from '../../pipeline/index.js';
import { verifyUsage } from '../../verify/index.js';
import { PostingFixture } from './posting.testing.js';

const DAY_S = 86_400;

describe('a verification of what was posted', () => {
  let house: TestClickHouse;
  let pipeline: PipelineFixture;
  let fixture: PostingFixture;

  beforeEach(async () => {
    house = await createTestClickHouse();
    pipeline = await PipelineFixture.create();
    fixture = PostingFixture.of(pipeline.postgres, pipeline.project);
    await fixture.publish('ulp_1', [
      { key: 'day', limit: '100' },
      { key: 'tokens', limit: '100', measure: 'quantity', currency: '', selector: ['metric_prefix', 'llm.'] },
      {
        key: 'model',
        limit: '100',
        selector: ['metric', 'llm.tokens'],
        dimension: ['model', 'm1'],
        period: 'lifetime',
      },
      { key: 'none', limit: '100', dimension: ['model', 'm2'] },
    ]);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.limit(await fixture.route({ subjectId: 'u2', accountId: 'acct_b' }), {
      key: 'own',
      limit: '1',
    });
    await post('first', ['u1', 'u2', 'u1', 'u3']);
  });

  afterEach(async () => {
    await pipeline.drop();
    await house.drop();
  });

  /** Rates an event of each subject, and copies it into ClickHouse. */
  async function post(key: string, subjects: readonly string[], dayOffset = 0): Promise<void> {
    const events = subjects.map((subject_id, index) =>
      testEvent(`${key}${index}`, {
        subject_type: 'user',
        subject_id,
        occurred_at: (TEST_DAY + dayOffset) * DAY_S + index,
      }),
    );
    await pipeline.accept(batchRecord(pipeline.project, events));
    await pipeline.worker().drain();
    const stop = new AbortController();
    const projecting = createProjector({
      postgres: pipeline.postgres,
      clickhouse: house.clickhouse,
      spool: pipeline.spool,
      clock: new ManualClock(PipelineFixture.nowMs),
      observer: { stage: () => {}, group: () => {}, groupFailed: () => {}, spoolCorrupt: () => {} },
    }).run(stop.signal);
    await waitFor(async () => (await fixture.rows('select from usage_batches')).length === 0);
    stop.abort();
    await projecting;
  }

  const verify = async () => {
    const { postgres } = pipeline;
    const log = createLog({ level: 'silent' });
    return (await verifyUsage({ postgres, clickhouse: house.clickhouse, log })).postings;
  };

  it('finds wallets and windows equal to the charge items of the history', async () => {
    await post('late', ['u1', 'u3'], -3);
    expect(await verify()).toEqual({
      wallets: 2,
      windows: 11,
      unsettled: 0,
      difference_count: 0,
      differences: [],
    });
  });

  it('finds what was counted and is no charge item, and the other way round', async () => {
    await fixture.rows(
      `update current_windows set used[array_position(window_ends, null)] = used[array_position(window_ends, null)] + 1
      where subject_id = 'u3'`,
    );
    await house.clickhouse.command(
      `ALTER TABLE usage_events DELETE WHERE subject_id = 'u2' SETTINGS mutations_sync = 2`,
    );
    const { difference_count, differences } = await verify();
    expect(difference_count).toBe(3);
    expect(differences).toMatchObject([
      { measure: 'usage_debits', account_id: 'acct_b', currency: 'USD', expected: '2', found: '0' },
      { measure: 'window_usage', subject_id: 'u2', expected: '2', found: '0' },
      { measure: 'window_usage', subject_id: 'u3', window_start: 0, expected: '3', found: '2' },
    ]);
  });

  it.each([
    [
      'the plan',
      () => fixture.publish('ulp_1', [{ key: 'day', limit: '100', selector: ['metric', 'other'] }]),
    ],
    ['the route', () => fixture.rows('update subject_routes set updated_at = 1750000200')],
    ['a route that is gone', () => auditDeletion()],
  ])('leaves windows alone that opened before a change of %s', async (_, change) => {
    fixture.clock.advanceMs(200_000);
    await change();
    const { windows, difference_count } = await verify();
    expect(windows).toBeLessThan(7);
    expect(difference_count).toBe(0);
  });

  async function auditDeletion(): Promise<unknown> {
    const { tenantId, projectId } = pipeline.project;
    return fixture.rows(
      `insert into audit_log (tenant_id, id, project_id, actor, action, resource_type, resource_id, request_id, created_at)
      values ($1, 'aud_1', $2, 'key_1', 'subject_route.delete', 'subject_route', 'ra_1', 'req_1', 1750000200)`,
      [tenantId, projectId],
    );
  }
});

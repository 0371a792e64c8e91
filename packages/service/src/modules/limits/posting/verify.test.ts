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
  async function post(key: string, subjects: readonly string[], dayOffset = 0, laterMs = 0): Promise<void> {
    const events = subjects.map((subject_id, index) =>
      testEvent(`${key}${index}`, {
        subject_type: 'user',
        subject_id,
        occurred_at: (TEST_DAY + dayOffset) * DAY_S + index,
      }),
    );
    await pipeline.accept(batchRecord(pipeline.project, events));
    await pipeline.worker({}, PipelineFixture.nowMs + laterMs).drain();
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
      ...{
        wallets: 2,
        wallets_unjudged: 0,
        windows: 11,
        windows_bounded: 0,
        windows_unjudged: 0,
        rules: 5,
        rules_unjudged: 0,
      },
      ...{ unsettled: 0, difference_count: 0, differences: [] },
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

  it('recounts windows that open with usage, and the steps of sliding ones', async () => {
    const route = await fixture.route({ subjectId: 'u9', accountId: 'acct_b' });
    const first = await fixture.limit(route, { key: 'first', limit: '9', period: 'first_use:1d' });
    const slide = await fixture.limit(route, { key: 'slide', limit: '9', period: 'sliding:31d' });
    // A window that opens before one of the future ends where that begins.
    await post('ahead', ['u9'], 0.75);
    await post('new', ['u9', 'u9']);
    for (const days of [-3, -40]) await post(`past${days}`, ['u9'], days);
    expect(await verify()).toMatchObject({ difference_count: 0, windows_bounded: 0, rules_unjudged: 2 });
    await fixture.rows('update past_windows set used = 3 where rule_no = $1', [first]);
    await fixture.rows('update sliding_steps set used = used + 1 where used > 2');
    expect((await verify()).differences).toMatchObject([
      { limit_rule_no: first, expected: '3', found: '4' },
      { limit_rule_no: slide, expected: '5', found: '4' },
    ]);
  });

  it('counts the charge items of a limit by count', async () => {
    const route = await fixture.route({ subjectId: 'u9', accountId: 'acct_b' });
    await fixture.limit(route, { key: 'count', limit: '9', measure: 'count', currency: '' });
    await post('counted', ['u9', 'u9']);
    expect(await verify()).toMatchObject({ difference_count: 0 });
    await fixture.rows(`update current_windows set used[1] = used[1] + 1 where subject_id = 'u9'`);
    const { differences } = await verify();
    expect(differences).toMatchObject([
      { measure: 'window_usage', subject_id: 'u9', expected: '3', found: '2' },
    ]);
  });

  it('counts the values of limits by different values and by the greatest quantity', async () => {
    const route = await fixture.route({ subjectId: 'u9', accountId: 'acct_b' });
    const value = { limit: '9', currency: '' } as const;
    await fixture.limit(route, { key: 'models', measure: 'unique', of: 'model', ...value });
    await fixture.limit(route, { key: 'greatest', measure: 'max', ...value });
    await post('valued', ['u9', 'u9']);
    expect(await verify()).toMatchObject({ difference_count: 0, windows_bounded: 0, windows_unjudged: 0 });
    await fixture.rows(`update current_windows set used = array[2, 2] where subject_id = 'u9'`);
    expect((await verify()).differences).toMatchObject([
      { measure: 'window_usage', subject_id: 'u9', expected: '2', found: '1' },
      { measure: 'window_usage', subject_id: 'u9', expected: '2', found: '1' },
    ]);
    await fixture.rows(`update window_value_sets set missed = 1`);
    expect(await verify()).toMatchObject({ difference_count: 0, windows_unjudged: 2 });
    await fixture.rows(`delete from current_windows where subject_id = 'u9'`);
    expect((await verify()).differences).toMatchObject([
      { measure: 'window_missing', subject_id: 'u9', expected: '0', found: '2' },
      { measure: 'window_missing', subject_id: 'u9', expected: '0', found: '2' },
    ]);
  });

  it('counts what lists of metrics and of values select', async () => {
    await fixture.publish('ulp_2', [
      { key: 'listed', limit: '9', metrics: ['none', 'llm.tokens'], dimensionValues: ['model', ['m*']] },
      { key: 'exact', limit: '9', dimensionValues: ['model', ['m1', 'none*']] },
      { key: 'others', limit: '9', dimensionValues: ['model', ['m', 'm2*', 'm\\*']] },
    ]);
    await fixture.route({ subjectId: 'u9', planId: 'ulp_2' });
    await post('listed', ['u9', 'u9']);
    expect(await verify()).toMatchObject({ difference_count: 0, windows_bounded: 0, rules: 8 });
    await fixture.rows(`delete from current_windows where subject_id = 'u9'`);
    const { differences } = await verify();
    expect(differences.map(({ measure, found }) => [measure, found])).toEqual([
      ['window_missing', '4'],
      ['window_missing', '4'],
    ]);
  });

  it('bounds the values of a window that opened before a change of its plan', async () => {
    const models = { key: 'models', limit: '9', measure: 'unique', of: 'model', currency: '' } as const;
    const greatest = { key: 'greatest', limit: '9', measure: 'max', currency: '' } as const;
    await fixture.publish('ulp_2', [models, greatest]);
    await fixture.route({ subjectId: 'u9', planId: 'ulp_2' });
    await post('before', ['u9'], 0, 1_000_000);
    fixture.clock.advanceMs(2_000_000);
    const selector = ['metric', 'llm.tokens'] as const;
    await fixture.publish(
      'ulp_2',
      [models, greatest].map((rule) => ({ ...rule, selector })),
    );
    expect(await verify()).toMatchObject({ difference_count: 0, windows_bounded: 2 });
    await fixture.rows(`update current_windows set used = array[2, 2] where subject_id = 'u9'`);
    expect((await verify()).differences).toMatchObject([
      { subject_id: 'u9', expected: '2', found: '0 to 1' },
      { subject_id: 'u9', expected: '2', found: '0 to 1' },
    ]);
  });

  it('names each window that is missing', async () => {
    await post('late', ['u1'], -3);
    await fixture.rows(`delete from past_windows where subject_id = 'u1' and window_end is not null`);
    await fixture.rows(`delete from current_windows where subject_id = 'u2'`);
    const { rules, difference_count, differences } = await verify();
    expect(rules).toBe(5);
    expect(difference_count).toBe(3);
    const missing = { measure: 'window_missing', expected: '0' };
    const late = { ...missing, subject_id: 'u1', window_start: (TEST_DAY - 3) * DAY_S };
    expect(differences).toMatchObject([
      { ...late, found: '2' },
      { ...late, found: '1' },
      { ...missing, subject_id: 'u2', window_start: TEST_DAY * DAY_S, found: '2' },
    ]);
  });

  it.each([
    [
      'its plan',
      () => fixture.publish('ulp_1', [{ key: 'day', limit: '100', selector: ['metric', 'other'] }]),
      6,
    ],
    ['its route', () => fixture.rows('update subject_routes set updated_at = 1750000200'), 7],
    ['the route of a subject', () => audit('delete', { subject_type: 'user', subject_id: 'u1' }), 3],
    ['the subject of a route', () => audit('update', { subject_id: 'u1' }), 7],
  ])('bounds what a window has counted that opened before a change of %s', async (_, change, bounded) => {
    fixture.clock.advanceMs(200_000);
    await change();
    expect(await verify()).toMatchObject({
      ...{ windows: 7 - bounded, windows_bounded: bounded, difference_count: 0 },
    });
    await fixture.rows(
      `update current_windows set used = array_fill(0.5, array[cardinality(used)]) where subject_id = 'u1'`,
    );
    expect(await verify()).toMatchObject({ windows_bounded: bounded, difference_count: 0 });
    await fixture.rows(
      `update current_windows set used = array_fill(-1, array[cardinality(used)]) where subject_id = 'u1'`,
    );
    expect((await verify()).differences).toMatchObject(
      ['0 to 4', '0 to 2', '0 to 4'].map((found) => ({ subject_id: 'u1', expected: '-1', found })),
    );
  });

  it('judges exactly what a newer revision selects as before', async () => {
    fixture.clock.advanceMs(200_000);
    await fixture.publish('ulp_1', [{ key: 'day', limit: '200' }]);
    expect(await verify()).toMatchObject({ windows: 3, windows_bounded: 4, difference_count: 0 });
  });

  it('adds what is known since the change to what may have been counted before', async () => {
    fixture.clock.advanceMs(200_000);
    await fixture.rows('update subject_routes set updated_at = 1750000200');
    await post('more', ['u1'], 0, 400_000);
    await fixture.rows(
      `update current_windows set used = array_fill(0.5, array[cardinality(used)]) where subject_id = 'u1'`,
    );
    expect((await verify()).differences).toMatchObject(
      ['2 to 6', '1 to 3', '2 to 6'].map((found) => ({ subject_id: 'u1', expected: '0.5', found })),
    );
  });

  it('knows that usage falls into other windows when the route has moved them', async () => {
    fixture.clock.advanceMs(200_000);
    await fixture.rows(
      `update subject_routes set timezone = 'Asia/Kolkata', updated_at = 1750000200 where subject_id = '*'`,
    );
    await fixture.rows('update limit_revisions set revision = revision + 1');
    await post('moved', ['u1'], 0, 400_000);
    // Two days of u1 begin where they do now; what its lifetime window has counted since is known, too.
    expect(await verify()).toMatchObject({ windows: 3, windows_bounded: 6, difference_count: 0 });
  });

  it('says how many windows are not judged, because their usage is not kept any more', async () => {
    await fixture.rows('update current_windows set used = array_fill(99, array[cardinality(used)])');
    await fixture.rows(
      `insert into usage_retention (tenant_id, project_id, retained_from_day, shown_from_day, recorded_at_ms)
      select tenant_id, id, ${TEST_DAY + 1}, ${TEST_DAY + 1}, 0 from projects`,
    );
    expect(await verify()).toMatchObject({
      ...{ wallets: 0, wallets_unjudged: 2, windows: 0, windows_unjudged: 7, difference_count: 0 },
    });
  });

  async function audit(verb: string, change: object): Promise<unknown> {
    const { tenantId, projectId } = pipeline.project;
    return fixture.rows(
      `insert into audit_log (tenant_id, id, project_id, actor, action, resource_type, resource_id, change, request_id,
        created_at) values ($1, 'aud_1', $2, 'key_1', $3, 'subject_route', 'ra_1', $4, 'req_1', 1750000200)`,
      [tenantId, projectId, `subject_route.${verb}`, JSON.stringify(change)],
    );
  }
});

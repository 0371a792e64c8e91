import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../../../platform/postgres/index.js';
import { BatchPosting, PostingPlan, type PostingScope } from '../../posting/index.js';
import { ratedUsage, type TestUsage } from '../../posting/usage.testing.js';
import { createWorkerCatalog } from '../index.js';
import { createManagementApi, type ManagementApi, ruleOf } from '../management.testing.js';

const HOUR_S = 3_600;

let api: ManagementApi;
let scope: PostingScope;
let limitUrl: string;
const catalog = createWorkerCatalog();
const nowS = () => Math.floor(api.clock.nowMs() / 1_000);

beforeAll(async () => {
  api = await createManagementApi();
  const { tenantId, projectId } = api;
  const { rows } = await api.postgres.pool.query('select no from projects where id = $1', [projectId]);
  scope = { tenantId, projectId, projectNo: rows[0].no };
});
beforeEach(async () => {
  await api.postgres.pool.query('truncate current_windows, past_windows, webhook_messages cascade');
  await api.postgres.pool.query('delete from subject_routes');
  // Starts at the beginning of an hour, so that the steps of a test stay within it.
  api.clock.advanceMs((HOUR_S - (nowS() % HOUR_S)) * 1_000);
  await limit({ subject_id: 'u1' });
});
afterAll(() => api.close());

/** Creates a route with one direct limit of 100 an hour. */
async function limit(route: object): Promise<void> {
  const { id } = await api.makeRoute(route);
  const body = ruleOf({ period: 'hour', notify_at: [80] });
  const created = await api.must(201, 'POST', `/subject-routes/${id}/limits`, body);
  limitUrl = `/subject-routes/${id}/limits/${created.id}`;
}

const change = (body: object) => api.must(200, 'PUT', limitUrl, body);

async function use(amount: string, usage: TestUsage = {}): Promise<void> {
  await transaction(api.postgres, async (tx) => {
    const posting = new BatchPosting(tx, catalog, api.clock.nowMs());
    const event = ratedUsage({ atS: nowS(), items: [{ amount }], ...usage });
    const prepared = await posting.prepare([{ scope, events: [event] }]);
    const plan = new PostingPlan();
    plan.add(event, prepared.of(scope, event));
    await posting.write(plan);
  });
}

/** Returns the limits of the windows that exist: `subject`, hours from now, limit. */
async function limits(): Promise<string[]> {
  const { rows } = await api.postgres.pool.query(
    `select subject_id, (window_start - $1) / 3600 as hours, trim_scale(limit_amount)::text as amount
    from limit_windows order by 1, 2`,
    [nowS() - (nowS() % HOUR_S)],
  );
  return rows.map(({ subject_id, hours, amount }) => `${subject_id} ${hours} ${amount}`);
}

/** Returns the alerts that were sent, in percent. */
async function sentAlerts(): Promise<number[]> {
  const { rows } = await api.postgres.pool.query(
    `select (payload::json -> 'data' ->> 'threshold_percent')::int as percent from webhook_messages order by 1`,
  );
  return rows.map(({ percent }) => percent);
}

describe('another amount of a direct limit', () => {
  it('reaches the window that usage has opened when it takes effect now, and a past one never', async () => {
    await use('1', { atS: nowS() - 1 });
    await use('1');
    await change({ limit_amount: '7.5', effective: 'now' });
    expect(await limits()).toEqual(['u1 -1 100', 'u1 0 7.5']);
  });

  it('leaves the open window alone by default, and reaches one that begins later', async () => {
    await use('1');
    await use('1', { atS: nowS() + HOUR_S });
    api.clock.advanceMs(1_000);
    await change({ limit_amount: '7.5' });
    expect(await limits()).toEqual(['u1 0 100', 'u1 1 7.5']);
  });

  it('reaches every subject of a route for all', async () => {
    await limit({ subject_type: 'user', subject_id: '*' });
    await use('1', { subject: 'u2' });
    await use('1', { subject: 'u3' });
    await change({ limit_amount: '5', effective: 'now' });
    expect(await limits()).toEqual(['u2 0 5', 'u3 0 5']);
  });

  it('reports, with the next usage, the percentages that are exceeded by now', async () => {
    await use('10');
    await change({ limit_amount: '12', effective: 'now' });
    expect(await sentAlerts()).toEqual([]);
    await use('1');
    expect(await sentAlerts()).toEqual([80]);
    await change({ limit_amount: '5', effective: 'now' });
    await use('1');
    expect(await sentAlerts()).toEqual([80, 100]);
  });

  it('reports no percentage twice in a window, even when the outbox has deleted the first message', async () => {
    await use('80');
    expect(await sentAlerts()).toEqual([80]);
    await api.postgres.pool.query('truncate webhook_messages cascade');
    await change({ limit_amount: '200', effective: 'now' });
    await use('119');
    expect(await sentAlerts()).toEqual([]);
    await use('1');
    expect(await sentAlerts()).toEqual([100]);
    await change({ limit_amount: '300', effective: 'now' });
    await use('300');
    expect(await sentAlerts()).toEqual([100]);
  });

  it('is exact in the percentages that it reports, however many digits it has', async () => {
    await use('1');
    // 80 % has 19 fraction digits: it is reached with the next number that has 18.
    await change({ limit_amount: '12345678901234567890.000000000000000002', effective: 'now' });
    const { rows } = await api.postgres.pool.query('select next_notice::text from limit_windows');
    expect(rows).toEqual([{ next_notice: '9876543120987654312.000000000000000002' }]);
  });

  it('waits for the batch that is being posted, and reaches what that opens', async () => {
    let changing: Promise<unknown> = Promise.resolve();
    await transaction(api.postgres, async (tx) => {
      const posting = new BatchPosting(tx, catalog, api.clock.nowMs());
      const event = ratedUsage({ atS: nowS() });
      const prepared = await posting.prepare([{ scope, events: [event] }]);
      const plan = new PostingPlan();
      plan.add(event, prepared.of(scope, event));
      await posting.write(plan);
      changing = change({ limit_amount: '5', effective: 'now' });
    });
    await changing;
    expect(await limits()).toEqual(['u1 0 5']);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../../platform/postgres/index.js';
import { TEST_NOW_S } from '../../../testing/api.js';
import { emit, type WebhookEvent } from '../../webhooks/index.js';
import type { toRealtimeLimit } from './limit-status.js';
import { createTestLimits, makeLimit, makeRoute, type TestLimits } from './realtime.testing.js';
import { aboutSubject } from './recent-alerts.js';

let api: TestLimits;

beforeAll(async () => {
  api = await createTestLimits();
  const route = await makeRoute(api, { id: 'ra_1' });
  await makeLimit(api, route, { key: 'month', amount: '10' });
});
afterAll(() => api.close());

const url = (subject: string, query = '') =>
  `${api.url}/subject/realtime/crossings?subject_type=user&subject_id=${encodeURIComponent(subject)}${query}`;
const list = (subject: string, query?: string) => api.call('GET', url(subject, query));

async function snapshotOf(subject: string): Promise<ReturnType<typeof toRealtimeLimit>> {
  const path = `${api.url}/subject/realtime/limits?subject_type=user&subject_id=${encodeURIComponent(subject)}`;
  return (await api.call('GET', path)).json().limits[0];
}

/** Stores an alert as a worker does that has counted usage of the subject. */
async function recordAlert(subject: string, percent: number, atS: number, scope: Partial<WebhookEvent> = {}) {
  const { tenantId, projectId } = api;
  const event: WebhookEvent = {
    tenantId,
    projectId,
    type: percent === 100 ? 'usage_limit.exceeded' : 'usage_limit.threshold_reached',
    data: { ...(await snapshotOf(subject)), threshold_percent: percent, sequence: 1 },
    about: aboutSubject({ type: 'user', id: subject }),
    atMs: atS * 1_000,
    ...scope,
  };
  await transaction(api.postgres, (tx) => emit(tx, [event]));
}

describe('the crossings of a subject', () => {
  it('are listed newest first, each with where its limit stood', async () => {
    await recordAlert('u1', 50, TEST_NOW_S - 60);
    await recordAlert('u1', 100, TEST_NOW_S);
    const { status, json } = await list('u1');
    expect(status).toBe(200);
    expect(json()).toMatchObject({ total_count: 2, limit: 20, offset: 0 });
    expect(json().crossings).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: 'usage_limit.exceeded',
        threshold_percent: 100,
        sequence: 1,
        crossed_at: TEST_NOW_S,
        limit: await snapshotOf('u1'),
      },
      expect.objectContaining({ threshold_percent: 50, crossed_at: TEST_NOW_S - 60 }),
    ]);
  });

  it('of an earlier release lack what it did not record', async () => {
    const { limit_key, plan_id, account_id, account_external_id, ...recorded } = await snapshotOf('before');
    expect([limit_key, plan_id, account_id, account_external_id]).toEqual(['month', null, 'acct_ra_1', null]);
    await recordAlert('before', 100, TEST_NOW_S, { data: { ...recorded, threshold_percent: 100 } });
    const [crossing] = (await list('before')).json().crossings;
    expect(crossing.limit).toEqual(recorded);
    expect(crossing).not.toHaveProperty('sequence');
  });

  it('end with recoveries, which have the sequences of the alerts', async () => {
    await recordAlert('back', 50, TEST_NOW_S - 60);
    await recordAlert('back', 50, TEST_NOW_S, { type: 'usage_limit.recovered' });
    expect((await list('back')).json().crossings).toMatchObject([
      { type: 'usage_limit.recovered', threshold_percent: 50, sequence: 1, crossed_at: TEST_NOW_S },
      { type: 'usage_limit.threshold_reached', threshold_percent: 50, sequence: 1 },
    ]);
  });

  it('come a page at a time', async () => {
    for (const percent of [10, 20, 30]) await recordAlert('paged', percent, TEST_NOW_S + percent);
    const { json } = await list('paged', '&limit=1&offset=1');
    expect(json()).toMatchObject({ total_count: 3, crossings: [{ threshold_percent: 20 }] });
    expect((await list('paged', '&limit=0')).status).toBe(400);
  });

  it('are of that subject alone, whatever its id', async () => {
    await recordAlert('a b', 50, TEST_NOW_S);
    await recordAlert('a', 60, TEST_NOW_S);
    expect((await list('a b')).json().crossings).toMatchObject([{ threshold_percent: 50 }]);
    expect((await list('a')).json().crossings).toMatchObject([{ threshold_percent: 60 }]);
    expect((await list('nobody')).json()).toMatchObject({ crossings: [], total_count: 0 });
  });

  it('are of that project and tenant alone', async () => {
    await recordAlert('elsewhere', 50, TEST_NOW_S, { projectId: 'prj_other' });
    await recordAlert('elsewhere', 60, TEST_NOW_S, { tenantId: 'ten_other' });
    expect((await list('elsewhere')).json().crossings).toEqual([]);
  });
});

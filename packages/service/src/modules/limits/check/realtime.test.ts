import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../../testing/api.js';
import { createTestLimits, makeLimit, makeRoute, setUsed, type TestLimits } from './realtime.testing.js';

let api: TestLimits;
let accountId: string;

const DAY_S = 86_400;
/** TEST_NOW_S lies in September 2026. */
const MONTH = { startS: Date.UTC(2026, 8) / 1_000, endS: Date.UTC(2026, 9) / 1_000 };
const TODAY_S = TEST_NOW_S - (TEST_NOW_S % DAY_S);

beforeAll(async () => {
  api = await createTestLimits();
  const route = await makeRoute(api, { id: 'ra_all', externalId: 'crm-7' });
  accountId = route.accountId;
  const month = await makeLimit(api, route, { key: '1month', amount: '10', webhookEvent: 'budget.spent' });
  await setUsed(api, month, { startS: MONTH.startS, limit: '12.5' }, '2.5');
  const gone = await makeLimit(api, route, {
    key: '2tokens',
    measure: 'quantity',
    selector: ['metric_prefix', 'llm.'],
    dimension: ['model', 'large'],
    period: 'day',
    amount: '1000',
  });
  await setUsed(api, gone, { startS: TODAY_S, limit: '1000' }, '1000.5');
  // Yesterday's window is over.
  await setUsed(api, gone, { startS: TODAY_S - DAY_S, limit: '7' }, '7');
  await makeLimit(api, route, {
    key: '3life',
    selector: ['metric', 'llm.calls'],
    currency: 'EUR',
    period: 'lifetime',
    amount: '5',
    action: 'notify',
  });
});
afterAll(() => api.close());

const snapshot = (subjectId: string, key?: string) =>
  api.call(
    'GET',
    `${api.url}/subject/realtime/limits?subject_type=user&subject_id=${subjectId}`,
    undefined,
    key,
  );

const own = { rule_account_id: 'ra_all', subject_type: 'user', subject_id: 'u1' };
const direct = (key: string) => ({
  id: `racl_${key}`,
  limit_key: key,
  plan_id: null,
  ...own,
  account_id: accountId,
  account_external_id: 'crm-7',
  level: 0,
});

describe('the snapshot', () => {
  it('is of its own subject, however many are asked for at once', async () => {
    const route = await makeRoute(api, { id: 'ra_many', subjectId: 'many' });
    const ruleNo = await makeLimit(api, route, { key: 'many', amount: '100', period: 'lifetime' });
    await setUsed(api, ruleNo, { startS: 0, limit: '100' }, '7', 'many');
    const subjects = Array.from({ length: 60 }, (_, index) => ['u1', 'many', 'nobody'][index % 3] as string);
    const answers = await Promise.all(subjects.map((subjectId) => snapshot(subjectId)));
    for (const [at, { json }] of answers.entries()) {
      const used = json().limits.map((limit: Record<string, string>) => limit.used_amount);
      expect(used).toEqual(
        { u1: ['2.5', '1000.5', '0'], many: ['7'], nobody: ['0', '0', '0'] }[subjects[at] as string],
      );
    }
  });

  it('shows each limit as it stands, and every field that the rule has', async () => {
    const { status, json } = await snapshot('u1');
    expect(status).toBe(200);
    expect(json()).toEqual({
      tenant_id: api.tenantId,
      project_id: api.projectId,
      account_id: accountId,
      ...own,
      limits: [
        {
          ...direct('1month'),
          currency: 'USD',
          metric_scope: '*',
          selector_type: 'all',
          selector_value: '',
          measure: 'amount',
          period: 'month',
          window_id: `month:${MONTH.startS}`,
          next_reset_at: MONTH.endS,
          used_amount: '2.5',
          reserved_amount: '0',
          limit_amount: '12.5',
          remaining_amount: '10',
          exceeded: false,
          action: 'block',
          webhook_event: 'budget.spent',
        },
        {
          ...direct('2tokens'),
          dimension_key: 'model',
          dimension_value: 'large',
          currency: '',
          metric_scope: 'llm.*',
          selector_type: 'metric_prefix',
          selector_value: 'llm.',
          measure: 'quantity',
          period: 'day',
          window_id: `day:${TODAY_S}`,
          next_reset_at: TODAY_S + DAY_S,
          used_amount: '1000.5',
          reserved_amount: '0',
          limit_amount: '1000',
          remaining_amount: '-0.5',
          exceeded: true,
          action: 'block',
        },
        {
          ...direct('3life'),
          currency: 'EUR',
          metric_scope: 'llm.calls',
          selector_type: 'metric',
          selector_value: 'llm.calls',
          measure: 'amount',
          period: 'lifetime',
          window_id: 'lifetime:0',
          used_amount: '0',
          reserved_amount: '0',
          limit_amount: '5',
          remaining_amount: '5',
          exceeded: false,
          action: 'notify',
        },
      ],
      warnings: [],
    });
  });

  it('gives every subject of a * route windows of its own', async () => {
    const { limits } = (await snapshot('u2')).json();
    expect(limits[0]).toMatchObject({
      subject_id: 'u2',
      used_amount: '0',
      limit_amount: '10',
      exceeded: false,
    });
  });

  it('shows the reserved amount next to the used one', async () => {
    const body = { subject_type: 'user', subject_id: 'u3', amount: '4', currency: 'USD', ttl_seconds: 60 };
    expect((await api.call('POST', `${api.url}/budget-leases`, body)).status).toBe(201);
    const [month] = (await snapshot('u3')).json().limits;
    expect(month).toMatchObject({
      used_amount: '0',
      reserved_amount: '4',
      remaining_amount: '10',
      exceeded: false,
    });
  });

  it('is empty for a subject without a route, the check is allowed, and both say so', async () => {
    const noRoute = {
      code: 'no_route',
      name: 'team u1',
      message:
        'The subject `team u1` has no route: it has no limits, and its usage is not charged to an account.',
    };
    const other = `${api.url}/subject/realtime/limits?subject_type=team&subject_id=u1`;
    const { status, json } = await api.call('GET', other);
    expect([status, json()]).toEqual([
      200,
      {
        tenant_id: api.tenantId,
        project_id: api.projectId,
        account_id: null,
        subject_type: 'team',
        subject_id: 'u1',
        rule_account_id: null,
        limits: [],
        warnings: [noRoute],
      },
    ]);
    const check = await api.call('POST', `${api.url}/subject/realtime/check`, {
      subject_type: 'team',
      subject_id: 'u1',
    });
    expect(check.json()).toEqual({ allowed: true, blocked_by: [], warnings: [noRoute] });
  });

  it('asks for both parts of the subject, and knows no others', async () => {
    const url = `${api.url}/subject/realtime/limits`;
    for (const query of [
      '',
      '?subject_type=user',
      '?subject_id=u1',
      '?subject_type=User&subject_id=u1',
      '?subject_type=user&subject_id=',
      '?subject_type=user&subject_id=u1&x=1',
      '?subject_type=user&subject_id=%00',
    ]) {
      expect([query, (await api.call('GET', url + query)).status]).toEqual([query, 400]);
    }
  });

  it("shows nothing of another project's subject of the same name", async () => {
    const project = await api.makeProject(api.tenantId);
    const url = `/v1/projects/${project}/subject/realtime/limits?subject_type=user&subject_id=u1`;
    expect((await api.call('GET', url)).json()).toMatchObject({ account_id: null, limits: [] });
  });
});

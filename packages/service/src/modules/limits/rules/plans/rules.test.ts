import type { LimitRuleInput } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementApi, type ManagementApi, ruleOf } from '../management.testing.js';

let api: ManagementApi;
beforeAll(async () => {
  api = await createManagementApi();
});
afterAll(() => api.close());

const planWith = (rule: object) => JSON.stringify({ name: 'x', title: 'x', rules: [ruleOf(), rule] });

describe('rules of a plan', () => {
  it.each([
    ['no key', { limit_key: undefined }, 'limit_key'],
    ['an empty key', { limit_key: '' }, 'limit_key'],
    ['a key with a space', { limit_key: 'a b' }, 'limit_key'],
    ['a key that another rule has', { limit_key: 'spend' }, 'limit_key'],
    ['an unknown measure', { measure: 'sum' }, 'measure'],
    ['an unknown selector', { selector_type: 'regex' }, 'selector_type'],
    ['a metric of another shape', { selector_type: 'metric', selector_value: 'Tokens' }, 'selector_value'],
    ['a dimension of another shape', { dimension_key: 'a b', dimension_value: 'x' }, 'dimension_key'],
    ['an empty value of a dimension', { dimension_key: 'a', dimension_value: '' }, 'dimension_value'],
    ['a currency in small letters', { currency: 'usd' }, 'currency'],
    ['a period that is a number', { period: 7 }, 'period'],
    ['an unknown period', { period: '90mo' }, 'period'],
    ['a limit that is true', { limit_amount: true }, 'limit_amount'],
    ['no limit', { limit_amount: undefined }, 'limit_amount'],
    ['an unknown action', { action: 'drop' }, 'action'],
    ['an event of another shape', { webhook_event: 'a b' }, 'webhook_event'],
    ['0 percent', { notify_at: [0] }, 'notify_at[0]'],
    ['more than 100 percent', { notify_at: [101] }, 'notify_at[0]'],
    ['half a percent', { notify_at: [0.5] }, 'notify_at[0]'],
    ['too many percentages', { notify_at: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, 'notify_at'],
    ['an unknown field', { threshold: 1 }, 'threshold'],
  ])('refuse %s, naming the place', async (_, change, path) => {
    const body = planWith({ ...ruleOf({ limit_key: 'b' }), ...change });
    const refused = await api.must(400, 'POST', '/usage-limit-plans', body);
    expect(refused.code).toBe('invalid_request');
    expect(refused.details.map((detail: { path: string }) => detail.path)).toContain(`rules[1].${path}`);
  });

  it('are shown as they were sent, what they do not have left out', async () => {
    const rules: LimitRuleInput[] = [
      ruleOf({ notify_at: [] }),
      ruleOf({
        limit_key: 'gpt:tokens.v2',
        measure: 'quantity',
        selector_type: 'metric_prefix',
        selector_value: 'llm.',
        dimension_key: 'model',
        dimension_value: 'gpt-5 "mini"',
        currency: '',
        period: '2 week',
        limit_amount: '1.5',
        action: 'notify',
        webhook_event: 'tokens.high',
        notify_at: [25, 100],
      }),
      { ...ruleOf({ limit_key: 'seats', measure: 'unique', of: 'user', currency: '' }), notify_at: [] },
      {
        ...ruleOf({ limit_key: 'family', selector_type: 'metrics', selector_values: ['llm.a', 'llm.b'] }),
        ...{ dimension_key: 'model', dimension_values: ['gpt-5*', '\\*'], notify_at: [] },
      },
    ];
    const id = await api.makePlan(rules);
    const { published } = await api.must(200, 'GET', `/usage-limit-plans/${id}`);
    const shown = published.rules.map((rule: Record<string, unknown>): Record<string, unknown> => {
      const { id: ruleId, plan_version_id, created_at, updated_at, ...rest } = rule;
      expect(ruleId).toMatch(/^ulpr_/);
      expect([plan_version_id, typeof created_at, typeof updated_at]).toEqual([
        published.id,
        'number',
        'number',
      ]);
      return rest;
    });
    expect(shown).toEqual(rules);
  });

  it('keep every digit of a limit that is sent as a number', async () => {
    const rule = JSON.stringify(ruleOf()).replace('"100"', '12345678901234567890.000000000000000001');
    const { id } = await api.must(
      201,
      'POST',
      '/usage-limit-plans',
      `{"name":"n","title":"n","rules":[${rule}]}`,
    );
    const { draft } = await api.must(200, 'GET', `/usage-limit-plans/${id}`);
    expect(draft.rules[0].limit_amount).toBe('12345678901234567890.000000000000000001');
  });
});

describe('the number under which a rule counts', () => {
  const numbers = async (): Promise<Map<string, number>> => {
    const { rows } = await api.postgres.pool.query<{ limit_key: string; rule_no: number }>(
      'select limit_key, rule_no from usage_limit_plan_rules where plan_version_id = $1',
      [versionId],
    );
    return new Map(rows.map((row) => [row.limit_key, row.rule_no]));
  };
  let planId: string;
  let versionId: string;
  const saveRules = async (rules: LimitRuleInput[]) => {
    planId ??= await api.makePlan([], false);
    versionId = (await api.must(200, 'PUT', `/usage-limit-plans/${planId}`, { rules })).draft.id;
    await api.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
    return numbers();
  };

  it('stays the same over revisions, for one key, period and unit', async () => {
    const a = ruleOf({ limit_key: 'a', period: '7d' });
    const b = ruleOf({ limit_key: 'b', measure: 'quantity' });
    const first = await saveRules([a, b]);
    expect(new Set(first.values()).size).toBe(2);
    const kept = await saveRules([
      { ...b, currency: 'TOKENS', limit_amount: '5', selector_type: 'metric', selector_value: 'tokens' },
      { ...a, period: '7 days', action: 'notify' },
    ]);
    expect(kept).toEqual(first);
    const changed = await saveRules([
      { ...a, period: '8d' },
      { ...b, measure: 'amount', currency: 'USD' },
    ]);
    expect([...changed.values()].some((no) => [...first.values()].includes(no))).toBe(false);
    const inEuro = await saveRules([{ ...a, currency: 'EUR' }, b]);
    expect(inEuro.get('b')).toBe(first.get('b'));
    expect(inEuro.get('a')).not.toBe(first.get('a'));
    expect(await saveRules([a, b])).toEqual(first);
  });

  it('is another one for values of another dimension', async () => {
    const users = ruleOf({ limit_key: 'seats', measure: 'unique', of: 'user', currency: '' });
    const first = await saveRules([users]);
    const other = await saveRules([{ ...users, of: 'team' }]);
    expect(other.get('seats')).not.toBe(first.get('seats'));
    expect(await saveRules([{ ...users, limit_amount: '3', currency: 'USERS' }])).toEqual(first);
  });

  it('is that of one plan alone', async () => {
    const own = await saveRules([ruleOf()]);
    planId = await api.makePlan([], false);
    expect((await saveRules([ruleOf()])).get('spend')).not.toBe(own.get('spend'));
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failedRow, idOf, insertUsageRows, usageRow } from '../../testing/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { type BacktestFixture, EVENTS, FROM, openBacktestFixture } from './backtest.testing.js';
import { EXTRACTOR, PRICING } from './trial.testing.js';

let fixture: BacktestFixture;
beforeAll(async () => {
  fixture = await openBacktestFixture();
});
afterAll(() => fixture.close());

/** Returns a backtest that ends at once. */
async function backtest(body: object) {
  const { httpStatus, answer } = await fixture.backtest(body);
  expect(httpStatus, JSON.stringify(answer)).toBe(200);
  return answer;
}

describe('a small backtest', () => {
  it('returns at once what the rules would change', async () => {
    const answer = await backtest({ pricing: PRICING });
    expect(answer).toMatchObject({
      status: 'succeeded',
      progress: { events_done: EVENTS, events_total: EVENTS },
      failure: null,
      request: {
        extractor_rule_set_id: fixture.extractorId,
        time_range: fixture.timeRange,
        pricing: PRICING,
      },
    });
    // 1 × 0.01 + 2 × 0.03 was not charged before.
    const quantity = '78';
    expect(answer.result).toMatchObject({
      ...fixture.timeRange,
      event_count: EVENTS,
      changed_count: EVENTS, // the unit price is shown now
      newly_failed: [],
      newly_succeeded: [],
      totals: [
        {
          metric: 'llm.tokens',
          unit: 'token',
          currency: 'USD',
          before: { item_count: EVENTS, quantity, amount: '1.55' },
          after: { item_count: EVENTS, quantity, amount: '1.62' },
        },
      ],
      cut_by: [],
    });
    expect(answer.result.examples.slice(0, 3)).toMatchObject([
      {
        raw_event_id: `evt_${idOf(fixture.rows[1] as UsageEventRow)}`,
        occurred_at: FROM + 2,
        currency: 'USD',
        amount_difference: '0.06',
        before: { charge_items: [{ amount: '0' }], charge_item_count: 1, failure: null },
        after: { charge_items: [{ amount: '0.06', rule_name: 'large' }], charge_item_count: 1 },
      },
      { currency: 'USD', amount_difference: '0.01' },
      { currency: null, amount_difference: '0' },
    ]);
  });

  it('gives the same again, and by its id', async () => {
    const first = await backtest({ pricing: PRICING, sample: 0.5 });
    const second = await backtest({ pricing: PRICING, sample: 0.5 });
    expect(second.result).toEqual(first.result);
    expect(second.result.event_count).toBeLessThan(EVENTS);
    expect(await fixture.read(first.id)).toMatchObject({ id: first.id, result: first.result });
  });

  it('shows what would newly fail', async () => {
    const extractor = { dimensions: [{ name: 'x', path: 'x', type: 'string', required: true }] };
    const { result } = await backtest({ extractor });
    expect(result).toMatchObject({
      newly_failed: [{ code: 'dimension_missing', count: EVENTS }],
      totals: [{ after: { item_count: 0, quantity: '0', amount: '0' } }],
    });
    expect(result.examples[0]).toMatchObject({
      amount_difference: '-0.36',
      after: { charge_items: [], failure: { code: 'dimension_missing', path: 'dimensions[0]' } },
    });
  });

  it('rates failed events, sent subjects and hints as production would', async () => {
    const id = await fixture.trial.makeRuleSet('extractor', EXTRACTOR);
    const of = {
      tenantId: fixture.trial.tenantId,
      projectId: fixture.trial.projectId,
      extractorRuleSetId: id,
    };
    await insertUsageRows(fixture.store.clickhouse, [
      failedRow({ ...of, occurredAt: FROM + 1, rawJson: '{"model": "m", "tokens": 12345678901234567890}' }),
      failedRow({ ...of, occurredAt: FROM + 2, rawJson: '', failureCode: 'processing_failed' }),
      usageRow({
        ...of,
        occurredAt: FROM + 3,
        items: [],
        rawJson: '{"model": "m", "tokens": 1}',
        xBilling: '{"pricing_hints": {"llm.tokens": {"unit_price": 0.1}}}',
        subjectType: 'team',
        subjectId: 't1',
        subjectIsSent: true,
      }),
      usageRow({
        ...of,
        occurredAt: FROM + 4,
        items: [],
        rawJson: '{"model": "m", "tokens": 1}',
        subjectType: 'team',
        subjectId: 't1',
      }),
    ]);
    const extractor = {
      ...EXTRACTOR,
      subject: { type_path: 'user.type', default_type: 'user', id_path: 'user.id', default_id: 'nobody' },
    };
    const pricing = {
      rules: [
        { metric: 'llm.tokens', match_expr: 'subject.id == "nobody"', unit_price_expr: 'dec("3")' },
        { metric: 'llm.tokens', unit_price_expr: 'dec("5")' },
      ],
    };
    const { result } = await backtest({ extractor_rule_set_id: id, extractor, pricing });
    expect(result).toMatchObject({
      event_count: 4,
      changed_count: 3,
      newly_failed: [],
      newly_succeeded: [{ code: 'dimension_missing', count: 1 }],
      totals: [{ before: { item_count: 0 }, after: { item_count: 3, amount: '37037036703703703673.1' } }],
    });
  });

  it('has nothing to say of a range without events', async () => {
    const { result } = await backtest({ time_range: { last_seconds: 5 }, pricing: PRICING });
    expect(result).toMatchObject({ event_count: 0, totals: [], examples: [], cut_by: [] });
  });

  it.each<[object, string, string]>([
    [{ time_range: { from: 5, to: 5 } }, 'invalid_request', 'time_range.to'],
    [{ time_range: {} }, 'invalid_request', 'time_range.from'],
    [{ sample: 0 }, 'invalid_request', 'sample'],
    [{ sample: 1.5 }, 'invalid_request', 'sample'],
    [{ event: {} }, 'invalid_request', 'event'],
    [{ pricing: { currency: 'x' } }, 'invalid_request', 'pricing.currency'],
    [{ pricing_rule_set_id: 'prs_absent' }, 'rule_set_not_found', 'pricing_rule_set_id'],
    [{ extractor_rule_set_id: 'ers_absent' }, 'rule_set_not_found', 'extractor_rule_set_id'],
    [{ extractor_rule_set_id: 'ers_absent', extractor: {} }, 'rule_set_not_found', 'extractor_rule_set_id'],
  ])('is refused: %j', async (body, code, path) => {
    const answer = await fixture.trial.post('/rules/backtest', {
      extractor_rule_set_id: fixture.extractorId,
      time_range: fixture.timeRange,
      ...body,
    });
    expect(answer.status, answer.text).toBe(400);
    const { details, ...rest } = answer.json();
    expect([rest.code, details[0].path]).toEqual([code, path]);
  });
});

describe('backtests', () => {
  it('are listed newest first, without what was asked and found', async () => {
    const { id } = await backtest({});
    const { backtests, total_count: count } = (
      await fixture.trial.call('GET', `${fixture.url()}?limit=2`)
    ).json();
    expect(count).toBeGreaterThan(2);
    expect(backtests).toHaveLength(2);
    expect(backtests[0]).toMatchObject({ id, status: 'succeeded' });
    expect(backtests[0]).not.toHaveProperty('result');
    expect(backtests[0]).not.toHaveProperty('request');
  });

  it("are a project's own: a foreign id is byte for byte an absent one", async () => {
    const { id } = await backtest({});
    const other = await fixture.trial.makeProject(await fixture.trial.makeTenant());
    for (const method of ['GET', 'DELETE'] as const) {
      const foreign = await fixture.trial.call(method, `/v1/projects/${other}/rules/backtests/${id}`);
      const absent = await fixture.trial.call(method, `/v1/projects/${other}/rules/backtests/bt_absent`);
      expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    }
    expect(
      (await fixture.trial.call('GET', `/v1/projects/${other}/rules/backtests`)).json().backtests,
    ).toEqual([]);
    expect((await fixture.read(id)).status).toBe('succeeded');
  });

  it('need both permissions: to read rules, and to read usage', async () => {
    for (const permission of ['rules:read', 'usage:read'] as const) {
      const key = await fixture.trial.makeKey(fixture.trial.tenantId, [permission]);
      expect((await fixture.trial.call('GET', fixture.url(), undefined, key)).status).toBe(403);
    }
    const key = await fixture.trial.makeKey(fixture.trial.tenantId, ['rules:write', 'usage:read']);
    expect((await fixture.trial.call('GET', fixture.url(), undefined, key)).status).toBe(200);
  });

  it('are forgotten after some days', async () => {
    const { id } = await backtest({});
    fixture.trial.clock.advanceMs(8 * 86_400_000);
    expect((await fixture.trial.call('GET', fixture.url(id))).status).toBe(404);
    await backtest({});
    const { rows: left } = await fixture.trial.postgres.pool.query('select id from backtests');
    expect(left).toHaveLength(1);
  });
});

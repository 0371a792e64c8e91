import { describe, expect, it } from 'vitest';
import { backtestBody, describeRequest } from './backtest-request.js';

describe('backtestBody', () => {
  it('tries an extractor draft on the events of its rule set', () => {
    const draft = { name: 'x' };
    expect(backtestBody({ kind: 'extractor', ruleSetId: 'ers_1', draft }, '86400', '1')).toEqual({
      extractor_rule_set_id: 'ers_1',
      extractor: draft,
      time_range: { last_seconds: 86_400 },
    });
  });

  it('tries a pricing draft on the events of what it is bound to', () => {
    const draft = { extractor_rule_set_id: 'ers_1', rules: [] };
    expect(backtestBody({ kind: 'pricing', ruleSetId: 'prs_1', draft }, '604800', '0.1')).toEqual({
      extractor_rule_set_id: 'ers_1',
      pricing: draft,
      time_range: { last_seconds: 604_800 },
      sample: 0.1,
    });
  });

  it.each([
    ['extractor', undefined],
    ['pricing', undefined],
    ['pricing', {}],
  ] as const)('has nothing to try of %s %j', (kind, draft) => {
    expect(backtestBody({ kind, ruleSetId: 'id', draft }, '86400', '1')).toBeUndefined();
  });
});

it.each([
  [{ extractor: {}, time_range: { last_seconds: 86_400 } }, 'Extractor draft, last 24 hours'],
  [
    { pricing: {}, time_range: { last_seconds: 604_800 }, sample: 0.1 },
    'Pricing draft, last 7 days, sample of 0.1',
  ],
  [{ time_range: { from: 1, to: 2 } }, 'Saved rules, custom range'],
  [null, 'Saved rules, custom range'],
])('describes %j', (request, expected) => {
  expect(describeRequest(request)).toBe(expected);
});

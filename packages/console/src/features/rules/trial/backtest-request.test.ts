import { describe, expect, it } from 'vitest';
import { backtestBody, canBacktest, describeRequest } from './backtest-request.js';

const NOW_S = Date.UTC(2026, 10, 27) / 1_000;
const UNSAVED = { savedVersion: undefined };

describe('canBacktest', () => {
  it.each([
    ['extractor', {}, true],
    ['extractor', undefined, false],
    ['pricing', { extractor_rule_set_id: 'ers_1' }, true],
    ['pricing', {}, false],
    ['pricing', undefined, false],
  ] as const)('tells it of the draft of a rule set: %s, %j', (kind, draft, expected) => {
    const rules = { kind, ruleSetId: 'rs_1', draft, ...UNSAVED };
    expect(canBacktest(rules)).toBe(expected);
    expect(backtestBody(rules, '86400', '1', NOW_S) !== undefined).toBe(expected);
  });
});

describe('backtestBody', () => {
  it('tries an extractor draft on the events of its rule set', () => {
    const draft = { name: 'x' };
    expect(
      backtestBody({ kind: 'extractor', ruleSetId: 'ers_1', draft, ...UNSAVED }, '86400', '1', NOW_S),
    ).toEqual({
      extractor_rule_set_id: 'ers_1',
      extractor: draft,
      time_range: { last_seconds: 86_400 },
    });
  });

  it('tries a pricing draft on the events of what it is bound to', () => {
    const draft = { extractor_rule_set_id: 'ers_1', rules: [] };
    expect(
      backtestBody({ kind: 'pricing', ruleSetId: 'prs_1', draft, ...UNSAVED }, '604800', '0.1', NOW_S),
    ).toEqual({
      extractor_rule_set_id: 'ers_1',
      pricing: draft,
      time_range: { last_seconds: 604_800 },
      sample: 0.1,
    });
  });

  it('names rules that are saved, so that their counters are known', () => {
    const draft = { extractor_rule_set_id: 'ers_1', rules: [] };
    const saved = { ruleSetId: 'rs_1', draft, savedVersion: 3 };
    expect(backtestBody({ kind: 'pricing', ...saved }, '86400', '1', NOW_S)).toEqual({
      ...{ extractor_rule_set_id: 'ers_1', pricing_rule_set_id: 'rs_1', pricing_version: 3 },
      time_range: { last_seconds: 86_400 },
    });
    expect(backtestBody({ kind: 'extractor', ...saved }, '86400', '1', NOW_S)).toEqual({
      ...{ extractor_rule_set_id: 'rs_1', version: 3 },
      time_range: { last_seconds: 86_400 },
    });
  });

  it.each([
    ['this-month', Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)],
    ['last-month', Date.UTC(2026, 9, 1), Date.UTC(2026, 10, 1)],
  ] as const)('takes a whole month: %s', (period, from, to) => {
    const rules = { kind: 'extractor', ruleSetId: 'ers_1', draft: {}, savedVersion: 1 } as const;
    expect(backtestBody(rules, period, '1', NOW_S)?.time_range).toEqual({
      from: from / 1_000,
      to: to / 1_000,
    });
  });

  it.each([
    ['extractor', undefined],
    ['pricing', undefined],
    ['pricing', {}],
  ] as const)('has nothing to try of %s %j', (kind, draft) => {
    expect(
      backtestBody({ kind, ruleSetId: 'id', draft, savedVersion: 1 }, '86400', '1', NOW_S),
    ).toBeUndefined();
  });
});

it.each([
  [{ extractor: {}, time_range: { last_seconds: 86_400 } }, 'Extractor draft, last 24 hours'],
  [
    { pricing: {}, time_range: { last_seconds: 604_800 }, sample: 0.1 },
    'Pricing draft, last 7 days, sample of 0.1',
  ],
  [{ time_range: { from: 0, to: 86_400 } }, 'Saved rules, 1 Jan 1970, 00:00 to 2 Jan 1970, 00:00'],
  [null, 'Saved rules, custom range'],
])('describes %j', (request, expected) => {
  expect(describeRequest(request)).toBe(expected);
});

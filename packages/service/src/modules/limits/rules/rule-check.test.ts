import type { ErrorDetail, LimitRuleInput } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import type { DomainError } from '../../../kernel/errors.js';
import { parseLossless } from '../../../kernel/json/json.js';
import { ruleOf } from './management.testing.js';
import { checkedRule, checkedRules } from './rule-check.js';

function placesOf(check: () => unknown): readonly ErrorDetail[] {
  try {
    check();
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request' });
    return (error as DomainError).details ?? [];
  }
  return [];
}

const pathsOf = (check: () => unknown) => placesOf(check).map(({ path }) => path);
/** Parses an amount as a body is parsed. */
const amount = (json: string) => parseLossless(json) as LimitRuleInput['limit_amount'];

describe('what a rule may be', () => {
  it('fills in what was left out', () => {
    const { selector_value, currency, ...bare } = ruleOf({ measure: 'quantity' });
    expect(checkedRule(bare)).toEqual({
      ...bare,
      selector_value: '',
      currency: '',
      dimension_key: null,
      dimension_value: null,
      dimension_values: null,
      selector_values: null,
      of: null,
      webhook_event: null,
      notify_at: [],
    });
  });

  it.each([
    ['all but a value', { selector_value: 'llm.tokens' }, ['selector_value']],
    ['a metric without one', { selector_type: 'metric' }, ['selector_value']],
    ['a prefix without one', { selector_type: 'metric_prefix' }, ['selector_value']],
    ['several metrics without any', { selector_type: 'metrics' }, ['selector_values']],
    [
      'several metrics, one twice, and one more',
      { selector_type: 'metrics', selector_value: 'a', selector_values: ['a', 'b', 'a'] },
      ['selector_value', 'selector_values[2]'],
    ],
    ['metrics of another selector', { selector_values: ['a'] }, ['selector_values']],
    ['values without a dimension', { dimension_values: ['a'] }, ['dimension_key']],
    [
      'values beside a value',
      { dimension_key: 'model', dimension_value: 'a', dimension_values: ['b', 'b'] },
      ['dimension_values', 'dimension_values[1]'],
    ],
    ['a dimension without a value', { dimension_key: 'model' }, ['dimension_value']],
    ['a value without a dimension', { dimension_value: 'gpt' }, ['dimension_key']],
    ['an amount of no currency', { currency: '' }, ['currency']],
    ['usage of no period', { period: undefined }, ['period']],
    [
      'concurrent work of a period, a metric and a dimension, with alerts',
      {
        ...{ measure: 'concurrency', selector_type: 'metric', selector_value: 'a', action: 'notify' },
        ...{ dimension_key: 'model', dimension_value: 'x', notify_at: [50], webhook_event: 'budget.reached' },
      },
      ['period', 'selector_type', 'dimension_key', 'action', 'notify_at', 'webhook_event'],
    ],
    ['different values of no dimension', { measure: 'unique' }, ['of']],
    ['a dimension of another measure', { measure: 'max', of: 'model' }, ['of']],
    [
      'more values than a window counts',
      { measure: 'unique', of: 'seat', limit_amount: '100001' },
      ['limit_amount'],
    ],
    [
      'different values in a sliding window',
      { measure: 'unique', of: 'user', period: 'sliding:1h' },
      ['period'],
    ],
    ['a greatest quantity in a sliding window', { measure: 'max', period: 'sliding:1h' }, ['period']],
    ['a sliding window of more than 31 days', { period: 'sliding:32d' }, ['period']],
    ['an unknown period', { period: '5mo' }, ['period']],
    ['no period', { period: 'fortnight' }, ['period']],
    ['a period that is too long', { period: '9999d' }, ['period']],
    ['percentages that fall', { notify_at: [50, 90, 80] }, ['notify_at[2]']],
    ['the name of recoveries', { webhook_event: 'usage_limit.recovered' }, ['webhook_event']],
    ['a percentage twice', { notify_at: [50, 50] }, ['notify_at[1]']],
    [
      'everything at once',
      { currency: '', period: '', limit_amount: '-1', selector_type: 'metric' },
      ['selector_value', 'currency', 'period', 'limit_amount'],
    ],
  ] as const)('refuses %s', (_, change, paths) => {
    expect(pathsOf(() => checkedRule(ruleOf(change as Partial<LimitRuleInput>)))).toEqual(paths);
  });

  it.each(['hour', 'day', 'week', 'month', 'lifetime', '7d', '5h', '5 day', '2 week', '5 month'])(
    'takes the period %s as it is written',
    (period) => {
      expect(checkedRule(ruleOf({ period })).period).toBe(period);
    },
  );

  it('takes 100 percent, which always sends an alert', () => {
    expect(checkedRule(ruleOf({ notify_at: [1, 99, 100] })).notify_at).toEqual([1, 99, 100]);
  });

  it('names the rule of a plan', () => {
    const rules = [ruleOf(), ruleOf({ limit_key: 'b', period: 'x' }), ruleOf()];
    expect(pathsOf(() => checkedRules(rules))).toEqual(['rules[1].period', 'rules[2].limit_key']);
  });
});

describe('a limit is exact', () => {
  it.each([
    ['"0"', '0'],
    ['0', '0'],
    ['0.1', '0.1'],
    ['"12.50"', '12.5'],
    ['1e3', '1000'],
    ['12345678901234567890', '12345678901234567890'],
    ['12345678901234567890.123456789012345678', '12345678901234567890.123456789012345678'],
    ['"99999999999999999999.999999999999999999"', '99999999999999999999.999999999999999999'],
  ])('%s', (json, expected) => {
    expect(checkedRule(ruleOf({ limit_amount: amount(json) })).limit_amount).toBe(expected);
  });

  it.each([
    ['negative', '-1'],
    ['nearly nothing, but negative', '-0.000000000000000001'],
    ['more than 20 integer digits', '100000000000000000000'],
    ['more than 18 fraction digits', '0.0000000000000000001'],
    ['no decimal', '"ten"'],
    ['empty', '""'],
    ['a space', '" 1"'],
    ['hexadecimal', '"0x10"'],
    ['no number', '"NaN"'],
  ])('refuses what is %s', (_, json) => {
    expect(pathsOf(() => checkedRule(ruleOf({ limit_amount: amount(json) })))).toEqual(['limit_amount']);
  });
});

import { describe, expect, it } from 'vitest';
import { durationOf, periodChoice, periodOf, periodWords } from './period.js';
import { copyRule, NEW_RULE, percentages, ruleDraft, ruleInput } from './rule-draft.js';
import { ruleSentence } from './rule-sentence.js';

const RULE = { ...NEW_RULE, limit_key: 'spend', limit_amount: '100' };

describe('a rule as a sentence', () => {
  it('describes counts', () => {
    const count = {
      ...NEW_RULE,
      measure: 'count',
      currency: '',
      limit_amount: '5000',
      period: 'day',
    } as const;
    expect(ruleSentence(count)).toMatch(/^5,000 charge items of all usage per calendar day,/);
    const calls = {
      ...count,
      currency: 'calls',
      selector_type: 'metric',
      selector_value: 'http.calls',
    } as const;
    expect(ruleSentence(calls)).toMatch(/^5,000 calls of http\.calls per calendar day,/);
  });

  it('describes numbers of different values, and greatest quantities', () => {
    const unique = { ...NEW_RULE, measure: 'unique', of: 'user', currency: '', limit_amount: '5' } as const;
    expect(ruleSentence(unique)).toMatch(
      /^5 different values of \u2068user\u2069 in all usage per calendar month,/,
    );
    const max = {
      ...unique,
      measure: 'max',
      of: '',
      currency: 'tokens',
      selector_type: 'metric',
      selector_value: 'llm.input_tokens',
      limit_amount: '8000',
    } as const;
    expect(ruleSentence(max)).toMatch(
      /^at most 8,000 tokens in one charge item of llm\.input_tokens per calendar/,
    );
  });

  it('describes lists of metrics and of values, and sends them as lists', () => {
    const family = {
      ...RULE,
      selector_type: 'metrics',
      selector_values: 'llm.input_tokens, llm.output_tokens',
      dimension_key: 'model',
      dimension_values: 'gpt-5*\no3\n',
    } as const;
    expect(ruleSentence(family)).toMatch(
      /^100 USD of llm\.input_tokens or llm\.output_tokens where model is \u2068gpt-5\*\u2069 or \u2068o3\u2069 per/,
    );
    expect(ruleInput(family)).toMatchObject({
      selector_value: '',
      selector_values: ['llm.input_tokens', 'llm.output_tokens'],
      dimension_value: null,
      dimension_values: ['gpt-5*', 'o3'],
    });
    expect(ruleInput({ ...family, selector_type: 'all', dimension_values: '' })).toMatchObject({
      selector_values: null,
      dimension_values: null,
    });
    const stored = { ...ruleInput(RULE), notify_at: [], selector_value: '', currency: '', limit_amount: '1' };
    const { of: _of, dimension_key: _key, dimension_value: _value, webhook_event: _event, ...shown } = stored;
    const lists = { selector_values: ['a', 'b'], dimension_values: ['x', 'y*'] };
    expect(ruleDraft({ ...shown, ...lists })).toMatchObject({
      selector_values: 'a, b',
      dimension_values: 'x\ny*',
    });
  });

  it('sends the dimension of different values only with that measure', () => {
    expect(ruleInput({ ...RULE, measure: 'unique', of: ' user ' })).toMatchObject({ of: 'user' });
    expect(ruleInput({ ...RULE, measure: 'max', of: 'user' })).toMatchObject({ of: null });
  });

  it('describes amounts of all usage', () => {
    expect(ruleSentence(RULE)).toBe(
      '100 USD of all usage per calendar month, alerts at 50 % and 80 %, blocks at 100 %',
    );
  });

  it('describes quantities of a metric, its dimension, and rules that only alert', () => {
    const rule = {
      ...RULE,
      measure: 'quantity',
      currency: '',
      selector_type: 'metric',
      selector_value: 'llm.output_tokens',
      dimension_key: 'model',
      dimension_value: 'large',
      period: '7d',
      limit_amount: '1000000',
      action: 'notify',
      notify_at: '100',
    } as const;
    expect(ruleSentence(rule)).toBe(
      '1,000,000 llm.output_tokens where model is \u2068large\u2069 per 7 days, alerts only, at 100 %',
    );
  });

  it('shows an ellipsis for empty fields', () => {
    const rule = {
      ...RULE,
      selector_type: 'metric_prefix',
      limit_amount: '',
      notify_at: 'x',
      period: 'lifetime',
    } as const;
    expect(ruleSentence(rule)).toBe('… USD of * in total, alerts at … %, blocks at 100 %');
  });
});

describe('the request body of a rule', () => {
  it('removes empty fields and thousands separators', () => {
    expect(ruleInput({ ...RULE, limit_amount: '1,000 000.5', selector_value: 'left over' })).toEqual({
      limit_key: 'spend',
      measure: 'amount',
      of: null,
      selector_values: null,
      dimension_values: null,
      selector_type: 'all',
      selector_value: '',
      dimension_key: null,
      dimension_value: null,
      currency: 'USD',
      period: 'month',
      limit_amount: '1000000.5',
      action: 'block',
      webhook_event: null,
      notify_at: [50, 80],
    });
  });

  it('has its shares rising, each once', () => {
    expect(percentages(' 80%, 50;50 9.5')).toEqual([9.5, 50, 80]);
    expect(percentages('')).toEqual([]);
    expect(percentages('half')).toEqual([Number.NaN]);
  });

  it('copies a rule under a free name', () => {
    expect(copyRule(RULE, ['spend', 'spend_2']).limit_key).toBe('spend_3');
    expect(copyRule({ ...RULE, limit_key: 'spend_2' }, ['spend_2']).limit_key).toBe('spend_3');
  });
});

describe('a period', () => {
  it.each([
    ['7d', { count: '7', unit: 'day' }],
    ['2 week', { count: '2', unit: 'week' }],
    ['5 months', { count: '5', unit: 'month' }],
    ['5m', { count: '5', unit: 'minute' }],
    ['sliding:1d', { count: '1', unit: 'day' }],
    ['first_use:5h', { count: '5', unit: 'hour' }],
    ['90 minutes', { count: '90', unit: 'minute' }],
    [' hour', { count: '', unit: 'hour' }],
    ['month', undefined],
    ['fortnight', undefined],
  ] as const)('%j is the duration %j', (text, duration) => {
    expect(durationOf(text)).toEqual(duration);
    if (duration !== undefined) expect(durationOf(periodOf(periodChoice(text), duration))).toEqual(duration);
  });

  it('is a calendar step, the lifetime, or a duration', () => {
    expect(
      ['minute', 'day', 'lifetime', 'first_use:5h', 'sliding:1d', '5h', 'nonsense'].map(periodChoice),
    ).toEqual(['minute', 'day', 'lifetime', 'first_use', 'sliding', 'duration', 'duration']);
    expect(
      [
        'week',
        'lifetime',
        '5m',
        'first_use:1 hour',
        'first_use:5h',
        'sliding:30m',
        'sliding:1 day',
        '5h',
        '1d',
        'nonsense',
      ].map(periodWords),
    ).toEqual([
      'per calendar week',
      'in total',
      'per 5 minutes',
      'per hour from the first use',
      'per 5 hours from the first use',
      'in the last 30 minutes',
      'in the last day',
      'per 5 hours',
      'per day from the anchor',
      'per nonsense',
    ]);
  });
});

import type { PricingConfig, PricingRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { EventSteps } from '../expression/index.js';
import { nearestRules, type RecordedItem } from './index.js';

const ITEM: RecordedItem = {
  ...{ metric: 'llm.tokens', unit: 'token', quantity: '10', subject: undefined, occurredAt: 1_790_000_000 },
  dimensions: { model: 'gpt-5-mini-2025-08-07', provider: 'openai', region: 'eu' },
  dimensionTypes: [],
};
const rule = (name: string, match_expr?: string, rest: Partial<PricingRule> = {}): PricingRule => ({
  name,
  metric: 'llm.tokens',
  unit_price_expr: 'dec("1")',
  ...(match_expr === undefined ? {} : { match_expr }),
  ...rest,
});
const is = (model: string) => `dimensions.model == "${model}"`;
const nearest = (configs: Readonly<Record<string, PricingConfig>>, item = ITEM) =>
  nearestRules(new Map(Object.entries(configs)), item, new EventSteps());
const namesOf = (rules: readonly PricingRule[]) =>
  nearest({ prs_1: { rules: [...rules] } }).map(({ rule_name }) => rule_name);

describe('the nearest rules', () => {
  it('are those whose conditions on texts differ least, not those that are tried first', () => {
    const many = Array.from({ length: 500 }, (_, n) =>
      rule(`other ${n}`, is(`claude-${n}-x`), { priority: -1 }),
    );
    expect(
      namesOf([
        ...many,
        rule('elsewhere', `${is('gpt-5-mini-2025-08-07')} && dimensions.region == "eu-west"`),
        rule('other end', is('mini-2025-08-07')),
        rule('gpt-5', is('gpt-5-mini')),
      ]),
    ).toEqual(['other end', 'gpt-5', 'elsewhere']);
  });

  it('come by priority where they are as near, and are of the metric', () => {
    const rules = [
      rule('images', undefined, { metric: 'images' }),
      rule('calls', undefined, { metric: 'llm.calls' }),
      rule('second', 'item.quantity > dec("50")', { priority: 1 }),
      rule('first', 'item.quantity > dec("100")'),
    ];
    expect(namesOf(rules)).toEqual(['first', 'second']);
  });
});

describe('aliases', () => {
  const ALIASES = [
    { dimension: 'model', pattern: 'gpt-5-mini-20*', value: 'gpt-5-mini' },
    { dimension: 'region', pattern: 'eu', value: 'europe' },
  ];
  const applied = { from: 'gpt-5-mini-2025-08-07', ...ALIASES[0] };

  it('are applied before rules are compared and tried, and said', () => {
    const rules = [
      rule('dated otherwise', is('gpt-5-mini-2025-08-01')),
      rule('batch', `${is('gpt-5-mini')} && item.quantity > dec("50")`),
      rule('tier', `${is('gpt-5-mini')} && dimensions.tier == "batch"`),
    ];
    const found = nearest({ prs_1: { rules, aliases: ALIASES } });
    expect(found).toMatchObject([
      {
        rule_set_id: 'prs_1',
        rule_name: 'batch',
        reason: 'match_false',
        aliases: [applied],
        message: 'match_expr is false for the event, with model gpt-5-mini-2025-08-07 read as gpt-5-mini.',
      },
      { rule_name: 'dated otherwise', reason: 'match_false', aliases: [applied] },
      {
        rule_name: 'tier',
        reason: 'match_failed',
        missing_dimensions: ['tier'],
        message: expect.stringMatching(
          /^match_expr cannot be evaluated, with model gpt-5-mini-2025-08-07 read as gpt-5-mini: .* The event has no tier\.$/,
        ),
      },
    ]);
  });

  it('are those of the rule set of the rule, and of dimensions that it reads', () => {
    const found = nearest({
      prs_1: { rules: [rule('other', is('gpt-5-mini'))] },
      prs_2: { rules: [rule('quantity', 'item.quantity > dec("50")')], aliases: ALIASES },
    });
    expect(found).toMatchObject([
      { rule_name: 'quantity', aliases: [] },
      {
        rule_name: 'other',
        reason: 'match_false',
        aliases: [],
        message: 'match_expr is false for the event.',
      },
    ]);
  });

  it.each([is('gpt-5-mini'), is('gpt-5-mini-2025-08-07'), undefined])(
    'a rule that came later and matches now says so: %s',
    (match) => {
      const found = nearest({ prs_1: { rules: [rule('late', match)], aliases: ALIASES } });
      expect(found).toMatchObject([
        {
          reason: 'matches_now',
          message: expect.stringContaining('it became active after the event was rated'),
        },
      ]);
    },
  );
});

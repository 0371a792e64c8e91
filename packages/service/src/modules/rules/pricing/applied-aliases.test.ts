import { expect, it } from 'vitest';
import { appliedAliases } from './applied-aliases.js';

const ITEM = {
  ...{ metric: 'llm.tokens', unit: 'token', quantity: '10', subject: undefined, occurredAt: 1_790_000_000 },
  dimensions: { model: 'gpt-5-mini-2025-08-07', size: '5' },
  dimensionTypes: [
    { name: 'model', type: 'string' as const },
    { name: 'size', type: 'number' as const },
  ],
};
const ALIASES = [
  { dimension: 'model', pattern: 'other', value: 'x' },
  { dimension: 'model', pattern: 'gpt-5-mini-20*', value: 'gpt-5-mini' },
  { dimension: 'model', pattern: '*', value: 'late' },
  { dimension: 'size', pattern: '*', value: 'a number has no alias' },
];
const applied = (match_expr?: string) =>
  appliedAliases(
    { aliases: ALIASES },
    { metric: 'llm.tokens', ...(match_expr === undefined ? {} : { match_expr }) },
    ITEM,
  );

it.each([
  'dimensions.model == "gpt-5-mini"',
  'dimensions.missing == "x" || dimensions.model == "gpt-5-mini"',
])('are those that a rule was found by: %s', (match) => {
  expect(applied(match)).toEqual([
    { dimension: 'model', from: 'gpt-5-mini-2025-08-07', pattern: 'gpt-5-mini-20*', value: 'gpt-5-mini' },
  ]);
});

it.each([undefined, 'dimensions.model.startsWith("gpt-5-mini-")', 'dimensions.size > 4'])(
  'are none where a rule matches the event as it is: %s',
  (match) => {
    expect(applied(match)).toEqual([]);
  },
);

it('leave out a dimension whose original value the rule matches', () => {
  const aliases = [...ALIASES, { dimension: 'tier', pattern: 'fast*', value: 'priority' }];
  const dimensions = { model: 'gpt-5-mini-2025-08-07', tier: 'fast-1' };
  const dimensionTypes = ['model', 'tier'].map((name) => ({ name, type: 'string' as const }));
  const match_expr = 'dimensions.model == "gpt-5-mini-2025-08-07" && dimensions.tier == "priority"';
  const found = appliedAliases(
    { aliases },
    { metric: 'llm.tokens', match_expr },
    { ...ITEM, dimensions, dimensionTypes },
  );
  expect(found).toEqual([{ dimension: 'tier', from: 'fast-1', pattern: 'fast*', value: 'priority' }]);
});

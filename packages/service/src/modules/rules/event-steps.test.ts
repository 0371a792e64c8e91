import type { PricingRule } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { EVENT_STEPS_MAX } from './expression/index.js';
import { failureOf, items, itemsOf, pricingOf, rate } from './testing.js';

/** Takes 9,900 steps of rounds and 905 of its own. */
const COSTLY = `[${'0,'.repeat(449)}0].exists(x, x > 1)`;
const PRICE = { metric: 'tokens', unit_price_expr: 'dec("1")' };
const EVENT = '{"n": 2}';

/** Rules that do not match, before one that does. */
const rules = (count: number, match: string): PricingRule[] => [
  ...Array.from({ length: count }, () => ({ ...PRICE, match_expr: match })),
  { ...PRICE, name: 'last', match_expr: 'true' },
];

const rateBy = (count: number, match: string) =>
  rate(items({}), EVENT, {}, [pricingOf({ rules: rules(count, match) })]);

const message = (rated: ReturnType<typeof rate>) => (rated.ok ? '' : rated.failure.message);

it('asks costly rules until one matches', () => {
  expect(itemsOf(rateBy(20, COSTLY))).toMatchObject([{ amount: '2', ruleName: 'last' }]);
});

it('fails the event, and does not take a rule that it could not ask for one that does not match', () => {
  const rated = rateBy(30, COSTLY);
  const [code, path] = failureOf(rated);
  expect([code, path]).toEqual(['pricing_failed', expect.stringMatching(/^rules\[2\d\]\.match_expr$/)]);
  expect(message(rated)).toBe(
    `Pricing rule set prs_1: The event takes more than ${EVENT_STEPS_MAX} steps to price (EVENT_STEPS_MAX); ` +
      `they ran out at ${path}.`,
  );
});

it('counts what fails: going on after a failure is no way around the bound', () => {
  const failing = Array.from({ length: 80 }, () => 'dimensions.a == 1').join(' || ');
  expect(failureOf(rateBy(100, failing))[0]).toBe('pricing_failed');
});

it('is shared by all charge items of the event, and named where it ends', () => {
  const prices = Array.from({ length: 30 }, (_, index) => ({
    name: `item ${index}`,
    unit_price_expr: `${COSTLY} ? dec("1") : dec("2")`,
  }));
  expect(itemsOf(rate(items(...prices.slice(0, 20)), EVENT))).toHaveLength(20);
  const rated = rate(items(...prices), EVENT);
  const [code, path] = failureOf(rated);
  expect([code, path]).toEqual([
    'pricing_failed',
    expect.stringMatching(/^charge_item_extractors\[2\d\]\.unit_price_expr$/),
  ]);
  expect(message(rated)).toContain(`(EVENT_STEPS_MAX); they ran out at ${path}.`);
});

it('restarts with every event', () => {
  const config = items({});
  const pricings = [pricingOf({ rules: rules(20, COSTLY) })];
  for (let event = 0; event < 3; event += 1) expect(rate(config, EVENT, {}, pricings).ok).toBe(true);
});

it('counts looking for rules, though none is asked', () => {
  const names = Array.from({ length: 32 }, (_, index) => `d${index}`);
  const dimensions = names.map((name) => ({ name, path: name, type: 'string' as const }));
  // Each rule reads other dimensions, so that each look-up is done by itself.
  const match = (left: number) =>
    names
      .filter((_, index) => index !== left % 32 && index !== (left >> 5) % 31)
      .map((name) => `dimensions.${name} == "${name === 'd31' ? left : name}"`)
      .join(' && ');
  const asking = Array.from({ length: 500 }, (_, index) => ({ ...PRICE, match_expr: match(index) }));
  const event = JSON.stringify({ n: 1, ...Object.fromEntries(names.map((name) => [name, name])) });
  const config = { dimensions, ...items(...Array.from({ length: 100 }, (_, name) => ({ name: `${name}` }))) };
  expect(failureOf(rate(config, event, {}, [pricingOf({ rules: asking })]))).toEqual([
    'pricing_failed',
    expect.stringContaining('match_expr'),
  ]);
});

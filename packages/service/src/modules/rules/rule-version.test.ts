import type { ExtractorConfig, PricingConfig } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { ruleVersionOf } from './rule-version.js';
import { items, itemsOf } from './testing.js';

const BOUNDLESS = Number.POSITIVE_INFINITY;

function versionOf(
  { extractor = items({}), pricing = {} }: { extractor?: ExtractorConfig; pricing?: PricingConfig },
  codeBytesMax = BOUNDLESS,
) {
  const configs = {
    extractor: { ruleSetId: 'ers_1', version: 2, bytes: 0, config: extractor },
    pricings: [{ ruleSetId: 'prs_1', version: 5, bytes: 0, config: pricing }],
  };
  return ruleVersionOf(configs, new BoundedMemory(codeBytesMax));
}

const rateBy = (version: ReturnType<typeof versionOf>, rawJson: object) =>
  version.rate({ rawJson, occurredAt: 0 });

/** A rule that compiles, behind which is one that does not. */
const rules = (match: string, price: string) => ({
  rules: [
    { metric: 'tokens', match_expr: 'item.quantity < dec("10")', unit_price_expr: 'dec("2")' },
    { metric: 'tokens', match_expr: match, unit_price_expr: price },
    { metric: 'calls', unit_price_expr: 'no expression' },
  ],
});

it.each<[string, number]>([
  ['as long as it is there', BOUNDLESS],
  ['though it is forgotten after every use', 0],
])('rates by what is compiled when it is needed, %s', (_, codeBytesMax) => {
  const version = versionOf({ pricing: rules('true', 'item.quantity * dec("3")') }, codeBytesMax);
  for (let round = 0; round < 2; round += 1) {
    expect(itemsOf(rateBy(version, { n: 9 }))).toMatchObject([{ unitPrice: '2', ruleSetVersion: 5 }]);
    expect(itemsOf(rateBy(version, { n: 10 }))).toMatchObject([{ unitPrice: '30', amount: '300' }]);
  }
});

it.each([
  ['a match', rules('no match', 'dec("1")'), 'rules[1].match_expr'],
  ['a price', rules('true', '1'), 'rules[1].unit_price_expr'],
  ['a price that cannot be recorded', rules('true', 'dec("1e20")'), 'rules[1].unit_price_expr'],
])('meets what no longer compiles at the event that needs it: %s', (_, pricing, path) => {
  const version = versionOf({ pricing });
  expect(itemsOf(rateBy(version, { n: 9 }))).toMatchObject([{ unitPrice: '2' }]);
  for (let round = 0; round < 2; round += 1) {
    expect(() => rateBy(version, { n: 10 })).toThrow(`${path} no longer compiles`);
  }
});

it.each<[string, Parameters<typeof versionOf>[0], string]>([
  ['an extractor', { extractor: items({ path: '..' }) }, 'version 2 of ers_1 no longer compiles'],
  ['a currency', { pricing: { currency: 'usd' } }, 'version 5 of prs_1 no longer compiles'],
])('fails every event, and nothing else, by rules that cannot be put together: %s', (_, configs, message) => {
  const version = versionOf(configs);
  expect(version.version).toBe(2);
  expect(() => rateBy(version, { n: 1 })).toThrow(message);
});

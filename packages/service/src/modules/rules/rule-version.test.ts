import type { ExtractorConfig, PricingConfig } from '@tollgate/contract';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { parseJson, selectJson } from '../../kernel/json/json.js';
import { type RuleConfigs, ruleVersionOf } from './rule-version.js';
import { complete, items, itemsOf } from './testing.js';

const BOUNDLESS = Number.POSITIVE_INFINITY;

function versionOf(
  { extractor = items({}), pricing = {} }: { extractor?: ExtractorConfig; pricing?: PricingConfig },
  codeBytesMax = BOUNDLESS,
) {
  const configs: RuleConfigs = {
    extractor: { ruleSetId: 'ers_1', version: 2, bytes: 0, config: extractor },
    pricings: [{ ruleSetId: 'prs_1', version: 5, purpose: 'price', bytes: 0, config: pricing }],
  };
  return ruleVersionOf(configs, new BoundedMemory(codeBytesMax));
}

const rateBy = (version: ReturnType<typeof versionOf>, rawJson: object) =>
  complete(version.rate({ rawJson, occurredAt: 0 }));

/** A rule that compiles, followed by one that does not. */
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
  ['a price', rules('true', 'true'), 'rules[1].unit_price_expr'],
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

it('rates by what it says that it reads as by all of raw_json', () => {
  const NAMES = ['a', 'b', 'total', 'constructor', '__proto__', 'é'];
  const path = fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...NAMES).map((name) => `['${name}']`) },
        { weight: 1, arbitrary: fc.integer({ min: -1, max: 1 }).map((index) => `[${index}]`) },
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map((segments) => `$${segments.join('')}`);
  const config: fc.Arbitrary<ExtractorConfig> = fc.record(
    {
      subject: fc.record({ type_path: path, id_path: path, default_type: fc.constant('user') }),
      dimensions: fc
        .uniqueArray(path, { maxLength: 3 })
        .map((paths) => paths.map((of, index) => ({ name: `d${index}`, path: of, type: 'string' as const }))),
      charge_item_extractors: fc
        .array(fc.record({ path, less_paths: fc.array(path, { maxLength: 2 }) }), { maxLength: 3 })
        .map((all) =>
          all.map((one, index) => ({
            ...one,
            metric: `m${index}`,
            type: 'number' as const,
            unit_price_expr: 'dec("2")',
          })),
        ),
    },
    { requiredKeys: ['charge_item_extractors'] },
  );
  const scalar = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('7', '0.10', '12345678901234567890.5', '1e3') },
    { weight: 1, arbitrary: fc.constantFrom('-1', '"user"', '"\\u0041"', 'null', '"é"') },
  );
  const value = fc.oneof(
    { weight: 3, arbitrary: scalar },
    fc.array(scalar, { maxLength: 2 }).map((texts) => `[${texts.join()}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), scalar), { maxLength: 4 })
      .map((entries) => `{${entries.map(([name, text]) => `"${name}":${text}`).join()}}`),
  );
  const rawJson = fc
    .array(fc.tuple(fc.constantFrom(...NAMES, '\\u0061'), value), { maxLength: 10 })
    .map((entries) => `{${entries.map(([name, text]) => `"${name}":${text}`).join()}}`);
  let items = 0;
  fc.assert(
    fc.property(config, rawJson, (extractor, text) => {
      const version = versionOf({ extractor });
      const bytes = Buffer.from(text);
      const whole = version.rate({ rawJson: parseJson(bytes), occurredAt: 0 });
      const read = version.rate({
        rawJson: selectJson(bytes, version.reads) ?? parseJson(bytes),
        occurredAt: 0,
      });
      if (whole.ok) items += whole.items.length;
      expect(read).toEqual(whole);
    }),
    { numRuns: 3_000 },
  );
  expect(items).toBeGreaterThan(30);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import type { ItemCostRow, UsageItemRow } from '../usage/index.js';
import type { Outcome } from './outcome.js';
import { decodeOutcomes, StoredOutcomes } from './stored-outcomes.js';

/** Few texts, so that fields and outcomes share them; some look like other types, or like a key of every object. */
const text = fc.oneof(
  fc.constantFrom('', 'a', '0', 'null', '__proto__', 'constructor', 'é"\\\u2028'),
  fc.string({ unit: 'binary' }),
);
const decimal = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });
const version = fc.integer({ min: 0, max: 0xffff_ffff });

const cost: fc.Arbitrary<ItemCostRow> = fc.record({
  amount: decimal,
  currency: text,
  ruleSetId: text,
  ruleSetVersion: version,
  ruleName: text,
});

const item: fc.Arbitrary<UsageItemRow> = fc.record({
  extractorName: text,
  metric: text,
  unit: text,
  currency: text,
  quantity: decimal,
  unitPrice: fc.option(decimal),
  amount: decimal,
  discount: decimal,
  source: fc.constantFrom('extractor', 'x_billing', 'correction'),
  pricingSource: fc.constantFrom('hint', 'extractor', 'pricing_rule_set', 'unpriced'),
  ruleSetId: text,
  ruleSetVersion: version,
  ruleName: text,
  cumulative: text,
  cost: fc.option(cost),
});

const withoutSent: fc.Arbitrary<Outcome> = fc.record({
  status: fc.constantFrom('processed', 'failed', 'voided'),
  posting: fc.constantFrom('none', 'posted', 'unpriced', 'unrouted'),
  accountId: text,
  subjectType: text,
  subjectId: text,
  subjectIsSent: fc.boolean(),
  extractorRuleSetId: text,
  extractorVersion: version,
  dimensions: fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name }).map((all) => new Map(all)),
  notes: text,
  items: fc.array(item, { maxLength: 3 }),
});

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  withoutSent,
  fc
    .tuple(withoutSent, fc.record({ rawJson: text, metadata: text, xBilling: text }))
    .map(([fields, sent]) => ({ ...fields, sent })),
);

test('outcomes of a plan are read as they were stored, in their order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, { maxLength: 5 }), async (outcomes) => {
      const stored = new StoredOutcomes();
      for (const each of outcomes) stored.add(each);
      expect(await decodeOutcomes(await stored.encoded())).toEqual(outcomes);
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('what nobody stored is refused, and no outcomes are read as none', async () => {
  const stored = new StoredOutcomes();
  await expect(decodeOutcomes(Buffer.from('[]'))).rejects.toThrow();
  expect(await decodeOutcomes(await stored.encoded())).toEqual([]);
});

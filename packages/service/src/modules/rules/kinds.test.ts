import { expect, it } from 'vitest';
import { EXTRACTOR_KIND, PRICING_KIND } from './kinds.js';

it('writes the units of a price as decimals are written, whichever way they were sent', () => {
  const price = { metric: 'a', unit_price_expr: 'dec(1)' };
  const pricing = PRICING_KIND.checkedConfig({
    extractor_rule_set_id: 'ers_1',
    rules: [
      { ...price, pricing_unit: 1_000 },
      { ...price, pricing_unit: '1000.50' },
    ],
  });
  expect(pricing.rules?.map(({ pricing_unit }) => pricing_unit)).toEqual(['1000', '1000.5']);
  const extractor = EXTRACTOR_KIND.checkedConfig({
    charge_item_extractors: [{ ...price, path: 'n', type: 'number', pricing_unit: 10 }],
  });
  expect(extractor.charge_item_extractors?.[0]?.pricing_unit).toBe('10');
});

import { expect, it } from 'vitest';
import { EXTRACTOR_KIND, PRICING_KIND } from './kinds.js';

/** As long as an expression may be, and slow to check. */
const LONG = `[${Array.from({ length: 900 }, () => '0').join(',')}].exists(x, x > 1)`;

/** How often others got the thread while the work was done. */
async function turnsWhile(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

it.each<[string, () => Promise<unknown>]>([
  [
    'pricing',
    () =>
      PRICING_KIND.checkedConfig({
        extractor_rule_set_id: 'ers_1',
        rules: Array.from({ length: 200 }, () => ({
          metric: 'a',
          match_expr: LONG,
          unit_price_expr: 'dec("1")',
        })),
      }),
  ],
  [
    'extractor',
    () =>
      EXTRACTOR_KIND.checkedConfig({
        charge_item_extractors: Array.from({ length: 100 }, (_, index) => ({
          metric: `m${index}`,
          path: 'n',
          type: 'number',
          amount_expr: `${LONG} ? dec("1") : dec("2")`,
        })),
      }),
  ],
])('lets other requests pass while it checks a long rule set: %s', async (_, check) => {
  expect(await turnsWhile(check)).toBeGreaterThan(3);
});

it('writes the units of a price as decimals are written, whichever way they were sent', async () => {
  const price = { metric: 'a', unit_price_expr: 'dec(1)' };
  const pricing = await PRICING_KIND.checkedConfig({
    extractor_rule_set_id: 'ers_1',
    rules: [
      { ...price, pricing_unit: 1_000 },
      { ...price, pricing_unit: '1000.50' },
    ],
  });
  expect(pricing.rules?.map(({ pricing_unit }) => pricing_unit)).toEqual(['1000', '1000.5']);
  const extractor = await EXTRACTOR_KIND.checkedConfig({
    charge_item_extractors: [{ ...price, path: 'n', type: 'number', pricing_unit: 10 }],
  });
  expect(extractor.charge_item_extractors?.[0]?.pricing_unit).toBe('10');
});

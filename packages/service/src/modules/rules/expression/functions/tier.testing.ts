import fc from 'fast-check';
import { expect } from 'vitest';
import { Decimal } from '../../../../kernel/decimal.js';
import { envWith, outcomeOf } from '../testing.js';

/** Quantities, bounds and prices of the test are whole numbers of a unit of 10^-SCALE. */
const SCALE = 6;

/** A tier of a price list; undefined for no bound. */
export interface ReferenceTier {
  readonly upTo: bigint | undefined;
  readonly unitPrice: bigint;
}

/** Returns the cost of a quantity in units of 10^-2·SCALE; undefined past the last bound. */
type Reference = (quantity: bigint, tiers: readonly ReferenceTier[]) => bigint | undefined;

const text = (units: bigint) => new Decimal(units, SCALE).toString();

/** Quantities at a bound and one unit next to it, where errors in tiers show. */
const cases = fc
  .record({
    bounds: fc.uniqueArray(fc.bigInt({ min: 1n, max: 10n ** 15n }), { minLength: 1, maxLength: 8 }),
    prices: fc.array(fc.bigInt({ min: -(10n ** 9n), max: 10n ** 12n }), { minLength: 9, maxLength: 9 }),
    isOpen: fc.boolean(),
    between: fc.bigInt({ min: 0n, max: 2n * 10n ** 15n }),
    nearBound: fc.option(fc.record({ index: fc.nat(7), offset: fc.constantFrom(-1n, 0n, 1n) })),
  })
  .map(({ bounds, prices, isOpen, between, nearBound }) => {
    const sorted = [...bounds].sort((a, b) => (a < b ? -1 : 1));
    const ends = isOpen ? [...sorted, undefined] : sorted;
    const tiers = ends.map((upTo, index) => ({ upTo, unitPrice: prices[index] as bigint }));
    const bound = nearBound && (sorted[nearBound.index % sorted.length] as bigint) + nearBound.offset;
    return { tiers, quantity: bound ?? between };
  });

/** Compares a tier function with the same price list computed on integers. */
export function assertAgreesWithRationals(name: string, reference: Reference): void {
  fc.assert(
    fc.property(cases, ({ tiers, quantity }) => {
      const table = tiers.map(({ upTo, unitPrice }) => {
        return `[${upTo === undefined ? 'null' : `"${text(upTo)}"`}, "${text(unitPrice)}"]`;
      });
      const env = envWith({ quantity: new Decimal(quantity, SCALE) });
      const last = tiers.at(-1)?.upTo;
      const expected = last !== undefined && quantity > last ? undefined : reference(quantity, tiers);
      const outcome = outcomeOf(`${name}(item.quantity, [${table.join(', ')}])`, 'amount', env);
      expect(outcome).toBe(
        expected === undefined
          ? 'fails: line 1, column 1: the quantity is past the bound of the last tier'
          : new Decimal(expected, 2 * SCALE).toString(),
      );
    }),
  );
}

import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fromStored, parseDecimal, toStored, toText } from '../../kernel/decimal.js';
import { present } from '../../kernel/present.js';
import { compileExpression, EventSteps } from './expression/index.js';
import { RatingFailure, recorded } from './extract/index.js';
import { amountBetween } from './price.js';

const VECTORS = new URL('../../../../../../shared/vectors/pricing.json', import.meta.url);
/** A period has this many charge items, so that tiers are crossed within items and between them. */
const ITEMS = 7n;

/** A price of one quantity, by an expression for a charge item. */
interface Vector {
  readonly e: string;
  readonly q: readonly string[];
  /** A decimal, or `error`. */
  readonly want: string;
}

/** Prices by tiers of one quantity; other vectors are of single charge items. */
function vectors(): readonly Vector[] {
  if (!existsSync(VECTORS)) return [];
  const { cases } = JSON.parse(readFileSync(VECTORS, 'utf8')) as { cases: Vector[] };
  return cases.filter(({ e, q }) => e?.includes('tier_') && q.length === 1);
}

/** Returns the sum of the amounts of a period whose charge items add up to a quantity; `error` without a price. */
function sumOfPeriod({ e, q: [quantity = ''] }: Vector): string {
  const compiled = compileExpression(e.replaceAll('item.quantity', 'total.quantity'), {
    kind: 'total',
    dimensions: [],
  });
  const whole = toStored(present(parseDecimal(quantity), quantity));
  if (!compiled.ok || whole === undefined || whole < 0n) return 'error';
  const priceAt = (total: bigint): bigint | RatingFailure => {
    const env = { quantity: fromStored(total), unitPrice: undefined, metric: 'm', unit: '', occurredAt: 0 };
    try {
      const found = compiled.evaluate({
        ...env,
        dimensions: new Map(),
        subject: undefined,
        steps: new EventSteps(),
      });
      return present(recorded(found), 'a price').stored;
    } catch {
      return new RatingFailure('pricing_failed', e, '');
    }
  };
  let sum = 0n;
  let before: bigint | undefined;
  for (let item = 1n; item <= ITEMS; item += 1n) {
    const after = (whole * item) / ITEMS;
    const amount = amountBetween({ periodStart: 0, before, after }, priceAt);
    if (amount instanceof RatingFailure) return 'error';
    sum += amount;
    before = after;
  }
  return toText(fromStored(sum));
}

const plain = (want: string) => (want === 'error' ? want : toText(present(parseDecimal(want), want)));

it.each<[string, string, string]>([
  ['tier_graduated(item.quantity, [[10, "2"], [null, "1"]])', '25', '35'],
  ['tier_volume(item.quantity, [[10, "2"], [null, "1"]])', '25', '25'],
  ['tier_package(item.quantity, 10, "3")', '25', '9'],
  ['dec_max(tier_graduated(item.quantity, [[5, 0], [null, "0.3"]]), dec("4"))', '6', '4'],
])('%s of %s in a period is %s', (e, quantity, want) => {
  expect(sumOfPeriod({ e, q: [quantity], want })).toBe(want);
});

/** Cases of other products, if the file exists. */
it('charges a period what others charge for its total', () => {
  const differing = vectors().filter((vector) => sumOfPeriod(vector) !== plain(vector.want));
  expect(differing).toEqual([]);
});

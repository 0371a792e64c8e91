import fc from 'fast-check';

/** Fraction digits of the oracle's numbers: enough for every product that its prices have. */
const PLACES = 90;
const ONE = 10n ** BigInt(PLACES);
/** Fraction digits of stored amounts. */
const STORED_PLACES = 18;

/**
 * Returns a decimal × 10^90. Oracles of totals calculate with such numbers, which share no code with those of the
 * service.
 */
export function exact(text: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,90}))?$/.exec(text) ?? [];
  if (whole === '') throw new RangeError(`${text} is not a decimal`);
  return BigInt(`${sign}${whole}${fraction.padEnd(PLACES, '0')}`);
}

/** Returns a number without trailing zeros, as text. */
export function exactText(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(PLACES + 1, '0');
  const fraction = digits.slice(-PLACES).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -PLACES)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Returns a number that is not negative with 18 fraction digits; a half goes to the even neighbour. */
export function roundedOnce(value: bigint): bigint {
  const unit = 10n ** BigInt(PLACES - STORED_PLACES);
  const [whole, twice] = [value / unit, (value % unit) * 2n];
  const isUp = twice > unit || (twice === unit && whole % 2n === 1n);
  return (isUp ? whole + 1n : whole) * unit;
}

function times(a: bigint, b: bigint): bigint {
  const product = a * b;
  if (product % ONE !== 0n) throw new RangeError('the oracle has too few fraction digits');
  return product / ONE;
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);

/** A price of a total: its expression, and the same by the oracle's numbers, before it is rounded. */
export interface ExactPrice {
  readonly expression: string;
  readonly at: (total: bigint) => bigint;
}

/** Decimals below 10 with up to 18 fraction digits. */
export const anyDecimal: fc.Arbitrary<string> = fc
  .tuple(fc.nat(9), fc.constantFrom(0, 1, 2, 17, 18), fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }))
  .map(([whole, places, digits]) => {
    const fraction = digits.toString().padStart(18, '0').slice(0, places);
    return places === 0 ? `${whole}` : `${whole}.${fraction}`;
  });

const positive = anyDecimal.filter((text) => /[1-9]/.test(text));

function tiered(kind: 'graduated' | 'volume', bound: string, first: string, second: string): ExactPrice {
  const [upTo, low, high] = [exact(bound), exact(first), exact(second)];
  return {
    expression: `tier_${kind}(total.quantity, [["${bound}", "${first}"], [null, "${second}"]])`,
    at: (total) => {
      if (total <= upTo) return times(total, low);
      return kind === 'volume' ? times(total, high) : times(upTo, low) + times(total - upTo, high);
    },
  };
}

/** Expressions that never fall when the total rises: sums, products, quotients, maxima, minima of such expressions. */
const { monotone } = fc.letrec<{ monotone: ExactPrice }>((tie) => ({
  monotone: fc.oneof(
    { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
    fc.constant<ExactPrice>({ expression: 'total.quantity', at: (total) => total }),
    fc.constant<ExactPrice>({
      expression: '(total.quantity * total.quantity)',
      at: (total) => times(total, total),
    }),
    anyDecimal.map((text) => ({ expression: `dec("${text}")`, at: () => exact(text) })),
    fc.tuple(tie('monotone'), tie('monotone')).map(([a, b]) => ({
      expression: `(${a.expression} + ${b.expression})`,
      at: (total: bigint) => a.at(total) + b.at(total),
    })),
    fc.tuple(tie('monotone'), fc.constantFrom('0', '0.3', '2', '1.75')).map(([a, factor]) => ({
      expression: `(${a.expression} * dec("${factor}"))`,
      at: (total: bigint) => times(a.at(total), exact(factor)),
    })),
    tie('monotone').map((a) => ({
      expression: `dec_div(${a.expression}, dec("3"), 18)`,
      // A third that ends has all its digits here, and one that does not end is nowhere near a half.
      at: (total: bigint) => roundedOnce(a.at(total) / 3n),
    })),
    fc.tuple(tie('monotone'), tie('monotone')).map(([a, b]) => ({
      expression: `dec_max(${a.expression}, ${b.expression})`,
      at: (total: bigint) => greatest(a.at(total), b.at(total)),
    })),
    fc.tuple(tie('monotone'), tie('monotone')).map(([a, b]) => ({
      expression: `dec_min(${a.expression}, ${b.expression})`,
      at: (total: bigint) => least(a.at(total), b.at(total)),
    })),
  ),
}));

const anyTiers = (kind: 'graduated' | 'volume') =>
  fc.tuple(positive, anyDecimal, anyDecimal).map((numbers) => tiered(kind, ...numbers));

/** Prices of totals: tiers, packages, a minimum, a cap, and any expression that does not fall. */
export const PRICES_OF_TOTALS = {
  graduated: anyTiers('graduated'),
  volume: anyTiers('volume'),
  package: fc.tuple(positive, anyDecimal).map(([size, price]) => ({
    expression: `tier_package(total.quantity, "${size}", "${price}")`,
    at: (total: bigint) => ((total + exact(size) - 1n) / exact(size)) * exact(price),
  })),
  minimum: fc.tuple(anyDecimal, anyDecimal).map(([price, minimum]) => ({
    expression: `dec_max(total.quantity * dec("${price}"), dec("${minimum}"))`,
    at: (total: bigint) => greatest(times(total, exact(price)), exact(minimum)),
  })),
  cap: fc.tuple(anyDecimal, anyDecimal).map(([price, cap]) => ({
    expression: `dec_min(total.quantity * dec("${price}"), dec("${cap}"))`,
    at: (total: bigint) => least(times(total, exact(price)), exact(cap)),
  })),
  monotone,
} satisfies Record<string, fc.Arbitrary<ExactPrice>>;

export const anyPriceOfTotal: fc.Arbitrary<ExactPrice> = fc.oneof(...Object.values(PRICES_OF_TOTALS));

import type { ModelTier, PriceModel } from './model.js';
import { AMOUNT_SCALE } from './write-price.js';

/** Numbers are integers × 10^18, and amounts × 10^38 until they are rounded: a percentage has two digits more. */
const ONE = 10n ** BigInt(AMOUNT_SCALE);
const HUNDRED = 100n;
const PRECISE = ONE * HUNDRED;
const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/** Parses a number of a form: not negative, of at most 18 fraction digits, otherwise undefined. */
export function scaledNumber(text: string): bigint | undefined {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined || fraction.length > AMOUNT_SCALE) return undefined;
  return BigInt(whole + fraction.padEnd(AMOUNT_SCALE, '0'));
}

/**
 * Returns the amount of a quantity that is not negative, rounded as the service does. Both are integers × 10^18.
 * Undefined while a number of the model is missing or not valid.
 */
export function amountAt(model: PriceModel, quantity: bigint, isTotal: boolean): bigint | undefined {
  const core = coreAt(model, quantity, isTotal);
  const fee = optional(model.fee);
  const minimum = optional(model.minimum);
  const cap = optional(model.cap);
  if (core === undefined || fee === undefined || minimum === undefined || cap === undefined) return undefined;
  let amount = core + (fee ?? 0n) * PRECISE;
  if (minimum !== null && amount < minimum * PRECISE) amount = minimum * PRECISE;
  if (cap !== null && amount > cap * PRECISE) amount = cap * PRECISE;
  return divideHalfEven(amount, PRECISE);
}

/** Null for an empty text, undefined for one that is no number. */
function optional(text: string): bigint | null | undefined {
  return text === '' ? null : scaledNumber(text);
}

/** The amount of a quantity before fee, minimum and cap, × 10^38. */
function coreAt(model: PriceModel, quantity: bigint, isTotal: boolean): bigint | undefined {
  switch (model.kind) {
    case 'per_unit':
      return perUnitAt(model, quantity, isTotal);
    case 'graduated':
      return graduatedAt(model.tiers, quantity);
    case 'volume': {
      const tier = quantity === 0n ? undefined : tierOf(model.tiers, quantity);
      const price = scaledNumber(tier?.unitPrice ?? '0');
      return price === undefined ? undefined : quantity * price * HUNDRED;
    }
    case 'package': {
      const [size, price] = [scaledNumber(model.size), scaledNumber(model.price)];
      return size === undefined || size === 0n || price === undefined
        ? undefined
        : ((quantity + size - 1n) / size) * price * PRECISE;
    }
    case 'allowance': {
      const { included, unitPrice } = model;
      return graduatedAt(
        [
          { upTo: included, unitPrice: '0' },
          { upTo: '', unitPrice },
        ],
        quantity,
      );
    }
    case 'overage': {
      const price = scaledNumber(model.unitPrice);
      const factors = [
        { upTo: model.included, unitPrice: '1' },
        { upTo: '', unitPrice: model.factor },
      ];
      const units = graduatedAt(factors, quantity);
      return price === undefined || units === undefined ? undefined : (units * price) / ONE;
    }
    case 'percentage': {
      const percent = scaledNumber(model.percent);
      return percent === undefined ? undefined : quantity * percent;
    }
  }
}

function perUnitAt(
  { price: text, pricingUnit, ...model }: PriceModel & { readonly kind: 'per_unit' },
  quantity: bigint,
  isTotal: boolean,
): bigint | undefined {
  const price = scaledNumber(text);
  if (price === undefined || pricingUnit === '')
    return price === undefined ? undefined : quantity * price * HUNDRED;
  const unit = scaledNumber(pricingUnit);
  if (unit === undefined || unit === 0n) return undefined;
  // With fee, minimum or cap, an event is priced by its recorded unit price, which is rounded.
  const isRecorded = !isTotal && [model.fee, model.minimum, model.cap].some((bound) => bound !== '');
  return isRecorded
    ? quantity * divideHalfEven(price * ONE, unit) * HUNDRED
    : divideHalfEven(quantity * price, unit) * PRECISE;
}

function graduatedAt(tiers: readonly ModelTier[], quantity: bigint): bigint | undefined {
  let amount = 0n;
  let from = 0n;
  for (const [index, { upTo, unitPrice }] of tiers.entries()) {
    const price = scaledNumber(unitPrice);
    const bound = index === tiers.length - 1 ? quantity : scaledNumber(upTo);
    if (price === undefined || bound === undefined) return undefined;
    const to = bound < quantity ? bound : quantity;
    if (to > from) amount += (to - from) * price * HUNDRED;
    from = bound;
  }
  return amount;
}

/** The tier that a quantity reaches: its bound is the last quantity of it. */
function tierOf(tiers: readonly ModelTier[], quantity: bigint): ModelTier | undefined {
  return tiers.find(
    ({ upTo }, index) => index === tiers.length - 1 || quantity <= (scaledNumber(upTo) ?? 0n),
  );
}

/** The denominator is above zero. */
function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator - quotient * denominator) * 2n;
  if (twice > denominator || (twice === denominator && quotient % 2n === 1n)) return quotient + 1n;
  return quotient;
}

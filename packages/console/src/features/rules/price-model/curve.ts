import { unscaled } from '../../../exact-sum.js';
import { amountAt, scaledNumber } from './amount-at.js';
import type { PriceModel } from './model.js';
import { problemsOfModel } from './model-problems.js';

/** Quantities and amounts are integers × 10^18. */
export interface CurvePoint {
  readonly quantity: bigint;
  readonly amount: bigint;
}

/** A quantity after which the amount falls, because a cheaper price applies to the whole quantity. */
export interface CurveDrop {
  readonly quantity: bigint;
  readonly before: bigint;
  readonly after: bigint;
}

/** The price of a model over the quantity. */
export interface Curve {
  /** In ascending order of quantities; two points of one quantity are a step. */
  readonly points: readonly CurvePoint[];
  readonly drops: readonly CurveDrop[];
  readonly quantityMax: bigint;
  /** Exact amount at a quantity of the curve. */
  readonly amountOf: (quantity: bigint) => bigint;
}

const ONE = 10n ** 18n;
const SAMPLES = 120n;
const STEPS_MAX = 200;
const DOUBLINGS_MAX = 60;

/**
 * Returns the curve of a model, or undefined while one of its numbers is missing.
 * @param reached a quantity that the curve must include
 */
export function curveOf(model: PriceModel, isTotal: boolean, reached = 0n): Curve | undefined {
  if (Object.keys(problemsOfModel(model)).length > 0) return undefined;
  const amountOf = (quantity: bigint) => {
    const amount = amountAt(model, quantity, isTotal);
    if (amount === undefined) throw new Error('the model has no problems, and no price');
    return amount;
  };
  const quantityMax = rangeOf(model, amountOf, reached);
  const steps = stepsOf(model, quantityMax);
  const samples = Array.from(
    { length: Number(SAMPLES) + 1 },
    (_, index) => (quantityMax * BigInt(index)) / SAMPLES,
  );
  const quantities = [...samples, ...kinksOf(model, samples, amountOf), ...steps].toSorted(ascending);
  const isStep = new Set(steps);
  const points = [...new Set(quantities)].flatMap((quantity) => {
    const amount = amountOf(quantity);
    const next = isStep.has(quantity) && quantity < quantityMax ? amountBeyond(quantity, amountOf) : amount;
    return isJump(amount, next)
      ? [
          { quantity, amount },
          { quantity, amount: next },
        ]
      : [{ quantity, amount }];
  });
  return { points, drops: dropsIn(points), quantityMax, amountOf };
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

/** Amounts of a limit are shown to 12 digits: the least quantity beyond a bound costs less than that. */
const LIMIT_ROUNDING = 1_000_000n;

/** The amount that is approached from above, at a quantity after which the price changes. */
function amountBeyond(quantity: bigint, amountOf: (quantity: bigint) => bigint): bigint {
  const amount = amountOf(quantity + 1n);
  return ((amount + LIMIT_ROUNDING / 2n) / LIMIT_ROUNDING) * LIMIT_ROUNDING;
}

/** Whether two amounts at the same bound are different prices, and no rounding. */
function isJump(before: bigint, after: bigint): boolean {
  const difference = after < before ? before - after : after - before;
  return difference > LIMIT_ROUNDING;
}

/** The quantities between samples at which the minimum ends, or the cap begins. */
function kinksOf(
  { minimum, cap }: PriceModel,
  samples: readonly bigint[],
  amountOf: (quantity: bigint) => bigint,
): bigint[] {
  const amounts = samples.map(amountOf);
  return [minimum, cap].flatMap((text) => {
    const bound = text === '' ? undefined : scaledNumber(text);
    return samples.flatMap((to, index) => {
      const from = samples[index - 1];
      if (from === undefined || (amounts[index] === bound) === (amounts[index - 1] === bound)) return [];
      return lastAlike(from, to, (quantity) => amountOf(quantity) === bound);
    });
  });
}

/** Bisects: the last quantity that is as `from` is. */
function lastAlike(from: bigint, to: bigint, isSo: (quantity: bigint) => boolean): bigint {
  const first = isSo(from);
  let [low, high] = [from, to];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (isSo(middle) === first) low = middle;
    else high = middle;
  }
  return low;
}

function dropsIn(points: readonly CurvePoint[]): CurveDrop[] {
  return points.flatMap(({ quantity, amount }, index) => {
    const next = points[index + 1];
    return next?.quantity === quantity && next.amount < amount
      ? [{ quantity, before: amount, after: next.amount }]
      : [];
  });
}

/** The quantities at which the price changes. */
function stepsOf(model: PriceModel, quantityMax: bigint): bigint[] {
  switch (model.kind) {
    case 'graduated':
    case 'volume':
      return model.tiers.slice(0, -1).flatMap(({ upTo }) => scaledNumber(upTo) ?? []);
    case 'package': {
      const size = scaledNumber(model.size) ?? ONE;
      const count = Math.min(Number(quantityMax / size), STEPS_MAX);
      return Array.from({ length: count + 1 }, (_, index) => size * BigInt(index));
    }
    case 'allowance':
    case 'overage':
      return [scaledNumber(model.included) ?? 0n];
    default:
      return [];
  }
}

/** The greatest quantity to draw: beyond all steps, and beyond the quantities at which minimum and cap apply. */
function rangeOf(model: PriceModel, amountOf: (quantity: bigint) => bigint, reached: bigint): bigint {
  let max = startOf(model);
  const { minimum, cap } = model;
  const low = minimum === '' ? undefined : scaledNumber(minimum);
  const high = cap === '' ? undefined : scaledNumber(cap);
  const isHidden = (bound: bigint | undefined, isPast: (amount: bigint) => boolean) =>
    bound !== undefined && !isPast(amountOf((max * 4n) / 5n));
  for (let doublings = 0; doublings < DOUBLINGS_MAX; doublings++) {
    const isEnough =
      !isHidden(low, (amount) => amount > (low ?? 0n)) && !isHidden(high, (amount) => amount >= (high ?? 0n));
    if (isEnough) break;
    max *= 2n;
    // A price of zero never gets there.
    if (doublings === DOUBLINGS_MAX - 1) max = startOf(model);
  }
  return reached * 5n > max * 4n ? (reached * 5n) / 4n : max;
}

function startOf(model: PriceModel): bigint {
  switch (model.kind) {
    case 'graduated':
    case 'volume': {
      const last = scaledNumber(model.tiers.at(-2)?.upTo ?? '') ?? 100n * ONE;
      return (last * 8n) / 5n;
    }
    case 'package':
      return (scaledNumber(model.size) ?? ONE) * 5n;
    case 'allowance':
    case 'overage':
      return (scaledNumber(model.included) ?? ONE) * 2n;
    case 'per_unit':
      return (scaledNumber(model.pricingUnit || '100') ?? ONE) * 2n;
    case 'percentage':
      return 1_000n * ONE;
  }
}

/** A number for drawing; its digits are shown by `unscaled`. */
export function drawn(value: bigint): number {
  return Number(unscaled(value));
}

const NICE = [1, 2, 2.5, 5, 10];

/** Round numbers from 0 to at most `max`. */
export function ticksUpTo(max: number, count: number): number[] {
  if (!(max > 0)) return [0];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (NICE.find((each) => each * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(max / step + 1e-9) + 1 }, (_, index) => index * step);
}

/** The quantity at a share of the width, rounded to what a person can point at. */
export function quantityAt({ quantityMax }: Curve, share: number): bigint {
  const max = drawn(quantityMax);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(max)));
  const text = (Math.min(Math.max(share, 0), 1) * max).toFixed(Math.min(digits, 18));
  const quantity = scaledNumber(text) ?? 0n;
  return quantity > quantityMax ? quantityMax : quantity;
}

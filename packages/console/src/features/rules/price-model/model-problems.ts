import { scaledNumber } from './amount-at.js';
import type { ModelTier, PriceModel } from './model.js';

/** The errors of a model by field, such as `price` or `tiers[1].upTo`. */
export type ModelProblems = Readonly<Record<string, string>>;

const NOT_A_NUMBER = 'Enter a number such as 0.25.';
const NOT_ABOVE_ZERO = 'Enter a number above 0.';

/** Finds missing and wrong numbers of a model, and bounds in the wrong order. */
export function problemsOfModel(model: PriceModel): ModelProblems {
  const problems: Record<string, string> = {};
  const check = (field: string, text: string, problem: string | undefined) => {
    const found = scaledNumber(text) === undefined ? NOT_A_NUMBER : problem;
    if (found !== undefined) problems[field] = found;
  };
  const aboveZero = (text: string) => (scaledNumber(text) === 0n ? NOT_ABOVE_ZERO : undefined);
  switch (model.kind) {
    case 'per_unit':
      check('price', model.price, undefined);
      if (model.pricingUnit !== '') check('pricingUnit', model.pricingUnit, aboveZero(model.pricingUnit));
      break;
    case 'graduated':
    case 'volume':
      for (const [index, { upTo, unitPrice }] of model.tiers.entries()) {
        check(`tiers[${index}].unitPrice`, unitPrice, undefined);
        if (index === model.tiers.length - 1) continue;
        check(`tiers[${index}].upTo`, upTo, orderProblem(model.tiers[index - 1], upTo));
      }
      break;
    case 'package':
      check('size', model.size, aboveZero(model.size));
      check('price', model.price, undefined);
      break;
    case 'allowance':
      check('included', model.included, aboveZero(model.included));
      check('unitPrice', model.unitPrice, undefined);
      break;
    case 'overage':
      check('included', model.included, aboveZero(model.included));
      check('unitPrice', model.unitPrice, undefined);
      check('factor', model.factor, undefined);
      break;
    case 'percentage':
      check('percent', model.percent, undefined);
      break;
  }
  const { fee, minimum, cap } = model;
  if (fee !== '') check('fee', fee, undefined);
  if (minimum !== '') check('minimum', minimum, undefined);
  if (cap !== '') check('cap', cap, capProblem(minimum, cap));
  return problems;
}

function orderProblem(before: ModelTier | undefined, upTo: string): string | undefined {
  const low = before === undefined ? 0n : scaledNumber(before.upTo);
  const high = scaledNumber(upTo);
  if (low === undefined || high === undefined || high > low) return undefined;
  return before === undefined ? NOT_ABOVE_ZERO : `Enter a number above ${before.upTo}.`;
}

function capProblem(minimum: string, cap: string): string | undefined {
  const [low, high] = [scaledNumber(minimum), scaledNumber(cap)];
  return low !== undefined && high !== undefined && high < low
    ? `Enter at least the minimum, ${minimum}.`
    : undefined;
}

import type { Cumulative } from '@tollgate/contract';
import { decimalExact } from '../../../format.js';
import { periodWords } from '../../limits/rules/period.js';
import type { ModelTier, PriceModel, RulePrice } from './model.js';
import { readPrice } from './read-price.js';

/** The price in words, such as `1,000 included, then 0.01 each`; undefined if the form cannot show it. */
export function priceInWords(price: RulePrice): string | undefined {
  const read = readPrice(price);
  if ('reason' in read) return undefined;
  const words = modelInWords(read.model);
  return price.cumulative === undefined ? words : `${words} · ${counterInWords(price.cumulative)}`;
}

/** The scope of a counter in words: `total of each subject per calendar month`. */
export function counterInWords({ period, per, by = [] }: Pick<Cumulative, 'period' | 'per' | 'by'>): string {
  const owner = per === 'project' ? 'of the project' : `of each ${per}`;
  const parts = by.length === 0 ? '' : ` by ${by.join(', ')}`;
  const time =
    period === 'lifetime' ? '' : ` ${period === 'year' ? 'per calendar year' : periodWords(period)}`;
  return `total ${owner}${parts}${time}`;
}

/** A model in words, without its currency. */
export function modelInWords(model: PriceModel): string {
  const { fee, minimum, cap } = model;
  return [
    coreInWords(model),
    ...(fee === '' ? [] : [`plus ${decimalExact(fee)}`]),
    ...(minimum === '' ? [] : [`at least ${decimalExact(minimum)}`]),
    ...(cap === '' ? [] : [`at most ${decimalExact(cap)}`]),
  ].join(', ');
}

function coreInWords(model: PriceModel): string {
  switch (model.kind) {
    case 'per_unit':
      return model.pricingUnit === '' || model.pricingUnit === '1'
        ? number(model.price)
        : `${number(model.price)} per ${number(model.pricingUnit)}`;
    case 'graduated':
      return tiersInWords(model.tiers, 'each');
    case 'volume':
      return tiersInWords(model.tiers, 'for all');
    case 'package':
      return `${number(model.price)} per package of ${number(model.size)}`;
    case 'allowance':
      return `${number(model.included)} included, then ${number(model.unitPrice)} each`;
    case 'overage':
      return `${number(model.unitPrice)} each up to ${number(model.included)}, then ${number(model.factor)} times as much`;
    case 'percentage':
      return `${number(model.percent)} %`;
  }
}

function tiersInWords(tiers: readonly ModelTier[], scope: 'each' | 'for all'): string {
  return tiers
    .map(({ upTo, unitPrice }, index) => {
      const price = `${number(unitPrice)} ${scope}`;
      if (index < tiers.length - 1) return `${price} up to ${number(upTo)}`;
      return index === 0 ? price : `then ${price}`;
    })
    .join(', ');
}

/** A number that is missing is three dots. */
function number(text: string): string {
  return text === '' ? '…' : decimalExact(text);
}

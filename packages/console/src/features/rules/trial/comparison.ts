import type { UsageChargeItem } from '@tollgate/contract';
import { exactSum, negated } from '../../../exact-sum.js';

/** The totals of one metric in one currency by two sets of rules. */
export interface ComparedTotal {
  readonly metric: string;
  readonly unit: string | null;
  readonly currency: string | null;
  readonly quantity: Change;
  readonly amount: Change;
}

/** Exact decimals; `difference` is `after` minus `before`. */
export interface Change {
  readonly before: string;
  readonly after: string;
  readonly difference: string;
}

export function changeOf(before: string, after: string): Change {
  return { before, after, difference: exactSum([after, negated(before)]) };
}

export function isChanged({ difference }: Change): boolean {
  return difference !== '0';
}

/** A difference with its sign: `+1.5`, `-3`, `0`. */
export function signed(difference: string): string {
  return difference === '0' || difference.startsWith('-') ? difference : `+${difference}`;
}

/** Compares the charge items of two ratings of an event, by metric, unit and currency in order of appearance. */
export function compareItems(
  before: readonly UsageChargeItem[],
  after: readonly UsageChargeItem[],
): ComparedTotal[] {
  const keys = new Map([...after, ...before].map((item) => [keyOf(item), item]));
  return [...keys].map(([key, { metric, unit, currency }]) => {
    const own = (items: readonly UsageChargeItem[]) => items.filter((item) => keyOf(item) === key);
    const sum = (items: readonly UsageChargeItem[], field: 'quantity' | 'amount') =>
      exactSum(own(items).map((item) => item[field]));
    return {
      ...{ metric, unit, currency },
      quantity: changeOf(sum(before, 'quantity'), sum(after, 'quantity')),
      amount: changeOf(sum(before, 'amount'), sum(after, 'amount')),
    };
  });
}

function keyOf({ metric, unit, currency }: UsageChargeItem): string {
  return JSON.stringify([metric, unit, currency]);
}

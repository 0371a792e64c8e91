import type { UsageChargeItem, UsageEventRevision } from '@tollgate/contract';
import { exactSum } from '../../exact-sum.js';
import { decimalExact } from '../../format.js';

/** One difference between two results of an event, in words. */
export interface ItemChange {
  readonly metric: string;
  /** Such as `0.5 → 0.4 USD`. */
  readonly text: string;
}

/** Whether a revision was made by reverting a correction, whose own revision comes before it. */
export function isRevert(
  revisions: readonly Pick<UsageEventRevision, 'revision' | 'correction_id'>[],
  { revision, correction_id: id }: Pick<UsageEventRevision, 'revision' | 'correction_id'>,
): boolean {
  return id !== null && revisions.some((other) => other.correction_id === id && other.revision < revision);
}

interface Counted {
  readonly metric: string;
  readonly value: string;
  /** The unit or the currency. */
  readonly name: string;
}
type Items = readonly UsageChargeItem[];

/** The differences between two revisions: quantities by metric and unit, amounts and costs by metric and currency. */
export function itemChanges(before: Items, after: Items): ItemChange[] {
  const changed = (countedOf: (items: Items) => Counted[], word = '') =>
    changesOf(countedOf(before), countedOf(after), word);
  return [
    ...changed((items) =>
      items.map(({ metric, quantity, unit }) => ({ metric, value: quantity, name: unit ?? '' })),
    ),
    ...changed((items) =>
      items.flatMap(({ metric, amount, currency }) =>
        currency === null ? [] : { metric, value: amount, name: currency },
      ),
    ),
    ...changed(
      (items) =>
        items.flatMap(({ metric, cost }) =>
          cost ? { metric, value: cost.amount, name: cost.currency } : [],
        ),
      'cost ',
    ),
  ];
}

function changesOf(before: readonly Counted[], after: readonly Counted[], word: string): ItemChange[] {
  const keyOf = ({ metric, name }: Counted) => JSON.stringify([metric, name]);
  const firsts = new Map([...after, ...before].map((item) => [keyOf(item), item]));
  return [...firsts].flatMap(([key, { metric, name }]) => {
    const sum = (items: readonly Counted[]) =>
      exactSum(items.filter((each) => keyOf(each) === key).map(({ value }) => value));
    const [old, now] = [sum(before), sum(after)];
    if (old === now) return [];
    return [{ metric, text: `${word}${decimalExact(old)} → ${decimalExact(now)} ${name}`.trim() }];
  });
}

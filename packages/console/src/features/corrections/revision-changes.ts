import type { UsageChargeItem } from '@tollgate/contract';
import { exactSum } from '../../exact-sum.js';
import { decimalExact } from '../../format.js';

/** One difference between two results of an event, in words. */
export interface ItemChange {
  readonly metric: string;
  /** Such as `0.5 → 0.4 USD`. */
  readonly text: string;
}

type Items = readonly UsageChargeItem[];
type Field = 'quantity' | 'amount';

/** The differences between two revisions: quantities by metric and unit, then amounts by metric and currency. */
export function itemChanges(before: Items, after: Items): ItemChange[] {
  const priced = (items: Items) => items.filter(({ currency }) => currency !== null);
  return [
    ...changesOf('quantity', before, after, ({ unit }) => unit ?? ''),
    ...changesOf('amount', priced(before), priced(after), ({ currency }) => currency ?? ''),
  ];
}

function changesOf(
  field: Field,
  before: Items,
  after: Items,
  nameOf: (item: UsageChargeItem) => string,
): ItemChange[] {
  const keyOf = (item: UsageChargeItem) => JSON.stringify([item.metric, nameOf(item)]);
  const firsts = new Map([...after, ...before].map((item) => [keyOf(item), item]));
  return [...firsts].flatMap(([key, item]) => {
    const sum = (items: Items) =>
      exactSum(items.filter((each) => keyOf(each) === key).map((each) => each[field]));
    const [old, now] = [sum(before), sum(after)];
    if (old === now) return [];
    const text = `${decimalExact(old)} → ${decimalExact(now)} ${nameOf(item)}`.trim();
    return [{ metric: item.metric, text }];
  });
}

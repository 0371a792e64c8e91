import { addTo } from '../../kernel/present.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';
import { beforeDiscount, isByTotal, periodKey } from './count.js';
import type { KeyedCount } from './counts-store.js';

/** The part of an amount that was not given back when its charge item was taken out. It stays on its event. */
export interface Remainder {
  /** The charge item that was taken out. */
  readonly of: UsageItemRow;
  readonly count: Pick<KeyedCount, 'periodKey' | 'owner'>;
  /** × 10^18. */
  readonly amount: bigint;
}

/** The remainders of a row. */
export function remaindersOf({ items }: Pick<UsageEventRow, 'items'>): UsageItemRow[] {
  return items.filter(({ source }) => source === 'correction');
}

/** Returns the period of a remainder; see `periodKey`. */
export function periodOfRemainder({ cumulative }: UsageItemRow): string {
  const { key, period_start: startS } = JSON.parse(cumulative) as { key: string; period_start: number };
  return periodKey({ key: Buffer.from(key, 'hex'), startS });
}

/** Adds remainders to those of an event. It has one for each period, metric, unit and currency, and none of 0. */
export function withRemainders(kept: readonly UsageItemRow[], added: readonly Remainder[]): UsageItemRow[] {
  const items = new Map<string, UsageItemRow>();
  for (const item of [...kept, ...added.map(itemOf)]) {
    const name = JSON.stringify([periodOfRemainder(item), item.metric, item.unit, item.currency]);
    const known = items.get(name);
    items.set(name, known === undefined ? item : { ...known, amount: known.amount + item.amount });
  }
  return [...items.values()].filter(({ amount }) => amount !== 0n);
}

/** A remainder names its counter: its event may have another subject since. */
function itemOf({ of: item, count: { periodKey: name, owner }, amount }: Remainder): UsageItemRow {
  const [key] = name.split(' ');
  const { subjectType, subjectId, accountId, by } = owner;
  const counter = { key, subject_type: subjectType, subject_id: subjectId, account_id: accountId, by };
  return {
    ...item,
    ...{
      extractorName: '',
      quantity: 0n,
      unitPrice: null,
      amount,
      discount: 0n,
      source: 'correction',
      cost: null,
    },
    cumulative: JSON.stringify({ ...JSON.parse(item.cumulative), ...counter }),
  };
}

/** Returns what a row charges in each period: its counted items, before discounts, and its remainders. */
export function chargedByPeriod(row: UsageEventRow, counts: readonly KeyedCount[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { item: index, periodKey: name } of counts) {
    const item = row.items[index];
    if (item === undefined || !isByTotal(item))
      throw new Error('a charge item that was counted has no total');
    addTo(sums, name, beforeDiscount(item));
  }
  for (const item of remaindersOf(row)) addTo(sums, periodOfRemainder(item), item.amount);
  return sums;
}

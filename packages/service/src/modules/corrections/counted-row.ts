import { present } from '../../kernel/present.js';
import { cumulativeText, RatingFailure, ratingFactsOf, withDiscounts } from '../rules/index.js';
import { isPostedByRemainder, sentFields, type UsageEventRow, type UsageItemRow } from '../usage/index.js';
import { beforeDiscount } from './count.js';
import type { KeyedCount } from './counts-store.js';
import { periodOfRemainder, type Remainder, remaindersOf, withRemainders } from './remainder.js';

/** An event whose next content has charge items by totals, or whose former one has. */
export interface RowToCount {
  /** The row in force. */
  readonly current: UsageEventRow;
  /** The next content of the event, before its items are counted. */
  readonly content: UsageEventRow;
  /** Items of the row in force, with what they give back. */
  readonly taken: readonly KeyedCount[];
  /** Items of the content, with their amounts. */
  readonly put: readonly KeyedCount[];
  /**
   * Whether the counts of a period apply. In other periods the content is restored as it was, with its amounts and
   * remainders.
   */
  readonly isCounted: (periodKey: string) => boolean;
}

/** Returns the next row of an event: with its amounts by totals, their discounts, and the remainders of former ones. */
export function countedRow({ current, content, taken, put, isCounted }: RowToCount): UsageEventRow {
  const counted = put.filter(({ periodKey }) => isCounted(periodKey));
  const charged = content.items.filter(({ source }) => source !== 'correction');
  const items = counted.length === 0 ? charged : withAmounts(content, charged, counted);
  // The next attempt of an event that fails again would replace its row with all remainders.
  if (content.status === 'failed') return { ...content, items };
  const kept = [
    ...remaindersOf(content).filter((item) => !isCounted(periodOfRemainder(item))),
    ...remaindersOf(current).filter((item) => isCounted(periodOfRemainder(item))),
  ];
  const left = taken.filter(({ periodKey }) => isCounted(periodKey));
  return withItems(content, current, items, withRemainders(kept, leftOf(current, left)));
}

/** Adds an amount of a period to an event that has an item in it. */
export function withRemainder(
  { current, content, taken, put }: Omit<RowToCount, 'isCounted'>,
  next: UsageEventRow,
  periodKey: string,
  amount: bigint,
): UsageEventRow {
  const ofPeriod = (count: KeyedCount) => count.periodKey === periodKey;
  const out = taken.find(ofPeriod);
  const count = out ?? present(put.find(ofPeriod), 'an item of the period');
  const of = present((out === undefined ? content : current).items[count.item], 'an item of the period');
  const remainders = withRemainders(remaindersOf(next), [{ of, count, amount }]);
  const charged = next.items.filter(({ source }) => source !== 'correction');
  return withItems(next, current, charged, remainders);
}

function withAmounts(
  content: UsageEventRow,
  items: readonly UsageItemRow[],
  counts: readonly KeyedCount[],
): readonly UsageItemRow[] {
  const byItem = new Map(counts.map((count) => [count.item, count]));
  const charged = items.map((item, index) => {
    const count = byItem.get(index);
    if (count === undefined) return { ...item, amount: beforeDiscount(item), discount: 0n };
    const { before, after = 0n, amount, rule, periodKey } = count;
    const periodStart = Number(present(periodKey.split(' ')[1], 'the start of a period'));
    const cumulative = cumulativeText(rule.counter, { periodStart, before, after });
    return { ...item, amount, discount: 0n, cumulative };
  });
  const { rawJson, xBilling, occurredAt } = content;
  const { billing } = ratingFactsOf(sentFields({ rawJson, xBilling, occurredAt, sentSubject: undefined }));
  const discounted = withDiscounts(charged, billing);
  if (discounted instanceof RatingFailure) throw discounted;
  return discounted;
}

function leftOf(current: UsageEventRow, taken: readonly KeyedCount[]): Remainder[] {
  return taken.map((count) => {
    const of = present(current.items[count.item], 'a charge item to take out');
    return { of, count, amount: beforeDiscount(of) - count.given };
  });
}

/** Where only an amount is left, the account pays or gets it that has paid before. */
function withItems(
  content: UsageEventRow,
  { accountId: formerAccountId }: UsageEventRow,
  charged: readonly UsageItemRow[],
  remainders: readonly UsageItemRow[],
): UsageEventRow {
  const items = [...charged, ...remainders];
  if (!isPostedByRemainder({ items })) return { ...content, items };
  const accountId = content.accountId === '' ? formerAccountId : content.accountId;
  return { ...content, items, accountId, posting: accountId === '' ? 'unrouted' : 'posted' };
}

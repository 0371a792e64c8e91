import type { UsageItemExplanation } from '@tollgate/contract';
import { dateMinute, decimal, money } from './format.js';

type ExplainedTotal = NonNullable<UsageItemExplanation['total']>;

/** A total and its price in words. */
export interface TotalWords {
  /** `40 min before, 52 after` */
  readonly totals: string;
  /** `The total costs 80 USD before and 52 USD after: -28 USD`; undefined if the prices are not known. */
  readonly prices: string | undefined;
  /** `Counter minutes of the subject, month from 1 Nov 2026, 00:00 UTC` */
  readonly counter: string;
}

const AGGREGATES: Readonly<Record<string, string>> = {
  count: 'charge items',
  max: 'at most',
  unique: 'distinct values',
};

/** The charge item that changed a total, with its amount before the discount. */
interface TotalItem {
  readonly unit: string | null;
  readonly currency: string | null;
  readonly amount: string;
}

/** Says how a total and its price changed with a charge item. */
export function wordsOfTotal(total: ExplainedTotal, { unit, currency, amount }: TotalItem): TotalWords {
  const { before, after, price_before: from, price_after: to, counter, per, period, by } = total;
  const counted = AGGREGATES[total.aggregate ?? ''] ?? unit ?? '';
  const owner = per === null ? '' : ` of the ${per}`;
  const parts = by.length === 0 ? '' : ` by ${by.join(', ')}`;
  return {
    totals: `${[decimal(before), counted].filter(Boolean).join(' ')} before, ${decimal(after)} after`,
    prices:
      from === null || to === null
        ? undefined
        : `The total costs ${money(from, currency)} before and ${money(to, currency)} after: ${money(amount, currency)}`,
    counter: `Counter ${counter}${owner}${parts}, ${period ?? 'period'} from ${dateMinute(total.period_start, 'UTC')} UTC`,
  };
}

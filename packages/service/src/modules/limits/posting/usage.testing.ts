import { stored, usageItem } from '../../../testing/index.js';
import type { UsageItemRow } from '../../usage/index.js';
import type { RatedUsage } from './rated-usage.js';

/** 2025-06-15T15:06:40Z, a Sunday. */
export const NOW_S = 1_750_000_000;

/** A charge item; unpriced without an amount. */
export interface TestItem {
  readonly metric?: string;
  readonly quantity?: string;
  readonly amount?: string;
  readonly currency?: string;
}

export interface TestUsage {
  readonly atS?: number;
  /** `null` for an event without a subject. */
  readonly subject?: string | null;
  readonly items?: readonly TestItem[];
  readonly dimensions?: Readonly<Record<string, string>>;
  readonly leaseId?: string;
  /** Whether a correction takes the event back. */
  readonly isReversal?: boolean;
}

/** Usage of user `u1`: one token for 1 USD, unless `usage` says otherwise. */
export function ratedUsage(usage: TestUsage): RatedUsage {
  const { atS = NOW_S, subject = 'u1', items = [{ amount: '1' }], dimensions = {}, leaseId = '' } = usage;
  const { isReversal = false } = usage;
  const rated = items.map(ratedItem);
  return {
    occurredAt: atS,
    subject: subject === null ? undefined : { type: 'user', id: subject },
    dimensions: new Map(Object.entries(dimensions)),
    items: isReversal ? rated.map(takenBack) : rated,
    isReversal,
    budgetLeaseId: leaseId,
  };
}

function takenBack(item: UsageItemRow): UsageItemRow {
  return { ...item, quantity: -item.quantity, amount: -item.amount };
}

function ratedItem({
  metric = 'llm.tokens',
  quantity = '1',
  amount,
  currency = 'USD',
}: TestItem): UsageItemRow {
  const item = usageItem({ metric, quantity: stored(quantity), unitPrice: null });
  return amount === undefined
    ? { ...item, amount: 0n, currency: '', pricingSource: 'unpriced' }
    : { ...item, amount: stored(amount), currency };
}

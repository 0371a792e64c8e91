import type { PostedChargeItem, UsageEvent } from '@tollgate/contract';
import type { EventQuery } from './filters.js';

type ItemQuery = Pick<EventQuery, 'metric' | 'currency' | 'pricing_source' | 'ledger_transaction_id'>;

/** Whether the filters select some of the charge items of events. */
export function asksForItems({
  metric = [],
  currency,
  pricing_source: source,
  ledger_transaction_id: transaction,
}: ItemQuery): boolean {
  return metric.length > 0 || [currency, source, transaction].some((value) => value !== undefined);
}

/** The charge items of an event that match the filters. A sum over the same filters contains the same items. */
export function fittingItems(
  { charge_items: items }: Pick<UsageEvent, 'charge_items'>,
  { metric = [], currency, pricing_source: source, ledger_transaction_id: transaction }: ItemQuery,
): PostedChargeItem[] {
  return items.filter(
    (item) =>
      (metric.length === 0 || metric.includes(item.metric)) &&
      (currency === undefined || item.currency === currency) &&
      (source === undefined || item.pricing_source === source) &&
      (transaction === undefined || item.ledger_transaction_id === transaction),
  );
}

import type { ChargeItemCost, PostedChargeItem, UsageChargeItem, UsageEvent } from '@tollgate/contract';
import { fromStored, parseDecimal, toText } from '../../kernel/decimal.js';
import { rawEventIdText } from '../../kernel/id.js';
import type { StoredEvent } from './event-store.js';
import type { ItemCostRow, UsageItemRow } from './row.js';

/** The event as the API shows it: null where the store has an empty text. */
export function toUsageEvent(event: StoredEvent): UsageEvent {
  return {
    raw_event_id: rawEventIdText(event.id),
    revision: event.corrections + 1,
    status: event.status,
    source: event.source,
    external_event_id: textOrNull(event.external_event_id),
    idempotency_key: textOrNull(event.idempotency_key),
    subject_type: textOrNull(event.subject_type),
    subject_id: textOrNull(event.subject_id),
    account_id: textOrNull(event.account_id),
    occurred_at: event.occurred_at_s,
    received_at: event.received_at_s,
    processed_at: event.processed_at_s,
    dimensions: event.dimensions,
    charge_items: chargeItems(event),
    posting: event.posting === 'none' ? null : event.posting,
    extractor_rule_set_id: event.extractor_rule_set_id,
    extractor_version: event.extractor_version || null,
    budget_lease_id: textOrNull(event.budget_lease_id),
    lease_status: event.lease_status === 'none' ? null : event.lease_status,
    failure:
      event.status === 'failed'
        ? {
            code: event.failure_code,
            message: event.failure_message,
            path: textOrNull(event.failure_path),
          }
        : null,
    notes: notesOf(event.notes),
  };
}

/** Parses the column `notes`. */
export function notesOf(text: string): UsageEvent['notes'] {
  return text === '' ? [] : JSON.parse(text);
}

/** An item as it was rated, in the shape in which its event will show it. */
export function toUsageChargeItem(item: UsageItemRow): UsageChargeItem {
  return {
    extractor_name: textOrNull(item.extractorName),
    metric: item.metric,
    unit: textOrNull(item.unit),
    quantity: toText(fromStored(item.quantity)),
    unit_price: item.unitPrice === null ? null : toText(fromStored(item.unitPrice)),
    amount: toText(fromStored(item.amount)),
    discount: toText(fromStored(item.discount)),
    currency: textOrNull(item.currency),
    source: item.source,
    pricing_source: item.pricingSource,
    rule_set_id: textOrNull(item.ruleSetId),
    rule_set_version: item.ruleSetVersion || null,
    rule_name: textOrNull(item.ruleName),
    cumulative: totalsOf(item.cumulative),
    cost: item.cost && shownCost(item.cost, toText(fromStored(item.cost.amount))),
  };
}

function shownCost(
  { currency, ruleSetId, ruleSetVersion, ruleName }: Omit<ItemCostRow, 'amount'>,
  amount: string,
): ChargeItemCost {
  return {
    amount,
    currency,
    pricing_rule_set_id: textOrNull(ruleSetId),
    version: ruleSetVersion || null,
    rule: ruleName,
  };
}

function chargeItems(event: StoredEvent): PostedChargeItem[] {
  return event.item_metric.map((metric, i) => ({
    extractor_name: textOrNull(event.item_extractor_name[i]),
    metric,
    unit: textOrNull(event.item_unit[i]),
    quantity: plainDecimal(nestedValue(event.item_quantity, i)),
    unit_price: nullableDecimal(event.item_unit_price[i]),
    amount: plainDecimal(nestedValue(event.item_amount, i)),
    discount: plainDecimal(nestedValue(event.item_discount, i)),
    currency: textOrNull(event.item_currency[i]),
    source: nestedValue(event.item_source, i),
    pricing_source: nestedValue(event.item_pricing_source, i),
    rule_set_id: textOrNull(event.item_rule_set_id[i]),
    rule_set_version: event.item_rule_set_version[i] || null,
    rule_name: textOrNull(event.item_rule_name[i]),
    cumulative: totalsOf(nestedValue(event.item_cumulative, i)),
    cost: storedCost(event, i),
    ledger_transaction_id: textOrNull(event.item_ledger_transaction_id[i]),
  }));
}

/** Parses the column `item.cumulative`. */
export function totalsOf(text: string): UsageChargeItem['cumulative'] {
  if (text === '') return null;
  // A remainder of a correction has more fields, which name its counter.
  const { counter, period_start, before, after } = JSON.parse(text);
  return { counter, period_start, before, after };
}

function storedCost(event: StoredEvent, index: number): ChargeItemCost | null {
  const currency = nestedValue(event.item_cost_currency, index);
  if (currency === '') return null;
  const ruleSetId = nestedValue(event.item_cost_rule_set_id, index);
  const ruleSetVersion = nestedValue(event.item_cost_rule_set_version, index);
  const ruleName = nestedValue(event.item_cost_rule_name, index);
  const amount = plainDecimal(nestedValue(event.item_cost_amount, index));
  return shownCost({ currency, ruleSetId, ruleSetVersion, ruleName }, amount);
}

/** A decimal as the API writes it; a server's settings may pad it with zeros. */
function plainDecimal(text: string): string {
  const decimal = parseDecimal(text);
  if (decimal === undefined) throw new Error(`ClickHouse returned ${text} for a decimal`);
  return toText(decimal);
}

export function textOrNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text;
}

function nullableDecimal(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : plainDecimal(text);
}

/** Returns an element of a nested column; all columns of a nested structure have the same length. */
export function nestedValue<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new Error('the columns of the charge items differ in length');
  return value;
}

import { amountFromText, amountText } from '../../ledger/index.js';
import type { RuleRow } from './rule-row.js';

/** A plan rule or a direct limit as the API shows it; absent fields are omitted. */
export function ruleView(row: RuleRow) {
  return {
    limit_key: row.limit_key,
    measure: row.measure,
    ...(row.of === null ? {} : { of: row.of }),
    selector_type: row.selector_type,
    selector_value: row.selector_value,
    ...(row.selector_values === null ? {} : { selector_values: [...row.selector_values] }),
    ...(row.dimension_key === null ? {} : { dimension_key: row.dimension_key }),
    ...(row.dimension_value === null ? {} : { dimension_value: row.dimension_value }),
    ...(row.dimension_values === null ? {} : { dimension_values: [...row.dimension_values] }),
    currency: row.currency,
    ...(row.measure === 'concurrency' ? {} : { period: row.period }),
    limit_amount: amountText(amountFromText(row.limit_amount)),
    action: row.action,
    ...(row.webhook_event === null ? {} : { webhook_event: row.webhook_event }),
    notify_at: [...row.notify_at],
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

import type { UsageChargeItem, UsageEvent } from '@tollgate/contract';
import type { RatedEvent } from '../rules/index.js';
import { type StoredInput, toUsageChargeItem, toUsageEvent } from '../usage/index.js';

/** The outcome of rating one event: its charge items, or why it has none. */
export interface RatingOutcome {
  readonly items: readonly UsageChargeItem[];
  readonly failure: UsageEvent['failure'];
}

export function outcomeOf(rated: RatedEvent): RatingOutcome {
  if (rated.ok) return { items: rated.items.map(toUsageChargeItem), failure: null };
  const { code, message, path } = rated.failure;
  return { items: [], failure: { code, message, path: path === '' ? null : path } };
}

/** The stored result of rating the event. */
export function storedOutcome(event: StoredInput): RatingOutcome {
  const { charge_items: posted, failure } = toUsageEvent(event);
  return { items: posted.map(({ ledger_transaction_id: _posted, ...item }) => item), failure };
}

import type { WebhookDelivery } from '@tollgate/contract';

type Told = Pick<WebhookDelivery, 'status' | 'last_attempt_at' | 'created_at'>;

/** What became of a delivery so far. `trying`: it has failed and will be tried again. */
export type Outcome = 'delivered' | 'waiting' | 'trying' | 'failed' | 'cancelled';

export function outcomeOf({ status, last_attempt_at }: Told): Outcome {
  if (status !== 'pending') return status;
  return last_attempt_at === null ? 'waiting' : 'trying';
}

/**
 * Since when nothing has got through: when the oldest message was made of those that failed, or are failing,
 * without a delivered one after them. Undefined where the last one that was tried has arrived.
 *
 * @param deliveries newest first
 */
export function failingSince(deliveries: readonly Told[]): number | undefined {
  let since: number | undefined;
  for (const delivery of deliveries) {
    const outcome = outcomeOf(delivery);
    if (outcome === 'delivered') break;
    if (outcome === 'failed' || outcome === 'trying') since = delivery.created_at;
  }
  return since;
}

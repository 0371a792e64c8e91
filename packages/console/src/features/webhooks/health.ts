import type { WebhookDelivery } from '@tollgate/contract';

type DeliveryState = Pick<WebhookDelivery, 'status' | 'last_attempt_at' | 'created_at'>;

/** The outcome of a delivery so far. `trying`: it has failed and will be retried. */
export type Outcome = 'delivered' | 'waiting' | 'trying' | 'failed' | 'cancelled';

export function outcomeOf({ status, last_attempt_at }: DeliveryState): Outcome {
  if (status !== 'pending') return status;
  return last_attempt_at === null ? 'waiting' : 'trying';
}

/**
 * The creation time of the first message that failed, or is failing, after the last successful delivery.
 * Undefined if the last attempted message was delivered.
 *
 * @param deliveries newest first
 */
export function failingSince(deliveries: readonly DeliveryState[]): number | undefined {
  let since: number | undefined;
  for (const delivery of deliveries) {
    const outcome = outcomeOf(delivery);
    if (outcome === 'delivered') break;
    if (outcome === 'failed' || outcome === 'trying') since = delivery.created_at;
  }
  return since;
}

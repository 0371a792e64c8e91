import type { WebhookDelivery, WebhookDeliveryStatus } from '@tollgate/contract';
import type { ProjectClient } from '@tollgate/sdk/browser';

const PAGE_SIZE = 100;
/** Upper bound of messages that one click redelivers, because each is a request of its own. */
export const REDELIVERED_MAX = 1_000;

/** Final states without delivery: all attempts failed, or the endpoint was disabled. */
const UNDELIVERED: readonly WebhookDeliveryStatus[] = ['failed', 'cancelled'];

/** The undelivered messages of an endpoint that were created since a time, newest first. */
export async function undeliveredSince(
  { webhookEndpoints }: ProjectClient,
  endpointId: string,
  sinceS: number,
): Promise<WebhookDelivery[]> {
  const found: WebhookDelivery[] = [];
  for (const status of UNDELIVERED) {
    for (let offset = 0; found.length < REDELIVERED_MAX; offset += PAGE_SIZE) {
      const query = { status, limit: PAGE_SIZE, offset };
      const { deliveries, total_count } = await webhookEndpoints.deliveries(endpointId, query);
      found.push(...deliveries.filter(({ created_at }) => created_at >= sinceS));
      const isPast = deliveries.some(({ created_at }) => created_at < sinceS);
      if (isPast || offset + PAGE_SIZE >= total_count) break;
    }
  }
  return found.slice(0, REDELIVERED_MAX);
}

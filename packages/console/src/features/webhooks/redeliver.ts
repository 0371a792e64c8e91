import type { WebhookDelivery, WebhookDeliveryPage, WebhookDeliveryStatus } from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';

const PAGE_SIZE = 100;
/** More than can be asked for one by one while somebody waits. */
export const REDELIVERED_MAX = 1_000;

/** What was given up for good: by its attempts, or because the endpoint was disabled. */
const LOST: readonly WebhookDeliveryStatus[] = ['failed', 'cancelled'];

/**
 * The lost deliveries to an endpoint, newest first, of messages that were made from a moment on.
 * @param endpointPath of the endpoint, below `/api`
 */
export async function lostSince(endpointPath: string, sinceS: number): Promise<WebhookDelivery[]> {
  const found: WebhookDelivery[] = [];
  for (const status of LOST) {
    for (let offset = 0; found.length < REDELIVERED_MAX; offset += PAGE_SIZE) {
      const path = withQuery(`${endpointPath}/deliveries`, { status, limit: PAGE_SIZE, offset });
      const { deliveries, total_count } = await request<WebhookDeliveryPage>('GET', path);
      found.push(...deliveries.filter(({ created_at }) => created_at >= sinceS));
      const isPast = deliveries.some(({ created_at }) => created_at < sinceS);
      if (isPast || offset + PAGE_SIZE >= total_count) break;
    }
  }
  return found.slice(0, REDELIVERED_MAX);
}

import type { UnpricedItem, UsageEvent, UsageExplanation } from '@tollgate/contract';
import type { StoredEventDetail } from './event-store.js';

/**
 * The answer's JSON, with the texts that were sent spliced in as they are: numbers like 12345678901234567890 keep
 * every digit.
 */
export function eventDetailJson(
  event: UsageEvent,
  sent: Pick<StoredEventDetail, 'raw_json' | 'metadata' | 'x_billing'>,
  explanation: UsageExplanation,
  unpriced: readonly UnpricedItem[],
): string {
  const fields = JSON.stringify(event).slice(0, -1);
  const texts = [
    `"raw_json":${sent.raw_json || 'null'}`,
    `"metadata":${sent.metadata || 'null'}`,
    `"x-billing":${sent.x_billing || 'null'}`,
    `"explanation":${JSON.stringify(explanation)}`,
    `"unpriced":${JSON.stringify(unpriced)}`,
  ];
  return `${fields},${texts.join(',')}}`;
}

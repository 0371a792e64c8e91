import { setTimeout as delay } from 'node:timers/promises';
import type { UnpricedItem, UsageEvent, UsageExplanation } from '@tollgate/contract';
import type { StoredEventDetail } from './event-store.js';

/**
 * Returns the JSON of the response, with the texts that were sent inserted as they are: numbers like
 * 12345678901234567890 keep every digit.
 *
 * @param revisions JSON, for the same reason
 */
export function eventDetailJson(
  event: UsageEvent,
  sent: Pick<StoredEventDetail, 'raw_json' | 'metadata' | 'x_billing' | 'subject_is_sent'>,
  explanation: UsageExplanation,
  unpriced: readonly UnpricedItem[],
  revisions: string,
): string {
  const fields = JSON.stringify(event).slice(0, -1);
  const texts = [
    `"raw_json":${sent.raw_json || 'null'}`,
    `"metadata":${sent.metadata || 'null'}`,
    `"x-billing":${sent.x_billing || 'null'}`,
    `"subject_is_sent":${sent.subject_is_sent}`,
    `"explanation":${JSON.stringify(explanation)}`,
    `"revisions":${revisions}`,
    `"unpriced":${JSON.stringify(unpriced)}`,
  ];
  return `${fields},${texts.join(',')}}`;
}

/** Pause between two look-ups: rating takes a few hundred milliseconds, and a look-up one or two. */
const LOOK_UP_PAUSE_MS = 100;

export interface WaitOptions {
  /** Longest wait for an event that does not exist yet, in milliseconds. */
  readonly waitMs: number;
  /** Aborts when no client waits any more. */
  readonly signal: AbortSignal;
}

/** Polls until something is found. Returns undefined when the time is over or no client waits any more. */
export async function lookUpUntil<T>(
  lookUp: () => Promise<T | undefined>,
  { waitMs, signal }: WaitOptions,
): Promise<T | undefined> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const found = await lookUp();
    const leftMs = deadlineMs - performance.now();
    if (found !== undefined || leftMs <= 0 || signal.aborted) return found;
    await delay(Math.min(LOOK_UP_PAUSE_MS, leftMs), undefined, { signal }).catch(() => {});
  }
}

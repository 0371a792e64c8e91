import type { WebhookDisabledReason } from '@tollgate/contract';
import type { Attempt } from './attempt-store.js';
import { deliveryPauseMs } from './retry.js';
import type { SendOutcome } from './sender.js';

/** An endpoint that has accepted nothing for this long is disabled when the last attempt of a message fails, too. */
export const FAILING_DAYS_MAX = 5;

const MS_PER_DAY = 86_400_000;
const GONE = 410;

/** The decision that follows from an attempt. */
export type DeliveryDecision =
  | { readonly kind: 'delivered' }
  | {
      readonly kind: 'failed';
      /** Undefined when it was the last attempt. */
      readonly nextAttemptAtMs: number | undefined;
      /** The reason for disabling the endpoint; undefined when it stays enabled. */
      readonly disable: WebhookDisabledReason | undefined;
    };

/** @param random a number from 0 to 1 */
export function decideDelivery(
  { attempts, failing_since_ms: failingSinceMs }: Pick<Attempt, 'attempts' | 'failing_since_ms'>,
  outcome: SendOutcome,
  nowMs: number,
  random: number,
): DeliveryDecision {
  const status = 'status' in outcome ? outcome.status : undefined;
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'delivered' };
  const pauseMs = deliveryPauseMs(attempts, random);
  const nextAttemptAtMs = pauseMs === undefined ? undefined : nowMs + pauseMs;
  const failingMs = failingSinceMs === null ? 0 : nowMs - failingSinceMs;
  const isHopeless = nextAttemptAtMs === undefined && failingMs >= FAILING_DAYS_MAX * MS_PER_DAY;
  const disable = status === GONE ? 'gone' : isHopeless ? 'failing' : undefined;
  return { kind: 'failed', nextAttemptAtMs, disable };
}

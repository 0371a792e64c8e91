import { DomainError } from '../../kernel/errors.js';
import { utcMonthAt } from '../../kernel/period.js';
import type { SegmentRecord } from '../../platform/queue/index.js';

/** Whether and when a tenant may send events, and how many. */
export interface EventEntitlement {
  /** False for a tenant that may not send events. */
  readonly isEntitled: boolean;
  readonly window: EventWindow;
  /** Events that may be accepted in a calendar month (UTC); -1 for any number. */
  readonly monthlyEventLimit: number;
  /** Unix seconds from which another entitlement applies; null when none is known. */
  readonly endsAt: number | null;
}

/** How far `occurred_at` may lie from now. */
export interface EventWindow {
  readonly ageDaysMax: number;
  readonly aheadDaysMax: number;
}

/** Says which events a tenant may send, by its subscription plan. */
export interface EventAdmission {
  /** Returns without a promise when the entitlement is cached. */
  eventEntitlementOf(tenantId: string): EventEntitlement | Promise<EventEntitlement>;
}

/** Returns the 429 error, with a retry time at the end of the month or of the entitlement. */
export function quotaExceeded(
  { receivedAtMs, eventCount }: SegmentRecord,
  { monthlyEventLimit, endsAt }: EventEntitlement,
  used: number,
): DomainError {
  const receivedAtS = receivedAtMs / 1_000;
  const monthEndS = utcMonthAt(receivedAtS).endS;
  const changesAtS = endsAt !== null && endsAt > receivedAtS ? Math.min(endsAt, monthEndS) : monthEndS;
  const message = `allows ${monthlyEventLimit} in a calendar month; ${used} used, ${eventCount} sent`;
  return new DomainError('event_quota_exceeded', {
    details: [{ path: 'monthly_event_limit', message }],
    retryAfterS: Math.ceil(changesAtS - receivedAtS),
  });
}

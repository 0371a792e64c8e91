import { DomainError } from '../../kernel/errors.js';
import { utcMonthAt } from '../../kernel/period.js';
import type { SegmentRecord } from '../../platform/queue/index.js';
import type { EventWindow } from './validate.js';

/** What a tenant may send. */
export interface EventEntitlement {
  /** False for a tenant that may send nothing at all. */
  readonly isEntitled: boolean;
  readonly window: EventWindow;
  /** Events that may be accepted in a calendar month (UTC); -1 for any number. */
  readonly monthlyEventLimit: number;
  /** Unix seconds from which other terms apply; null when none is known. */
  readonly endsAt: number | null;
}

/** Says what tenants may send, by whatever they were sold. */
export interface EventAdmission {
  /** At once when it is known. */
  eventEntitlementOf(tenantId: string): EventEntitlement | Promise<EventEntitlement>;
}

/** 429, until the month or the terms end. */
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

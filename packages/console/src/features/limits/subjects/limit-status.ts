import type { RealtimeLimit } from '@tollgate/contract';
import { exactSum, negated } from '../../../exact-sum.js';

/** From this share of a limit on, its status is `near`. */
const NEAR_SHARE = 0.8;

export type LimitStatus = 'exceeded' | 'near' | 'ok';

/** The status of a limit, from its used and reserved amounts together. */
export function limitStatusOf(
  limit: Pick<RealtimeLimit, 'exceeded' | 'used_amount' | 'reserved_amount' | 'limit_amount'>,
): LimitStatus {
  if (limit.exceeded) return 'exceeded';
  const share =
    shareOf(limit.used_amount, limit.limit_amount) + shareOf(limit.reserved_amount, limit.limit_amount);
  return share >= NEAR_SHARE ? 'near' : 'ok';
}

/** Whether a limit has no room for further usage: used and reserved amounts have reached it. */
export function isFull({
  used_amount: used,
  reserved_amount: reserved,
  limit_amount: allowed,
  measure,
}: Pick<RealtimeLimit, 'used_amount' | 'reserved_amount' | 'limit_amount' | 'measure'>): boolean {
  const left = exactSum([allowed, negated(used), negated(reserved)]);
  return left.startsWith('-') || (measure !== 'max' && left === '0');
}

/** A part as a share of the whole, at least 0. For drawing only. */
export function shareOf(part: string, whole: string): number {
  const share = Number(part) / Number(whole);
  return Number.isFinite(share) ? Math.max(share, 0) : Number(Number(part) > 0);
}

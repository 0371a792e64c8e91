import type { RealtimeLimit } from '@tollgate/contract';

/** From which share of a limit on it is said to be near. */
const NEAR_SHARE = 0.8;

export type Standing = 'exceeded' | 'near' | 'ok';

/** How a limit stands at a glance: what is used and what is reserved count alike. */
export function standingOf(
  limit: Pick<RealtimeLimit, 'exceeded' | 'used_amount' | 'reserved_amount' | 'limit_amount'>,
): Standing {
  if (limit.exceeded) return 'exceeded';
  const share =
    shareOf(limit.used_amount, limit.limit_amount) + shareOf(limit.reserved_amount, limit.limit_amount);
  return share >= NEAR_SHARE ? 'near' : 'ok';
}

/** For drawing only: how much of the whole a part is, not below 0. */
export function shareOf(part: string, whole: string): number {
  const share = Number(part) / Number(whole);
  return Number.isFinite(share) ? Math.max(share, 0) : Number(Number(part) > 0);
}

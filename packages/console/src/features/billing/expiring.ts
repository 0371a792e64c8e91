import type { Credit } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import type { FirstEntries } from '../../api/every-page.js';
import { exactSum } from '../../exact-sum.js';

/** Time before its expiry from which a credit counts as expiring. */
const EXPIRING_S = 14 * DAY_S;

export type CreditState = 'active' | 'expiring' | 'expired' | 'used';

export function creditState(
  { remaining, expires_at, expired_at }: Pick<Credit, 'remaining' | 'expires_at' | 'expired_at'>,
  nowS: number,
): CreditState {
  if (expired_at !== null) return 'expired';
  if (remaining === '0') return 'used';
  return expires_at !== null && expires_at - nowS <= EXPIRING_S ? 'expiring' : 'active';
}

/** Credits of a wallet that expire soon. */
interface Expiring {
  readonly amount: string;
  readonly firstAt: number;
  /** Whether there may be more of them, because older credits were not read. */
  readonly isAtLeast: boolean;
}

/** The total amount that expires soon and the first expiry; undefined if no credit expires soon. */
export function expiringSoon({ entries, total }: FirstEntries<Credit>, nowS: number): Expiring | undefined {
  const soon = entries.filter((credit) => creditState(credit, nowS) === 'expiring');
  if (soon.length === 0) return undefined;
  return {
    amount: exactSum(soon.map(({ remaining }) => remaining)),
    firstAt: Math.min(...soon.flatMap(({ expires_at }) => expires_at ?? [])),
    isAtLeast: entries.length < total,
  };
}

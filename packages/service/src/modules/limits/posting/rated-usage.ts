import type { UsageEventRow, UsageItemRow } from '../../usage/index.js';
import type { LimitedSubject } from '../check/limit-status.js';

/** Whose events are posted. */
export interface PostingScope {
  readonly tenantId: string;
  readonly projectId: string;
  readonly projectNo: number;
}

/** A rated event, as far as its posting depends on it. */
export interface RatedUsage {
  /** Unix seconds. */
  readonly occurredAt: number;
  readonly subject: LimitedSubject | undefined;
  readonly dimensions: ReadonlyMap<string, string>;
  readonly items: readonly UsageItemRow[];
  /** As the event names it; empty without a lease. */
  readonly budgetLeaseId: string;
}

/** Events of one project. */
export interface UsageGroup {
  readonly scope: PostingScope;
  readonly events: readonly RatedUsage[];
}

/** What the posting of an event says on its row. */
export type PostedFields = Pick<
  UsageEventRow,
  'posting' | 'accountId' | 'leaseStatus' | 'itemTransactionIds'
>;

/** Of an event that failed. */
export const NOT_POSTED: PostedFields = {
  posting: 'none',
  accountId: '',
  leaseStatus: 'none',
  itemTransactionIds: [],
};

/** Whether something said what the item costs, be it nothing. */
export function isPriced({ pricingSource }: UsageItemRow): boolean {
  return pricingSource !== 'unpriced';
}

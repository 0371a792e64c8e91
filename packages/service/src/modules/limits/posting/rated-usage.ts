import type { PastUsageItem, UsageEventRow, UsageItemRow } from '../../usage/index.js';
import type { LimitedSubject } from '../rules/route-rules.js';

/** The tenant and project whose events are posted. */
export interface PostingScope {
  readonly tenantId: string;
  readonly projectId: string;
  readonly projectNo: number;
}

/** The fields of a rated event that its posting depends on. */
export interface RatedUsage {
  /** Unix seconds. */
  readonly occurredAt: number;
  readonly subject: LimitedSubject | undefined;
  /** For a correction, the subjects above at which the event counts. Otherwise the subject's route decides. */
  readonly parents?: readonly LimitedSubject[];
  readonly dimensions: ReadonlyMap<string, string>;
  readonly items: readonly UsageItemRow[];
  /** Whether its charge items are taken back. Their amounts and quantities have the opposite sign then. */
  readonly isReversal?: boolean;
  /** Whether a revert restores it. It was in force before, and had its `first_use` windows then: it opens none. */
  readonly isRestored?: boolean;
  /** The id that the event names; empty without a lease. */
  readonly budgetLeaseId: string;
}

/** The fields that limits count, of an event that is being rated or of one in the history. */
export interface CountedUsage
  extends Pick<RatedUsage, 'occurredAt' | 'dimensions' | 'isReversal' | 'isRestored'> {
  readonly items: readonly PastUsageItem[];
}

/** Events of one project. */
export interface UsageGroup {
  readonly scope: PostingScope;
  readonly events: readonly RatedUsage[];
}

/** The fields that posting adds to the row of an event. */
export type PostedFields = Pick<
  UsageEventRow,
  'parents' | 'posting' | 'accountId' | 'leaseStatus' | 'itemTransactionIds'
>;

/** The posting of a failed event. */
export const NOT_POSTED: PostedFields = {
  parents: [],
  posting: 'none',
  accountId: '',
  leaseStatus: 'none',
  itemTransactionIds: [],
};

/** Whether a rule gave the item a price, even one of 0. */
export function isPriced({ pricingSource }: UsageItemRow): boolean {
  return pricingSource !== 'unpriced';
}

import { type PostingDifference, type PostingRecount, VERIFY_DIFFERENCES_MAX } from '@tollgate/contract';
import { add, compare, type Decimal, equals, toText } from '../../kernel/decimal.js';
import type { UsageSum } from '../ledger/index.js';
import type { CountedWindow, WindowKey } from '../limits/index.js';
import { decimalOf } from './compare.js';

/**
 * Bounds of a window's usage by the history: the part that it certainly counts, and the most and least of the
 * rest.
 */
export interface WindowBounds {
  readonly certain: Decimal;
  readonly gained: Decimal;
  readonly lost: Decimal;
}

/** How many postings could be compared, and how. */
type Judged = Omit<PostingRecount, 'difference_count' | 'differences'>;

/** The findings so far of comparing the postings. */
export class PostingTally {
  readonly counts: { -readonly [Name in keyof Judged]: number } = {
    wallets: 0,
    wallets_unjudged: 0,
    windows: 0,
    windows_bounded: 0,
    windows_unjudged: 0,
    rules: 0,
    rules_unjudged: 0,
    unsettled: 0,
  };
  #differenceCount = 0;
  readonly #differences: PostingDifference[] = [];

  addWallet({ tenantId, projectId, accountId, currency }: UsageSum, debits: string, found: string): void {
    this.counts.wallets++;
    const [expected, is] = [decimalOf(debits), decimalOf(found)];
    if (equals(expected, is)) return;
    this.#add({
      ...{ tenant_id: tenantId, project_id: projectId, measure: 'usage_debits' },
      ...{ account_id: accountId, currency, ...NO_WINDOW },
      ...{ expected: toText(expected), found: toText(is) },
    });
  }

  /** Use between the bounds is correct; where the bounds are equal, the window is judged exactly. */
  addWindow(window: CountedWindow, { certain, gained, lost }: WindowBounds): void {
    const used = decimalOf(window.used);
    const [least, most] = [add(certain, lost), add(certain, gained)];
    const isExact = equals(least, most);
    this.counts[isExact ? 'windows' : 'windows_bounded']++;
    if (compare(used, least) >= 0 && compare(used, most) <= 0) return;
    const found = isExact ? toText(least) : `${toText(least)} to ${toText(most)}`;
    this.#add({
      ...placeOf(window, window.tenantId, window.currency),
      ...{ measure: 'window_usage', expected: toText(used), found },
    });
  }

  addMissing(window: WindowKey, tenantId: string, currency: string, found: Decimal): void {
    this.#add({
      ...placeOf(window, tenantId, currency),
      ...{ measure: 'window_missing', expected: '0', found: toText(found) },
    });
  }

  result(): PostingRecount {
    return { ...this.counts, difference_count: this.#differenceCount, differences: this.#differences };
  }

  #add(difference: PostingDifference): void {
    this.#differenceCount++;
    if (this.#differences.length < VERIFY_DIFFERENCES_MAX) this.#differences.push(difference);
  }
}

const NO_WINDOW = { subject_type: null, subject_id: null, limit_rule_no: null, window_start: null };

function placeOf(
  { projectId, subjectType, subjectId, ruleNo, startS }: WindowKey,
  tenantId: string,
  currency: string,
) {
  return {
    ...{ tenant_id: tenantId, project_id: projectId, account_id: null, currency: currency || null },
    ...{ subject_type: subjectType, subject_id: subjectId, limit_rule_no: ruleNo, window_start: startS },
  };
}

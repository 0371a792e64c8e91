import { compareText } from '../../../kernel/compare-text.js';
import { hasWindowSums, type SubjectUsage, UsageCounter } from '../windows/subject-usage.js';
import type { AccountDebits, WalletDebit } from './debits.js';
import { addToCharge } from './lease-charges.js';
import { isPriced, type PostedFields, type RatedUsage } from './rated-usage.js';
import type { LeaseCharge } from './store.js';

/** The posting of one event: the fields of its row, and the places where it is counted. */
export interface EventPosting extends PostedFields {
  /** The subject, if it has a route. */
  readonly usage: SubjectUsage | undefined;
  /** The subjects above it that have a route. */
  readonly above: readonly SubjectUsage[];
  /** The account whose wallets are debited. */
  readonly account: AccountDebits | undefined;
  /** The lease that pays for the event. */
  readonly charge: LeaseCharge | undefined;
}

/**
 * Everything that one batch posts, as data: added up event by event, compared with the encoded rows, then written at
 * once. An event counts only once it is added, so that an event whose row cannot be encoded posts nothing.
 */
export class PostingPlan {
  readonly #counter = new UsageCounter();
  readonly #subjects = new Set<SubjectUsage>();
  readonly #accounts = new Set<AccountDebits>();
  readonly #charges = new Set<LeaseCharge>();

  /** Adds an event to its lease, to the windows of every level of its subject, and to the debits of its account. */
  add(event: RatedUsage, { usage, above, account, charge }: EventPosting): void {
    if (charge !== undefined) {
      addToCharge(charge, event);
      this.#charges.add(charge);
    }
    if (usage !== undefined) this.#count(event, usage);
    for (const level of above) this.#count(event, level);
    if (account === undefined) return;
    this.#accounts.add(account);
    for (const item of event.items) {
      if (!isPriced(item)) continue;
      const debit = account.in(item.currency);
      debit.itemCount++;
      debit.amount += item.amount;
    }
  }

  #count(event: RatedUsage, usage: SubjectUsage): void {
    this.#subjects.add(usage);
    this.#counter.add(usage, event);
  }

  /** Returns how many alerts the windows that a tenant's events count in can send; each window can send one. */
  alertsOf(tenantId: string): number {
    return this.#counter.alertsOf(tenantId);
  }

  /** Returns the debits of all added events: at most one for each wallet. */
  debits(): WalletDebit[] {
    return [...this.#accounts].flatMap((account) => account.posted());
  }

  /** Returns the leases that were charged with something. */
  charges(): LeaseCharge[] {
    return [...this.#charges].filter(({ sums }) =>
      [...sums.values()].some(({ used, spent }) => used !== 0n || spent !== 0n),
    );
  }

  /** Returns the subjects with something to count, in the order of the index in which their windows are stored. */
  subjects(): SubjectUsage[] {
    return [...this.#subjects].filter(hasWindowSums).sort(bySubject);
  }
}

function bySubject(a: SubjectUsage, b: SubjectUsage): number {
  return (
    a.scope.projectNo - b.scope.projectNo ||
    compareText(a.subject.type, b.subject.type) ||
    compareText(a.subject.id, b.subject.id)
  );
}

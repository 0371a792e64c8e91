import type { Tx } from '../../../platform/postgres/index.js';
import type { UsageEventRow } from '../../usage/index.js';
import type { LimitedSubject } from '../check/limit-status.js';
import { type LeaseCharge, type LeaseRef, readLeases } from './lease-charge-store.js';
import type { PostingScope, RatedUsage, UsageGroup } from './rated-usage.js';

/** An id of a lease; any other text names none. */
const LEASE_ID = /^bl_[0-9a-f]{32}$/;

/** The leases that the events of a batch name, as they were when the batch first met them. */
export class BatchLeases {
  /** By project, then by id; undefined for one that the project does not have. */
  readonly #charges = new Map<string, Map<string, LeaseCharge | undefined>>();

  constructor(private readonly nowMs: number) {}

  /** Reads those of the leases that are not known yet: one statement for all. */
  async prepare(tx: Tx, groups: readonly UsageGroup[]): Promise<void> {
    const unknown: LeaseRef[] = [];
    for (const { scope, events } of groups) {
      for (const { budgetLeaseId: id } of events) {
        if (id === '' || !LEASE_ID.test(id) || this.#ofProject(scope).has(id)) continue;
        this.#ofProject(scope).set(id, undefined);
        unknown.push({ scope, id });
      }
    }
    for (const { scope, lease } of await readLeases(tx, unknown)) {
      this.#ofProject(scope).set(lease.id, { scope, lease, used: 0n, spent: 0n });
    }
  }

  /** The status of a lease for an event of a subject. Leases of other subjects and projects are `unknown`. */
  statusOf(
    scope: PostingScope,
    subject: LimitedSubject | undefined,
    budgetLeaseId: string,
  ): UsageEventRow['leaseStatus'] {
    if (budgetLeaseId === '') return 'none';
    const lease = this.#ofProject(scope).get(budgetLeaseId)?.lease;
    if (lease === undefined || subject === undefined) return 'unknown';
    if (lease.subjectType !== subject.type || lease.subjectId !== subject.id) return 'unknown';
    if (lease.status !== 'active') return lease.status;
    return lease.expiresAt * 1_000 <= this.nowMs ? 'expired' : 'applied';
  }

  /**
   * Charges a lease, whose status is `applied`, with the charge items of its currency and, if it names one,
   * its metric.
   */
  add(scope: PostingScope, { budgetLeaseId, items }: RatedUsage): void {
    const charge = this.#ofProject(scope).get(budgetLeaseId);
    if (charge === undefined) throw new Error(`no lease ${budgetLeaseId} to charge`);
    const { currency, metric } = charge.lease;
    let amount = 0n;
    for (const item of items) {
      if (item.currency === currency && (metric === null || item.metric === metric)) amount += item.amount;
    }
    charge.used += amount;
    if (amount > 0n) charge.spent += amount;
  }

  /** Those that were charged with something. */
  charged(): LeaseCharge[] {
    return [...this.#charges.values()]
      .flatMap((ofProject) => [...ofProject.values()])
      .filter((charge) => charge !== undefined)
      .filter(({ used, spent }) => used !== 0n || spent !== 0n);
  }

  #ofProject({ projectId }: PostingScope): Map<string, LeaseCharge | undefined> {
    let charges = this.#charges.get(projectId);
    if (charges === undefined) {
      charges = new Map();
      this.#charges.set(projectId, charges);
    }
    return charges;
  }
}

import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import type { Release } from '../../ledger/index.js';
import type { UsageEventRow } from '../../usage/index.js';
import { type HeldAmount, subtractReserved } from '../leases/reserved-store.js';
import type { LimitedSubject } from '../rules/route-rules.js';
import type { PostingScope, RatedUsage, UsageGroup } from './rated-usage.js';
import {
  type AppliedCharge,
  chargeLeases,
  type LeaseCharge,
  type LeaseRef,
  type NamedLease,
  readLeases,
} from './store.js';

/** The form of a lease id; any other text names no lease. */
const LEASE_ID = /^bl_[0-9a-f]{32}$/;

/** The lease of an event, and its charge if the lease pays for the event. */
export interface EventLease {
  readonly status: UsageEventRow['leaseStatus'];
  readonly charge: LeaseCharge | undefined;
}

const NO_LEASE: EventLease = { status: 'none', charge: undefined };
const UNKNOWN_LEASE: EventLease = { status: 'unknown', charge: undefined };
const EXPIRED_LEASE: EventLease = { status: 'expired', charge: undefined };

/** The leases that the events of a batch name, as they were when the batch first met them. */
export class BatchLeases {
  readonly #nowMs: number;
  /** By project, then by id; undefined for a lease that the project does not have. */
  readonly #charges = new Map<string, Map<string, LeaseCharge | undefined>>();

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** Reads the leases that are not known yet, with one statement. */
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

  /** Returns the lease that an event of a subject names. Leases of other subjects and projects are `unknown`. */
  of(scope: PostingScope, subject: LimitedSubject | undefined, budgetLeaseId: string): EventLease {
    if (budgetLeaseId === '') return NO_LEASE;
    const charge = this.#ofProject(scope).get(budgetLeaseId);
    if (charge === undefined || subject === undefined) return UNKNOWN_LEASE;
    const { lease } = charge;
    if (lease.subjectType !== subject.type || lease.subjectId !== subject.id) return UNKNOWN_LEASE;
    if (lease.status !== 'active') return { status: lease.status, charge: undefined };
    const isOver = lease.expiresAt * 1_000 <= this.#nowMs;
    return isOver ? EXPIRED_LEASE : { status: 'applied', charge };
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

/**
 * Adds the charge items of an event that the lease pays for: those of its currency and, if it names one, of its metric.
 */
export function addToCharge(charge: LeaseCharge, { items }: RatedUsage): void {
  const { currency, metric } = charge.lease;
  let amount = 0n;
  for (const item of items) {
    if (item.currency === currency && (metric === null || item.metric === metric)) amount += item.amount;
  }
  charge.used += amount;
  if (amount > 0n) charge.spent += amount;
}

/**
 * Charges leases, and releases what they no longer hold of the reserved amounts of their rules. Locks leases, then
 * rules.
 *
 * @returns what to release of their wallets, one entry for each wallet
 */
export async function releaseCharges(tx: Tx, charges: readonly LeaseCharge[]): Promise<Release[]> {
  const applied = (await chargeLeases(tx, charges)).filter(({ released }) => released > 0n);
  await subtractReserved(tx, heldByRule(applied));
  return heldByWallet(applied);
}

function heldByRule(applied: readonly AppliedCharge[]): HeldAmount[] {
  const byRule = new Map<string, HeldAmount>();
  for (const { scope, lease, released } of applied) {
    const { projectNo } = scope;
    for (const [index, ruleNo] of lease.ruleNos.entries()) {
      const subject = subjectOfRule(lease, index);
      const key = `${projectNo} ${ruleNo} ${subject.type} ${subject.id}`;
      const before = byRule.get(key);
      const amount = before === undefined ? released : before.amount + released;
      byRule.set(key, { projectNo, subject, ruleNo, amount });
    }
  }
  return [...byRule.values()];
}

/** Returns the subject of a rule that holds a lease. */
function subjectOfRule(lease: NamedLease, index: number): LimitedSubject {
  const { ruleSubjectTypes: types, ruleSubjectIds: ids } = lease;
  if (types === null || ids === null) return { type: lease.subjectType, id: lease.subjectId };
  return {
    type: present(types[index], 'the subject of a rule'),
    id: present(ids[index], 'the subject of a rule'),
  };
}

function heldByWallet(applied: readonly AppliedCharge[]): Release[] {
  const byWallet = new Map<string, Release>();
  for (const { scope, lease, released } of applied) {
    const { accountId, currency } = lease;
    if (!lease.holdsWallet || accountId === null) continue;
    const { tenantId, projectId } = scope;
    const key = `${accountId} ${currency}`;
    const before = byWallet.get(key);
    const amount = before === undefined ? released : before.amount + released;
    byWallet.set(key, { tenantId, projectId, accountId, currency, amount });
  }
  return [...byWallet.values()];
}

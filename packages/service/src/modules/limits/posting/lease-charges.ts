import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { type Release, smallerAmount } from '../../ledger/index.js';
import type { UsageEventRow, UsageItemRow } from '../../usage/index.js';
import type { Hold, HoldUnit, Lease } from '../leases/lease.js';
import { heldRuleKey } from '../leases/locked-leases.js';
import { type HeldAmount, subtractReserved } from '../leases/reserved-store.js';
import { lockLeasesByKey, updateLeases } from '../leases/store.js';
import type { LimitedSubject } from '../rules/route-rules.js';
import type { PostingScope, RatedUsage, UsageGroup } from './rated-usage.js';
import {
  chargePlainLeases,
  type LeaseCharge,
  type LeaseRef,
  type ReleasedHold,
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
      this.#ofProject(scope).set(lease.id, {
        scope,
        lease,
        sums: lease.holds.map(() => ({ used: 0n, spent: 0n })),
      });
    }
  }

  /** Returns the lease that an event of a subject names. Leases of other subjects and projects are `unknown`. */
  of(scope: PostingScope, subject: LimitedSubject | undefined, budgetLeaseId: string): EventLease {
    if (budgetLeaseId === '') return NO_LEASE;
    const charge = this.#ofProject(scope).get(budgetLeaseId);
    if (charge === undefined || subject === undefined) return UNKNOWN_LEASE;
    const { lease } = charge;
    if (lease.subject.type !== subject.type || lease.subject.id !== subject.id) return UNKNOWN_LEASE;
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
 * Adds the charge items of an event that the lease pays for: those of its work, by amount in the hold of their
 * currency, and by quantity in that of their metric.
 */
export function addToCharge({ lease, sums }: LeaseCharge, { items, dimensions }: RatedUsage): void {
  for (const [name, text] of lease.dimensions) if (dimensions.get(name) !== text) return;
  for (const [index, hold] of lease.holds.entries()) {
    const sum = present(sums[index], 'the charge of a hold');
    for (const item of items) {
      const added = chargeOf(item, hold, lease.metric);
      sum.used += added;
      if (added > 0n) sum.spent += added;
    }
  }
}

function chargeOf(item: UsageItemRow, { kind, unit }: HoldUnit, metric: string | null): bigint {
  if (kind === 'quantity') return item.metric === unit ? item.quantity : 0n;
  return item.currency === unit && (metric === null || item.metric === metric) ? item.amount : 0n;
}

/**
 * Charges leases, and releases what they no longer hold of the reserved amounts of their rules. Locks leases, then
 * rules.
 *
 * @returns what to release of their wallets, one entry for each wallet
 */
export async function releaseCharges(tx: Tx, charges: readonly LeaseCharge[]): Promise<Release[]> {
  const arePlain = charges.every(({ lease }) => lease.isPlain);
  const released = await (arePlain ? chargePlainLeases(tx, charges) : chargeHolds(tx, charges));
  await subtractReserved(tx, heldByRule(released));
  return heldByWallet(released);
}

/** The same as `chargePlainLeases`, for leases with any holds. */
async function chargeHolds(tx: Tx, charges: readonly LeaseCharge[]): Promise<ReleasedHold[]> {
  const keys = charges.map(({ scope: { projectId }, lease: { id } }) => ({ projectId, id }));
  const locked = new Map(
    (await lockLeasesByKey(tx, keys)).map((lease) => [`${lease.projectId} ${lease.id}`, lease]),
  );
  const released: ReleasedHold[] = [];
  const charged = charges.map(({ scope, sums, lease: { id } }): Lease => {
    const lease = present(locked.get(`${scope.projectId} ${id}`), `lease ${id}`);
    const holds = lease.holds.map((hold, index): Hold => {
      const { used, spent } = present(sums[index], 'the charge of a hold');
      const amount = smallerAmount(hold.held, spent);
      if (amount > 0n) released.push({ scope, lease, hold, amount });
      return { ...hold, used: hold.used + used, held: hold.held - amount };
    });
    return { ...lease, holds };
  });
  await updateLeases(tx, charged);
  return released;
}

function heldByRule(released: readonly ReleasedHold[]): HeldAmount[] {
  const byRule = new Map<string, HeldAmount>();
  for (const { scope, hold, amount: part } of released) {
    const { projectNo } = scope;
    for (const { ruleNo, subject } of hold.rules) {
      const key = `${projectNo} ${heldRuleKey({ ruleNo, subject })}`;
      const before = byRule.get(key);
      const amount = before === undefined ? part : before.amount + part;
      byRule.set(key, { projectNo, subject, ruleNo, amount });
    }
  }
  return [...byRule.values()];
}

function heldByWallet(released: readonly ReleasedHold[]): Release[] {
  const byWallet = new Map<string, Release>();
  for (const { scope, lease, hold, amount: part } of released) {
    const { accountId } = lease;
    if (!hold.holdsWallet || accountId === null) continue;
    const { tenantId, projectId } = scope;
    const wallet = { tenantId, projectId, accountId, currency: hold.unit };
    const key = `${accountId} ${hold.unit}`;
    const before = byWallet.get(key);
    byWallet.set(key, { ...wallet, amount: before === undefined ? part : before.amount + part });
  }
  return [...byWallet.values()];
}

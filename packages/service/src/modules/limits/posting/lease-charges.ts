import { KeyCounts } from '../../../kernel/key-counts.js';
import { memoized } from '../../../kernel/maps.js';
import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { type Amount, greaterAmount, type Release, smallerAmount } from '../../ledger/index.js';
import type { UsageEventRow } from '../../usage/index.js';
import { type Hold, type HoldUnit, type Lease, parentIdOf, unitKey } from '../leases/lease.js';
import { heldRuleKey } from '../leases/lease-changes.js';
import { limitsOfLease } from '../leases/lease-size.js';
import { type HeldAmount, subtractReserved } from '../leases/reserved-store.js';
import { type LeaseKey, lockLeasesByKey, updateLeases } from '../leases/store.js';
import { areSameSubject, type LimitedSubject } from '../rules/route-rules.js';
import type { PostingScope, RatedUsage, UsageGroup } from './rated-usage.js';
import {
  chargePlainLeases,
  type HoldCharge,
  type LeaseCharge,
  type LeaseRef,
  type ReleasedHold,
  readLeases,
} from './store.js';

/** Leases that one statement reads. */
const LEASES_READ_MAX = 500;

/**
 * Upper bound of the limits of which the leases of one tenant in a batch are reserved; of leases and their parents. A
 * lease is stored with them, so thousands of large leases would fill the memory.
 */
const TENANT_LEASE_LIMITS_MAX = 300_000;

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
  /** By tenant: of how many limits its leases are reserved. */
  readonly #limits = new KeyCounts();

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** Reads the leases that are not known yet, in the order of events, until a tenant has too many of them. */
  async prepare(tx: Tx, groups: readonly UsageGroup[]): Promise<void> {
    const unknown = new Map<string, LeaseRef>();
    for (const { scope, events } of groups) {
      for (const { budgetLeaseId: id } of events) {
        if (this.isUnread(scope, id)) unknown.set(`${scope.projectId} ${id}`, { scope, id });
      }
    }
    const refs = [...unknown.values()];
    for (let start = 0; start < refs.length; start += LEASES_READ_MAX) {
      const next = refs.slice(start, start + LEASES_READ_MAX);
      await this.#read(
        tx,
        next.filter(({ scope }) => this.#limits.of(scope.tenantId) < TENANT_LEASE_LIMITS_MAX),
      );
    }
  }

  /** Whether a lease that an event names was not read, because its tenant has too many in the batch. */
  isUnread(scope: PostingScope, budgetLeaseId: string): boolean {
    if (budgetLeaseId === '' || !LEASE_ID.test(budgetLeaseId)) return false;
    return !this.#ofProject(scope).has(budgetLeaseId);
  }

  async #read(tx: Tx, refs: readonly LeaseRef[]): Promise<void> {
    for (const { scope, id } of refs) this.#ofProject(scope).set(id, undefined);
    for (const { scope, lease } of await readLeases(tx, refs)) {
      const limits = (1 + limitsOfLease(lease)) * (1 + lease.ancestorIds.length);
      this.#limits.add(scope.tenantId, limits);
      this.#ofProject(scope).set(lease.id, {
        scope,
        lease,
        sums: new Map(lease.holds.map((hold) => [unitKey(hold), noCharge()])),
      });
    }
  }

  /** Returns the lease that an event of a subject names. Leases of other subjects and projects are `unknown`. */
  of(scope: PostingScope, subject: LimitedSubject | undefined, budgetLeaseId: string): EventLease {
    if (budgetLeaseId === '') return NO_LEASE;
    const charge = this.#ofProject(scope).get(budgetLeaseId);
    if (charge === undefined || subject === undefined) return UNKNOWN_LEASE;
    const { lease } = charge;
    if (!areSameSubject(lease.subject, subject)) return UNKNOWN_LEASE;
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
 * Adds the charge items of an event that the lease pays for: those of its work, by amount to their currency, and by
 * quantity to their metric.
 */
export function addToCharge({ lease, sums }: LeaseCharge, { items, dimensions }: RatedUsage): void {
  for (const [name, text] of lease.dimensions) if (dimensions.get(name) !== text) return;
  const isPart = parentIdOf(lease) !== undefined;
  const add = (unit: HoldUnit, added: Amount) => {
    if (added === 0n) return;
    const key = unitKey(unit);
    const sum = isPart ? memoized(sums, key, noCharge) : sums.get(key);
    if (sum === undefined) return;
    sum.used += added;
    if (added > 0n) sum.spent += added;
  };
  for (const { metric, quantity, currency, amount } of items) {
    if (lease.metric === null || lease.metric === metric) add({ kind: 'amount', unit: currency }, amount);
    add({ kind: 'quantity', unit: metric }, quantity);
  }
}

function noCharge(): HoldCharge {
  return { used: 0n, spent: 0n };
}

/**
 * Charges leases, and releases what they no longer hold of the reserved amounts of their rules. Locks leases, then
 * rules.
 *
 * @returns what to release of their wallets, one entry for each wallet
 */
export async function releaseCharges(tx: Tx, charges: readonly LeaseCharge[]): Promise<Release[]> {
  const arePlain = charges.every(({ lease }) => lease.isPlain && lease.ancestorIds.length === 0);
  const released = await (arePlain ? chargePlainLeases(tx, charges) : chargeHolds(tx, charges));
  await subtractReserved(tx, heldByRule(released));
  return heldByWallet(released);
}

/**
 * The same as `chargePlainLeases`, for leases with any holds, and parts of others. Usage of a part is usage of the
 * leases that it is a part of: they are charged with what it does not hold. A refund lowers each of them by itself.
 */
async function chargeHolds(tx: Tx, charges: readonly LeaseCharge[]): Promise<ReleasedHold[]> {
  const scopes = new Map(charges.map(({ scope }) => [scope.projectId, scope]));
  const locked = await lockLeasesByKey(tx, chainsOf(charges));
  const leaseSums = new LeaseSums(charges);
  const released: ReleasedHold[] = [];
  // They are locked in the order of their depth: a lease comes before those that it is a part of here.
  const charged = locked.reverse().map((lease): Lease => {
    const scope = present(scopes.get(lease.projectId), 'the project of a lease');
    const sums = leaseSums.of(lease);
    const holds = lease.holds.map((hold): Hold => {
      const sum = sums.get(unitKey(hold));
      if (sum === undefined) return hold;
      const amount = smallerAmount(hold.held, sum.spent);
      if (amount > 0n) released.push({ scope, lease, hold, amount });
      sum.spent -= amount;
      return { ...hold, used: greaterAmount(hold.used + sum.used, 0n), held: hold.held - amount };
    });
    leaseSums.addToParent(lease, sums);
    return { ...lease, holds };
  });
  await updateLeases(tx, charged);
  return released;
}

/** Returns the leases to charge, and all those that they are parts of, each once. */
function chainsOf(charges: readonly LeaseCharge[]): LeaseKey[] {
  const keys = charges.flatMap(({ lease: { tenantId, projectId, id, ancestorIds } }) =>
    [id, ...ancestorIds].map((each) => ({ tenantId, projectId, id: each })),
  );
  return [...new Map(keys.map((key) => [`${key.projectId} ${key.id}`, key])).values()];
}

/** The sums that leases are charged with: by events, and by leases that are a part of theirs. */
class LeaseSums {
  /** By project and lease, then by `unitKey`. */
  readonly #sums = new Map<string, Map<string, HoldCharge>>();

  constructor(charges: readonly LeaseCharge[]) {
    for (const { lease, sums } of charges) this.#add(`${lease.projectId} ${lease.id}`, sums);
  }

  of({ projectId, id }: Lease): Map<string, HoldCharge> {
    return memoized(this.#sums, `${projectId} ${id}`, () => new Map());
  }

  addToParent(lease: Lease, sums: ReadonlyMap<string, HoldCharge>): void {
    const parentId = parentIdOf(lease);
    if (parentId !== undefined) this.#add(`${lease.projectId} ${parentId}`, sums);
  }

  #add(lease: string, sums: ReadonlyMap<string, HoldCharge>): void {
    const all = memoized(this.#sums, lease, () => new Map<string, HoldCharge>());
    for (const [unit, { used, spent }] of sums) {
      const sum = memoized(all, unit, noCharge);
      sum.used += used;
      sum.spent += spent;
    }
  }
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

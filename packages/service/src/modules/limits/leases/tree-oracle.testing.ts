import { type HoldUnit, unitKey } from './lease.js';

/** The chain of subjects of every model: a user below a team below an organisation. */
export const CHAIN = ['org', 'team', 'user'] as const;
export type ModelSubject = (typeof CHAIN)[number];

/** The usage of a charge item, or of the work of a lease; undefined where it is not known. */
interface ModelUsage {
  readonly metric: string | undefined;
  readonly model: string | undefined;
}

interface ModelRule {
  readonly key: string;
  readonly of: ModelSubject;
  readonly measure: 'amount' | 'quantity';
  readonly limit: number;
  readonly selects: (usage: ModelUsage) => boolean;
}

/** The limits on usage of every model; amounts are of USD. */
export const TREE_RULES: readonly ModelRule[] = [
  { key: 'all', of: 'org', measure: 'amount', limit: 150, selects: () => true },
  {
    key: 'family',
    of: 'org',
    measure: 'quantity',
    limit: 120,
    selects: ({ metric }) => metric?.startsWith('m.') === true,
  },
  { key: 'one', of: 'team', measure: 'amount', limit: 50, selects: ({ metric }) => metric === 'm.a' },
  { key: 'other', of: 'team', measure: 'quantity', limit: 45, selects: ({ metric }) => metric === 'm.b' },
  { key: 'model', of: 'user', measure: 'amount', limit: 40, selects: ({ model }) => model === 'x' },
  { key: 'any', of: 'user', measure: 'quantity', limit: 80, selects: () => true },
];
export const SLOTS_MAX = 5;
export const TREE_BALANCE = 160;

export interface AskedModelHold extends HoldUnit {
  readonly amount: number;
}

export interface AskedModelLease extends ModelUsage {
  readonly subject: ModelSubject;
  readonly holds: readonly AskedModelHold[];
  readonly ttl: number;
}

export interface TreeLease extends AskedModelLease {
  readonly id: string;
  readonly parent: TreeLease | undefined;
  readonly left: Map<string, number>;
  readonly used: Map<string, number>;
  status: 'active' | 'closed' | 'expired';
  expiresAt: number;
}

/** The expected result of steps with trees of leases, computed in the simplest way. */
export class TreeOracle {
  readonly leases: TreeLease[] = [];
  readonly #used = new Map<string, number>();
  #worth = TREE_BALANCE;

  /** Returns the code of the refusal; undefined when the lease is granted. */
  refusal(asked: AskedModelLease, parent: TreeLease | undefined, nowS: number): string | undefined {
    if (parent !== undefined) {
      if (parent.status !== 'active' || parent.expiresAt <= nowS) return 'lease_not_active';
      if (CHAIN.indexOf(asked.subject) < CHAIN.indexOf(parent.subject)) return 'invalid_request';
      const isMore = ({ amount, ...unit }: AskedModelHold) => amount > (parent.left.get(unitKey(unit)) ?? 0);
      if (asked.holds.some(isMore)) return 'lease_exceeded';
    }
    const isFull = (rule: ModelRule) => {
      const sum = total(asked.holds.filter((hold) => this.#asks(rule, asked, parent, hold)));
      return sum > 0 && Math.max(0, this.usedOf(rule)) + this.reservedOf(rule) + sum > rule.limit;
    };
    if (TREE_RULES.some(isFull)) return 'limit_exceeded';
    if (parent !== undefined) return undefined;
    if (this.slots >= SLOTS_MAX) return 'limit_exceeded';
    const usd = total(asked.holds.filter((hold) => unitKey(hold) === 'amount USD'));
    return usd > 0 && Math.max(0, this.#worth) - this.heldOfWallet < usd ? 'insufficient_funds' : undefined;
  }

  grant(id: string, asked: AskedModelLease, parent: TreeLease | undefined, nowS: number): void {
    const left = new Map(asked.holds.map((hold) => [unitKey(hold), hold.amount]));
    if (parent !== undefined) for (const [unit, amount] of left) add(parent.left, unit, -amount);
    const expiresAt = Math.min(nowS + asked.ttl, parent?.expiresAt ?? Number.POSITIVE_INFINITY);
    this.leases.push({ ...asked, id, parent, left, used: new Map(), status: 'active', expiresAt });
  }

  end(lease: TreeLease, nowS: number): void {
    if (lease.status !== 'active') return;
    for (const child of this.#children(lease)) this.end(child, nowS);
    lease.status = lease.expiresAt <= nowS ? 'expired' : 'closed';
    for (const [unit, left] of lease.left) {
      if (lease.parent?.status === 'active') add(lease.parent.left, unit, left);
      lease.left.set(unit, 0);
    }
  }

  /** Returns whether the lease was renewed. */
  renew(lease: TreeLease, ttl: number, nowS: number): boolean {
    if (lease.status !== 'active' || lease.expiresAt <= nowS) return false;
    this.#endBy(lease, Math.min(nowS + ttl, lease.parent?.expiresAt ?? Number.POSITIVE_INFINITY));
    return true;
  }

  /** Counts an event of a subject that may name a lease. */
  use(
    usage: ModelUsage & { subject: ModelSubject; amount: number; quantity: number },
    lease: TreeLease | undefined,
    nowS: number,
  ): void {
    const { subject, metric, model, amount, quantity } = usage;
    for (const rule of TREE_RULES) {
      if (CHAIN.indexOf(rule.of) > CHAIN.indexOf(subject) || !rule.selects(usage)) continue;
      add(this.#used, rule.key, rule.measure === 'amount' ? amount : quantity);
    }
    this.#worth -= amount;
    if (lease === undefined || lease.status !== 'active' || lease.expiresAt <= nowS) return;
    if (lease.model !== undefined && lease.model !== model) return;
    if (lease.metric === undefined || lease.metric === metric) charge(lease, 'amount USD', amount);
    charge(lease, `quantity ${metric}`, quantity);
  }

  /** Ends a batch of events: refunds have lowered what is used of each lease, not below 0. */
  endBatch(): void {
    for (const { used } of this.leases) for (const [unit, sum] of used) used.set(unit, Math.max(0, sum));
  }

  usedOf({ key }: ModelRule): number {
    return this.#used.get(key) ?? 0;
  }

  reservedOf(rule: ModelRule): number {
    const left = this.leases.flatMap((lease) =>
      lease.holds
        .filter((hold) => this.#isHeldBy(rule, lease, hold))
        .map((hold) => lease.left.get(unitKey(hold)) ?? 0),
    );
    return left.reduce((sum, each) => sum + each, 0);
  }

  get slots(): number {
    return this.leases.filter(({ status, parent }) => status === 'active' && parent === undefined).length;
  }

  get heldOfWallet(): number {
    return this.leases.reduce((sum, { left }) => sum + (left.get('amount USD') ?? 0), 0);
  }

  #children(lease: TreeLease): TreeLease[] {
    return this.leases.filter(({ parent }) => parent === lease);
  }

  #endBy(lease: TreeLease, expiresAt: number): void {
    lease.expiresAt = expiresAt;
    for (const child of this.#children(lease))
      if (child.status === 'active') this.#endBy(child, Math.min(child.expiresAt, expiresAt));
  }

  #isHeldBy(rule: ModelRule, { parent, ...lease }: TreeLease, hold: AskedModelHold): boolean {
    return (
      this.#asks(rule, lease, parent, hold) || (parent !== undefined && this.#isHeldBy(rule, parent, hold))
    );
  }

  /** Whether a rule is reserved of for a hold, of the levels below the subject of the parent. */
  #asks(
    { of, measure, selects }: ModelRule,
    asked: AskedModelLease,
    parent: TreeLease | undefined,
    { kind, unit }: HoldUnit,
  ): boolean {
    const level = CHAIN.indexOf(of);
    const from = parent === undefined ? -1 : CHAIN.indexOf(parent.subject);
    if (level <= from || level > CHAIN.indexOf(asked.subject)) return false;
    if (measure !== kind || (kind === 'amount' && unit !== 'USD')) return false;
    return selects({ metric: kind === 'quantity' ? unit : asked.metric, model: asked.model });
  }
}

/** Charges a lease; usage beyond what it holds, or of what it does not hold, is taken from those above. */
function charge(lease: TreeLease, unit: string, used: number): void {
  let rest = Math.max(0, used);
  for (let at: TreeLease | undefined = lease; at !== undefined; at = at.parent) {
    const left = at.left.get(unit);
    if (left === undefined) continue;
    const taken = Math.min(left, rest);
    at.left.set(unit, left - taken);
    rest -= taken;
    add(at.used, unit, used);
  }
}

function add(sums: Map<string, number>, key: string, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount);
}

function total(holds: readonly AskedModelHold[]): number {
  return holds.reduce((sum, { amount }) => sum + amount, 0);
}

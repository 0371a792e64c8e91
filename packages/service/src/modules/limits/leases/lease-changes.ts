import { addTo, present, sumOrNone } from '../../../kernel/present.js';
import type { Amount } from '../../ledger/index.js';
import type { RuleAtLevel } from '../check/limit-status.js';
import { ended, type Lease, parentIdOf, reservedAmountsOf, withGivenBack, withHeld } from './lease.js';
import type { HeldAmount, HeldRule } from './reserved-store.js';

/**
 * Leases of a project as a group of requests changes them in memory, and what these changes reserve. The leases are
 * locked, or are only written if nobody else has changed them.
 */
export class LeaseChanges {
  readonly #projectNo: number;
  /** By id. */
  readonly #leases: Map<string, Lease>;
  readonly #changed = new Set<string>();
  readonly #added = new Set<string>();
  readonly #rules = new Map<string, HeldRule>();
  readonly #reserved = new Map<string, Amount>();

  constructor(projectNo: number, leases: readonly Lease[]) {
    this.#projectNo = projectNo;
    this.#leases = new Map(leases.map((lease) => [lease.id, lease]));
  }

  get(id: string): Lease | undefined {
    return this.#leases.get(id);
  }

  /** Adds a new lease. */
  add(lease: Lease): void {
    this.#added.add(lease.id);
    this.#leases.set(lease.id, lease);
    this.#reserve(lease, 1n);
  }

  change(lease: Lease): void {
    this.#reserve(present(this.#leases.get(lease.id), 'the lease to change'), -1n);
    this.#leases.set(lease.id, lease);
    if (!this.#added.has(lease.id)) this.#changed.add(lease.id);
    this.#reserve(lease, 1n);
  }

  /** Adds a new lease that takes a part of another one: what limits and wallets hold stays the same. */
  addPart(child: Lease, parent: Lease): void {
    const parts = child.holds.map((hold) => ({ ...hold, amount: -hold.held }));
    this.change({ ...withHeld(parent, parts), hasChildren: true });
    this.add(child);
  }

  /** Returns the active leases below one, those at the bottom first. */
  below({ id, hasChildren }: Lease): Lease[] {
    if (!hasChildren) return [];
    return [...this.#leases.values()]
      .filter(({ status, ancestorIds }) => status === 'active' && ancestorIds.includes(id))
      .sort((a, b) => b.ancestorIds.length - a.ancestorIds.length);
  }

  /** Returns the active lease that a lease is a part of; undefined when there is none. */
  parentOf(lease: Lease): Lease | undefined {
    const id = parentIdOf(lease);
    const parent = id === undefined ? undefined : this.#leases.get(id);
    return parent?.status === 'active' ? parent : undefined;
  }

  /**
   * Ends an active lease, and those below it before. Each gives back to its parent what it still holds. Returns the
   * leases, as they were, whose amounts their wallets need not hold any more.
   */
  end(lease: Lease, nowS: number): Lease[] {
    return [...this.below(lease), lease].flatMap(({ id }) =>
      this.#endOne(present(this.#leases.get(id), 'a lease below'), nowS),
    );
  }

  get added(): Lease[] {
    return this.#all(this.#added);
  }

  /** The leases that were stored before. */
  get changed(): Lease[] {
    return this.#all(this.#changed);
  }

  /** Returns what the changes add to the reserved amount of a rule; negative for what they release. */
  reservedOf(rule: HeldRule): Amount {
    return sumOrNone(this.#reserved.get(heldRuleKey(rule)));
  }

  /** Returns the same for all rules whose reserved amount changes. */
  get reserved(): HeldAmount[] {
    const projectNo = this.#projectNo;
    return [...this.#reserved].flatMap(([key, amount]) =>
      amount === 0n ? [] : { projectNo, amount, ...present(this.#rules.get(key), 'a rule') },
    );
  }

  #endOne(lease: Lease, nowS: number): Lease[] {
    const parent = this.parentOf(lease);
    this.change(ended(lease, nowS));
    if (parent === undefined) return [lease];
    this.change(withGivenBack(parent, lease));
    return [];
  }

  #all(ids: ReadonlySet<string>): Lease[] {
    return [...ids].map((id) => present(this.#leases.get(id), 'a lease'));
  }

  #reserve(lease: Lease, sign: 1n | -1n): void {
    for (const { ruleNo, subject, amount } of reservedAmountsOf(lease, this.#projectNo)) {
      const key = heldRuleKey({ ruleNo, subject });
      this.#rules.set(key, { ruleNo, subject });
      addTo(this.#reserved, key, sign * amount);
    }
  }
}

/** Returns the rule that a lease is reserved of. */
export function heldRule({ at, rule }: RuleAtLevel): HeldRule {
  return { subject: at.subject, ruleNo: rule.ruleNo };
}

/** A type contains no space, and a number neither, so the key is unambiguous. */
export function heldRuleKey({ subject, ruleNo }: HeldRule): string {
  return `${ruleNo} ${subject.type} ${subject.id}`;
}

import type { BudgetLease } from '@tollgate/contract';
import { exactSum } from '../../../exact-sum.js';
import { unitOfHold } from './lease-holds.js';

/** A lease in its tree. */
export interface TreeRow {
  readonly lease: BudgetLease;
  /** 0 for the lease at the top. */
  readonly depth: number;
  /** The rest that the parts of the lease have together, by currency or metric. */
  readonly inParts: ReadonlyMap<string, string>;
}

/** The leases of a tree in the order in which people read it: each lease, then its parts with theirs. */
export function treeRows(leases: readonly BudgetLease[]): TreeRow[] {
  const ids = new Set(leases.map(({ id }) => id));
  const partsOf = (parentId: string) => leases.filter(({ parent_lease_id: parent }) => parent === parentId);
  const visit = (lease: BudgetLease, depth: number): TreeRow[] => {
    const below = partsOf(lease.id).flatMap((part) => visit(part, depth + 1));
    return [{ lease, depth, inParts: remainingOf(below.map((row) => row.lease)) }, ...below];
  };
  const tops = leases.filter(({ parent_lease_id: parent }) => parent === null || !ids.has(parent));
  return tops.flatMap((top) => visit(top, 0));
}

/** The rest that leases have together, by currency or metric; units of which nothing remains are left out. */
export function remainingOf(leases: readonly Pick<BudgetLease, 'holds'>[]): Map<string, string> {
  const holds = leases.flatMap((lease) => lease.holds);
  const units = [...new Set(holds.map(unitOfHold))];
  const sums = units.map((unit) => {
    const ofUnit = holds.filter((hold) => unitOfHold(hold) === unit);
    return [unit, exactSum(ofUnit.map(({ remaining }) => remaining))] as const;
  });
  return new Map(sums.filter(([, sum]) => sum !== '0'));
}

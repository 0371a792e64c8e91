import { type CreateLeaseBody, LEASE_HOLDS_MAX, type LeaseHoldInput } from '@tollgate/contract';
import { plainNumber } from '../../../plain-number.js';
import type { Subject } from '../subjects/subject.js';

/** An amount or a quantity to reserve, as typed. `id` stays the same while other rows are removed. */
export interface HoldDraft {
  readonly id: string;
  readonly kind: 'amount' | 'quantity';
  readonly value: string;
  /** The currency, or the metric. */
  readonly unit: string;
}

/** A dimension of the work, as typed. */
export interface DimensionDraft {
  readonly id: string;
  readonly name: string;
  readonly value: string;
}

/** The form of a new lease. */
export interface LeaseDraft {
  readonly subject: Subject;
  readonly parentId: string;
  readonly holds: readonly HoldDraft[];
  readonly metric: string;
  readonly dimensions: readonly DimensionDraft[];
  readonly ttlSeconds: string;
}

let idsGiven = 0;

function newId(): string {
  idsGiven += 1;
  return `row-${idsGiven}`;
}

export function newHold(kind: HoldDraft['kind'] = 'amount', unit = 'USD'): HoldDraft {
  return { id: newId(), kind, value: '', unit };
}

export function newDimension(): DimensionDraft {
  return { id: newId(), name: '', value: '' };
}

export function newLease(subject: Subject, parentId = ''): LeaseDraft {
  return { subject, parentId, holds: [newHold()], metric: '', dimensions: [], ttlSeconds: '300' };
}

/** The hold to add after others: the first is an amount, and most leases have one amount. */
export function nextHold(holds: readonly HoldDraft[]): HoldDraft {
  return holds.length === 0 ? newHold() : newHold('quantity', '');
}

export function mayAddHold(holds: readonly HoldDraft[]): boolean {
  return holds.length < LEASE_HOLDS_MAX;
}

/** The request that the form makes. Rows of dimensions without a name are left out. */
export function leaseRequest(draft: LeaseDraft): CreateLeaseBody {
  const { subject, parentId, holds, metric, dimensions, ttlSeconds } = draft;
  const named = dimensions
    .filter(({ name }) => name.trim() !== '')
    .map(({ name, value }) => [name.trim(), value]);
  return {
    ...{ subject_type: subject.type.trim(), subject_id: subject.id },
    holds: holds.map(holdRequest),
    ttl_seconds: Number(ttlSeconds),
    ...(metric.trim() === '' ? {} : { metric: metric.trim() }),
    ...(named.length === 0 ? {} : { dimensions: Object.fromEntries(named) }),
    ...(parentId.trim() === '' ? {} : { parent_lease_id: parentId.trim() }),
  };
}

function holdRequest({ kind, value, unit }: HoldDraft): LeaseHoldInput {
  return kind === 'amount'
    ? { amount: plainNumber(value), currency: unit.trim().toUpperCase() }
    : { quantity: plainNumber(value), metric: unit.trim() };
}

/** The paths of the form's fields, as errors name them. A field comes before the list that contains it. */
export function leaseFieldPaths({ holds, dimensions }: LeaseDraft): string[] {
  return [
    ...['subject_type', 'subject_id', 'parent_lease_id', 'metric', 'ttl_seconds'],
    ...holds.flatMap((_, index) => HOLD_FIELDS.map((field) => `holds[${index}].${field}`)),
    ...dimensions.map(({ name }) => `dimensions.${name.trim()}`),
  ];
}

const HOLD_FIELDS = ['amount', 'currency', 'quantity', 'metric'] as const;

/** The index of a row whose dimension an earlier row names too. */
export function repeatedDimension(dimensions: readonly DimensionDraft[]): number | undefined {
  const names = dimensions.map(({ name }) => name.trim());
  const found = names.findIndex((name, index) => name !== '' && names.indexOf(name) < index);
  return found < 0 ? undefined : found;
}

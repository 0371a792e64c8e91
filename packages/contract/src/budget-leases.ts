import { type Static, Type } from 'typebox';
import {
  Currency,
  closed,
  DecimalText,
  decimalInput,
  Nullable,
  PageQuery,
  pageFields,
  UnixSeconds,
} from './common.js';
import {
  DimensionInputs,
  LEASE_HOLDS_MAX,
  LeaseDimensions,
  LeaseHold,
  LeaseHoldInput,
} from './lease-holds.js';
import { METRIC_PATTERN } from './limits.js';
import { subjectFields } from './realtime-limits.js';
import { Warnings } from './warnings.js';

/** Longest life of a budget lease. */
export const LEASE_TTL_SECONDS_MAX = 86_400;

const LEASE_STATUSES = ['active', 'closed', 'expired'] as const;
export type LeaseStatus = (typeof LEASE_STATUSES)[number];
export const LeaseStatusSchema = Type.Unsafe<LeaseStatus>({
  type: 'string',
  enum: [...LEASE_STATUSES],
  description: 'An `active` lease ends by being closed, or at `expires_at`.',
});

const Metric = Type.String({ pattern: METRIC_PATTERN });

const TtlSeconds = Type.Integer({
  minimum: 1,
  maximum: LEASE_TTL_SECONDS_MAX,
  description: 'Time from now on until the lease expires. Seconds.',
});

export const CreateLeaseBody = Type.Object(
  {
    ...subjectFields,
    amount: Type.Optional(
      decimalInput('Amount to reserve; above 0. Needs `currency`, and excludes `holds`.'),
    ),
    currency: Type.Optional(Currency),
    holds: Type.Optional(
      Type.Array(LeaseHoldInput, {
        maxItems: LEASE_HOLDS_MAX,
        description:
          'Amounts and quantities to reserve together, each of another currency or metric: all of them, or none. ' +
          'Without any, the lease only counts for limits on concurrent work. Excludes `amount` and `currency`.',
      }),
    ),
    metric: Type.Optional({
      ...Metric,
      description:
        'Metric of the work: amounts are then also reserved in limits that select this metric; without it, only ' +
        'in limits on all usage.',
    }),
    dimensions: Type.Optional(DimensionInputs),
    parent_lease_id: Type.Optional(
      Type.String({
        description:
          'Takes what is asked for from this lease, of the same subject or of one above, and not from the limits that ' +
          'hold it already. The lease then ends with it at the latest, and gives back what it does not use.',
      }),
    ),
    ttl_seconds: TtlSeconds,
  },
  { ...closed, description: 'What to reserve for a subject: either an amount, or several holds.' },
);

export const RenewLeaseBody = Type.Object(
  { ttl_seconds: TtlSeconds },
  { ...closed, description: 'How much longer a lease lives.' },
);

export const BudgetLease = Type.Object(
  {
    id: Type.String({
      description: 'Budget lease id, `bl_…`: `x-usage-control.budget_lease_id` of its events.',
    }),
    tenant_id: Type.String(),
    project_id: Type.String(),
    subject_type: subjectFields.subject_type,
    subject_id: subjectFields.subject_id,
    account_id: Nullable(
      Type.String({
        description: 'Billing account of the subject when the lease was made; null without a route.',
      }),
    ),
    currency: Nullable({
      ...Currency,
      description: 'Currency of the amounts; null, as they are, for a lease that was asked for with `holds`.',
    }),
    metric: Nullable(Metric),
    dimensions: LeaseDimensions,
    parent_lease_id: Nullable(
      Type.String({ description: 'The lease that this one is a part of; null for none.' }),
    ),
    status: LeaseStatusSchema,
    amount: Nullable({ ...DecimalText, description: 'Amount that was reserved.' }),
    used_amount: Nullable({
      ...DecimalText,
      description: 'Cost of the events that were charged against the lease, 0 or more; can exceed `amount`.',
    }),
    remaining_amount: Nullable({
      ...DecimalText,
      description: 'Amount that is still reserved; `"0"` once the lease has ended.',
    }),
    holds: Type.Array(LeaseHold, {
      description:
        'Everything that the lease reserves, in the order of the request; the amount too, if it has one.',
    }),
    expires_at: UnixSeconds,
    created_at: UnixSeconds,
    closed_at: Nullable({ ...UnixSeconds, description: 'When it ended. Unix seconds.' }),
  },
  {
    ...closed,
    description:
      'Amounts and quantities that are reserved for the work of a subject, so that other work cannot use them in the meantime.',
  },
);

export const CreatedBudgetLease = Type.Object(
  { ...BudgetLease.properties, warnings: Warnings },
  { ...closed, description: 'The new budget lease, with warnings about the request.' },
);

export const BudgetLeaseListQuery = Type.Object(
  { ...subjectFields, status: Type.Optional(LeaseStatusSchema), ...PageQuery.properties },
  closed,
);
export const BudgetLeaseList = Type.Object(
  { budget_leases: Type.Array(BudgetLease), ...pageFields },
  { ...closed, description: 'One page of budget leases.' },
);

export type CreateLeaseBody = Static<typeof CreateLeaseBody>;
export type RenewLeaseBody = Static<typeof RenewLeaseBody>;
export type BudgetLease = Static<typeof BudgetLease>;
export type CreatedBudgetLease = Static<typeof CreatedBudgetLease>;
export type BudgetLeaseListQuery = Static<typeof BudgetLeaseListQuery>;
export type BudgetLeaseList = Static<typeof BudgetLeaseList>;

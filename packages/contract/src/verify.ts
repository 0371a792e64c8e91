import { type Static, Type } from 'typebox';
import { closed, Nullable } from './common.js';
import { CounterRecount, VERIFY_DIFFERENCES_MAX } from './counter-recount.js';
import { IngestRecount } from './ingest-recount.js';
import { LossRecount } from './losses.js';

export const VerifyDifference = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    day: Type.String({ description: 'UTC day of `occurred_at`, `YYYY-MM-DD`.' }),
    store: Type.String({
      description: 'The store that was compared with the totals of the system of record.',
    }),
    metric: Nullable(Type.String()),
    unit: Nullable(Type.String()),
    currency: Nullable(Type.String()),
    measure: Type.String(),
    expected: Type.String({ description: 'By the totals of the system of record.' }),
    found: Type.String(),
  },
  { ...closed, description: 'A sum of the history that differs from the totals of the system of record.' },
);

/** Values of the ledger that a verification recounts. */
export const LEDGER_MEASURES = [
  'transaction_sum',
  'lines_without_transaction',
  'transactions_without_wallet',
  'balance',
  'owed',
  'credits_left',
  'credits_out_of_bounds',
  'credits_that_never_expire',
  'credit_amount',
  'credit_expires_at',
  'credit_priority',
  'mode_never_set',
] as const;
export type LedgerMeasure = (typeof LEDGER_MEASURES)[number];

export const LedgerMeasureSchema = Type.Unsafe<LedgerMeasure>({
  type: 'string',
  enum: [...LEDGER_MEASURES],
  description:
    'The compared number. The entries of a transaction must add up to 0; the balance and the owed amount of ' +
    'a wallet must equal its entries; the balance less the owed amount must equal its remaining credits less ' +
    'the debits that are not settled yet. No credit may have less than 0 or more than its amount left, or ' +
    'anything after its expiry was posted, and each expiry of a credit must be noted in its wallet. The amount of ' +
    'a credit must equal the entries of its transaction, and its expiry and priority must be those in the audit log; 0 ' +
    'stands for no expiry. The mode of a wallet must be one that was set.',
});

export const LedgerDifference = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    account_id: Nullable(Type.String()),
    currency: Nullable(Type.String()),
    transaction_id: Nullable(Type.String()),
    measure: LedgerMeasureSchema,
    expected: Type.String(),
    found: Type.String(),
  },
  { ...closed, description: 'A number that differs from the sum of its ledger entries.' },
);

export const LedgerRecount = Type.Object(
  {
    wallets: Type.Integer({ description: 'Wallets that were recounted.' }),
    transactions: Type.Integer({ description: 'Ledger transactions that were added up.' }),
    difference_count: Type.Integer(),
    differences: Type.Array(LedgerDifference, { description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.` }),
  },
  { ...closed, description: 'The result of recounting the ledger on one snapshot.' },
);

export const ReservationDifference = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    subject_type: Nullable(Type.String()),
    subject_id: Nullable(
      Type.String({ description: 'Subject of the limit that holds the reservation; null for a wallet.' }),
    ),
    limit_rule_no: Nullable(Type.Integer({ description: 'Number of the limit rule.' })),
    account_id: Nullable(
      Type.String({ description: 'Account of the wallet that holds the reservation; null for a limit.' }),
    ),
    currency: Nullable(Type.String()),
    expected: Type.String({ description: 'Amount that active budget leases hold.' }),
    found: Type.String(),
  },
  { ...closed, description: 'A reserved amount that differs from what leases hold.' },
);

export const ReservationRecount = Type.Object(
  {
    leases: Type.Integer({ description: 'Active budget leases that were added up.' }),
    difference_count: Type.Integer(),
    differences: Type.Array(ReservationDifference, {
      description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.`,
    }),
  },
  {
    ...closed,
    description:
      'Reserved amounts of limits and wallets, compared with the amounts that leases hold, on one snapshot.',
  },
);

export const PostingDifference = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    measure: Type.Unsafe<'usage_debits' | 'window_usage' | 'window_missing'>({
      type: 'string',
      enum: ['usage_debits', 'window_usage', 'window_missing'],
      description:
        'The cost of usage to a wallet by the ledger, the usage that a window of a limit has counted, or a window that usage should have opened. Each is compared with the charge items of the history.',
    }),
    account_id: Nullable(Type.String({ description: 'Account of the wallet; null for a window.' })),
    currency: Nullable(Type.String()),
    subject_type: Nullable(Type.String()),
    subject_id: Nullable(Type.String({ description: 'Subject of the window; null for a wallet.' })),
    limit_rule_no: Nullable(Type.Integer({ description: 'Number of the limit rule.' })),
    window_start: Nullable(Type.Integer({ description: 'Start of the window, Unix seconds.' })),
    expected: Type.String({ description: 'By the system of record.' }),
    found: Type.String({
      description: 'Value by the history: a decimal, or `<least> to <most>` if the exact value is not known.',
    }),
  },
  { ...closed, description: 'A posted amount that differs from the history.' },
);

export const PostingRecount = Type.Object(
  {
    wallets: Type.Integer({ description: 'Wallets whose usage was compared.' }),
    wallets_unjudged: Type.Integer({
      description: 'Wallets that were not compared because not all of their usage is kept.',
    }),
    windows: Type.Integer({
      description: 'Windows of limits that were compared exactly.',
    }),
    windows_bounded: Type.Integer({
      description:
        'Windows that were compared with the most and the least that they can have counted: their rule or route has changed since they opened.',
    }),
    windows_unjudged: Type.Integer({
      description:
        'Windows that were not compared because not all of their usage is kept, or because they are older than a ' +
        'verification reads.',
    }),
    rules: Type.Integer({
      description: 'Rules of routes whose windows must exist because the history has usage for them.',
    }),
    rules_unjudged: Type.Integer({
      description: 'Rules of routes that were not compared, because a verification is limited.',
    }),
    unsettled: Type.Integer({
      description: 'Wallets and windows that were not compared because they changed in the meantime.',
    }),
    difference_count: Type.Integer(),
    differences: Type.Array(PostingDifference, { description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.` }),
  },
  { ...closed, description: 'Posted amounts, compared with the charge items of the history.' },
);

export const QuotaDifference = Type.Object(
  {
    tenant_id: Type.String(),
    month: Type.String({ description: 'Calendar month (UTC) of the arrival, `YYYY-MM`.' }),
    expected: Type.String({
      description: 'Events that were rated, duplicates included, or wait to be rated.',
    }),
    found: Type.String({ description: 'Events that were counted when they were accepted.' }),
  },
  {
    ...closed,
    description: 'A count of accepted events that differs from the number of rated and pending events.',
  },
);

export const QuotaRecount = Type.Object(
  {
    months: Type.Integer({ description: 'Months of tenants that were compared.' }),
    difference_count: Type.Integer(),
    differences: Type.Array(QuotaDifference, { description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.` }),
  },
  {
    ...closed,
    description: 'Accepted events by month, compared with rated and pending events on one snapshot.',
  },
);

export const PurchaseDifference = Type.Object(
  {
    tenant_id: Type.String(),
    order_id: Nullable(Type.String({ description: 'Null for a grant whose payment has no order.' })),
    grant_id: Nullable(Type.String({ description: 'Null for a paid order without its grant.' })),
    expected: Type.String({
      description:
        'The paid plan and its revision, or `nothing`; also the amount of the order if it is not that of the plan.',
    }),
    found: Type.String({
      description:
        'The plan and revision that were granted for the payment, or `nothing`; also the amount of the plan if it is ' +
        'not that of the order.',
    }),
  },
  { ...closed, description: 'A paid order and a grant that do not match.' },
);

export const PurchaseRecount = Type.Object(
  {
    orders: Type.Integer({ description: 'Paid orders that were compared.' }),
    difference_count: Type.Integer(),
    differences: Type.Array(PurchaseDifference, { description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.` }),
  },
  {
    ...closed,
    description: 'Paid orders, compared with the grants of their payments on one snapshot.',
  },
);

/** Sums listed in one report; the rest is left out. */
export const VERIFY_TOTALS_MAX = 1_000;

export const VerifyTotal = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    metric: Nullable(Type.String()),
    unit: Nullable(Type.String()),
    currency: Nullable(Type.String()),
    measure: Type.String(),
    value: Type.String(),
  },
  { ...closed, description: 'A sum over all compared days, by the system of record.' },
);

export const UnsettledDay = Type.Object(
  {
    project_id: Type.String(),
    day: Type.String(),
    reason: Type.Union([Type.Literal('changing'), Type.Literal('waiting')], {
      description:
        '`changing`: usage of the day was rated all the time. `waiting`: rated rows of the project did not reach ' +
        'ClickHouse.',
    }),
  },
  { ...closed, description: 'A day of a project that could not be compared.' },
);

export const VerifyReport = Type.Object(
  {
    status: Type.Union([Type.Literal('equal'), Type.Literal('different'), Type.Literal('unsettled')], {
      description:
        '`unsettled`: no differences were found, but some days could not be compared, because they kept changing ' +
        'or waited for projection.',
    }),
    days_compared: Type.Integer({ description: 'Project days that were compared.' }),
    values_compared: Type.Integer({ description: 'Single numbers that were compared.' }),
    difference_count: Type.Integer({
      description:
        'Without those of the ledger, of reservations, of postings, of counters, of quotas, of purchases and of ingest.',
    }),
    differences: Type.Array(VerifyDifference, {
      description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.`,
    }),
    unsettled: Type.Array(UnsettledDay, {
      description: `Project days that were not compared; up to ${VERIFY_DIFFERENCES_MAX}.`,
    }),
    totals: Type.Array(VerifyTotal, { description: `Up to ${VERIFY_TOTALS_MAX} of them.` }),
    ledger: LedgerRecount,
    reservations: ReservationRecount,
    postings: PostingRecount,
    counters: CounterRecount,
    quotas: QuotaRecount,
    purchases: PurchaseRecount,
    ingest: IngestRecount,
    losses: LossRecount,
    duration_ms: Type.Integer(),
  },
  { ...closed, description: 'The compared totals, and every difference.' },
);

export type VerifyDifference = Static<typeof VerifyDifference>;
export type VerifyReport = Static<typeof VerifyReport>;
export type VerifyTotal = Static<typeof VerifyTotal>;
export type LedgerDifference = Static<typeof LedgerDifference>;
export type LedgerRecount = Static<typeof LedgerRecount>;
export type PostingDifference = Static<typeof PostingDifference>;
export type PostingRecount = Static<typeof PostingRecount>;
export type PurchaseDifference = Static<typeof PurchaseDifference>;
export type PurchaseRecount = Static<typeof PurchaseRecount>;
export type QuotaDifference = Static<typeof QuotaDifference>;
export type QuotaRecount = Static<typeof QuotaRecount>;
export type ReservationDifference = Static<typeof ReservationDifference>;
export type ReservationRecount = Static<typeof ReservationRecount>;

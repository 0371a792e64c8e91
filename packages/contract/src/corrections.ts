import { type Static, Type } from 'typebox';
import { DimensionFilter, FILTERED_NAMES } from './analysis.js';
import { BacktestSide, FailureCodeCount } from './backtest-result.js';
import { closed, DecimalText, mapOf, Nullable, PageQuery, pageFields, UnixSeconds } from './common.js';
import { IngestEvent } from './ingest.js';
import { IDENTIFIER_CHARS_MAX } from './limits.js';
import { EventStatusSchema } from './usage-event-state.js';
import { PricingSourceSchema } from './usage-item.js';

/** Upper bound of the events of one correction. */
export const CORRECTION_EVENTS_MAX = 10_000_000;
/** Upper bounds of the revisions of an event that can be corrected again, and of the JSON of all of them. */
export const EVENT_REVISIONS_MAX = 1_000;
export const EVENT_HISTORY_BYTES_MAX = 32 * 1_048_576;
export const CORRECTION_REASON_CHARS_MAX = 500;
/** Events of a correction that are shown: those that differ most. */
export const CORRECTION_EXAMPLES_MAX = 20;
/** Rows of totals that a response lists: those that differ most. */
export const CORRECTION_TOTALS_MAX = 1_000;
/** Corrections of a project that may be in progress at once. */
export const CORRECTIONS_OPEN_MAX = 1_000;
/** For how long a plan can be applied. */
export const CORRECTION_PLAN_DAYS = 7;
/** Pricing rule sets that a correction names. */
export const CORRECTION_PRICINGS_MAX = 20;

const Count = Type.Integer({ minimum: 0 });
const FilterText = Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX });
const only = (description: string) => Type.Optional({ ...FilterText, description });

export const CorrectionReason = Type.String({
  minLength: 1,
  maxLength: CORRECTION_REASON_CHARS_MAX,
  pattern: '\\S',
  description: 'Why the usage is corrected; kept for ever.',
});

export const CorrectionFilter = Type.Object(
  {
    from: { ...UnixSeconds, description: 'Earliest `occurred_at`, inclusive.' },
    to: { ...UnixSeconds, description: 'Latest `occurred_at`, exclusive.' },
    subject_type: only('Only events of subjects of this type.'),
    subject_id: only('Only events of subjects with this id.'),
    source: only('Only events of this source.'),
    metric: only('Only events with a charge item of this metric.'),
    extractor_rule_set_id: only('Only events that were sent to this extractor rule set.'),
    status: Type.Optional({
      ...EventStatusSchema,
      ...{ description: 'Only events of this status. Default: `processed`.' },
    }),
    pricing_source: Type.Optional({
      ...PricingSourceSchema,
      description: 'Only events with a charge item whose price has this source.',
    }),
    dimensions: Type.Optional(
      mapOf(DimensionFilter, {
        description: `By ${FILTERED_NAMES}; all must hold.`,
      }),
    ),
  },
  {
    ...closed,
    description: 'The events to correct; all fields must match. An event that matches is corrected whole.',
  },
);

export const RuleSetVersionRef = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX, description: 'Rule set.' }),
    version: Type.Integer({ minimum: 1, description: 'Version of it, published or not.' }),
  },
  { ...closed, description: 'A version of a rule set.' },
);

export const CorrectionRules = Type.Object(
  {
    extractor: Type.Optional(RuleSetVersionRef),
    pricing: Type.Optional(
      Type.Array(RuleSetVersionRef, {
        maxItems: CORRECTION_PRICINGS_MAX,
        description:
          'Prices and costs: versions with the purpose `price` replace all other prices of their extractor rule set, ' +
          'and those with the purpose `cost` all other costs. Events of other extractor rule sets are rated by the ' +
          'published prices. An empty list means no prices.',
      }),
    ),
  },
  {
    ...closed,
    description:
      'Versions to rate by. Without them, each event is rated by the versions that are published now and active at its `occurred_at`.',
  },
);

export const CorrectionRequest = Type.Object(
  {
    action: Type.Enum(['rerate', 'void'], {
      description:
        '`rerate`: rate the events again; `void`: take them back. Rating voided events again (`filter.status` `voided`) revives them.',
    }),
    filter: Type.Optional(CorrectionFilter),
    rules: Type.Optional(CorrectionRules),
    backtest_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: IDENTIFIER_CHARS_MAX,
        description: 'A backtest that has succeeded: its events and rules, in place of `filter` and `rules`.',
      }),
    ),
    reason: CorrectionReason,
    dry_run: Type.Optional(
      Type.Boolean({
        description:
          'Whether to stop at a plan, which shows what would change, and can be applied. Default: false.',
      }),
    ),
  },
  { ...closed, description: 'The events to correct, and how.' },
);

export const VoidEventRequest = Type.Object(
  { reason: CorrectionReason },
  { ...closed, description: 'Why the event is void.' },
);

const { raw_json, metadata, 'x-billing': xBilling, subject_type, subject_id } = IngestEvent.properties;

export const ReplaceEventRequest = Type.Object(
  { raw_json, metadata, 'x-billing': xBilling, subject_type, subject_id, reason: CorrectionReason },
  {
    ...closed,
    description:
      'The whole new content: a field that is left out is absent. The identity, the source and `occurred_at` of the event stay.',
  },
);

export const CorrectionAccepted = Type.Object(
  { correction_id: Type.String({ description: 'The correction that changes the event.' }) },
  { ...closed, description: 'The correction of one event.' },
);

export const CORRECTION_STATUSES = [
  'planning',
  'planned',
  'applying',
  'applied',
  'reverting',
  'reverted',
  'stale',
  'failed',
  'expired',
] as const;
export const CorrectionStatusSchema = Type.Enum([...CORRECTION_STATUSES], {
  description:
    '`planned`: shows what would change, and can be applied; `stale`: an event was changed after the plan, so that only a part was ' +
    'applied (`applied`), which can be reverted; `failed`: see `failure`; `expired`: a plan that was not applied in ' +
    `${CORRECTION_PLAN_DAYS} days, or was deleted.`,
});

export const CorrectedSum = Type.Object(
  { before: DecimalText, after: DecimalText, delta: DecimalText },
  { ...closed, description: 'A sum before and after, and the difference.' },
);

export const CorrectionTotal = Type.Object(
  {
    metric: Type.String(),
    unit: Nullable(Type.String()),
    currency: Nullable(Type.String({ description: 'Null for charge items without a price.' })),
    account_id: Nullable(Type.String({ description: 'Null where no account was or will be debited.' })),
    quantity: CorrectedSum,
    amount: CorrectedSum,
    cost: {
      ...CorrectedSum,
      description: 'Costs in the same currency, before and after, and the difference.',
    },
  },
  { ...closed, description: 'Sums of the changed events.' },
);

export const AmountDelta = Type.Object(
  { currency: Type.String(), amount: DecimalText },
  { ...closed, description: 'The difference of the amounts in one currency.' },
);

export const CorrectionExample = Type.Object(
  {
    raw_event_id: Type.String(),
    occurred_at: UnixSeconds,
    amount_deltas: Type.Array(AmountDelta, { description: 'By currency; empty if no amount differs.' }),
    before: BacktestSide,
    after: BacktestSide,
  },
  { ...closed, description: 'An event that the correction changes.' },
);

const totals = (description: string) => Type.Array(CorrectionTotal, { description });

export const CorrectionProgress = Type.Object(
  {
    events_done: { ...Count, description: 'Events that the present step has done.' },
    events_total: Nullable({ ...Count, description: 'Null while it is not known.' }),
  },
  { ...closed, description: 'The progress of planning, applying or reverting.' },
);

export const CorrectionFailure = Type.Object(
  { code: Type.String(), message: Type.String() },
  { ...closed, description: 'Why the correction failed, or is stale.' },
);

const summaryFields = {
  id: Type.String(),
  action: Type.Enum(['void', 'replace', 'rerate'], { description: 'How events are changed.' }),
  status: CorrectionStatusSchema,
  filter: Nullable(CorrectionFilter),
  raw_event_id: Nullable(
    Type.String({ description: 'The event, if the correction was requested for one event.' }),
  ),
  rules: Nullable(CorrectionRules),
  backtest_id: Nullable(Type.String()),
  reason: Type.String(),
  events_matched: Count,
  events_changed: { ...Count, description: 'Events with a result that differs from the present one.' },
  events_failed: Type.Array(FailureCodeCount, {
    description: 'Events that would fail, by code; they keep their result.',
  }),
  progress: CorrectionProgress,
  failure: Nullable(CorrectionFailure),
  created_by: Type.String({ description: 'API key that requested it, or `service`.' }),
  applied_by: Nullable(Type.String({ description: 'As `created_by`, who has applied the plan.' })),
  reverted_by: Nullable(Type.String({ description: 'As `created_by`, who has reverted it.' })),
  created_at: UnixSeconds,
  planned_at: Nullable(UnixSeconds),
  applied_at: Nullable(UnixSeconds),
  reverted_at: Nullable(UnixSeconds),
};

export const CorrectionInForce = Type.Object(
  { events: Count, totals: totals('Changes in force, as in `totals`.') },
  { ...closed, description: 'The part of the correction that is in force now.' },
);

export const Correction = Type.Object(
  {
    ...summaryFields,
    totals: totals(
      `Planned changes by metric, unit, currency and account: the ${CORRECTION_TOTALS_MAX} with the largest.`,
    ),
    totals_count: { ...Count, description: 'Number of all totals.' },
    examples: Type.Array(CorrectionExample, {
      description: `The events whose amounts differ most, up to ${CORRECTION_EXAMPLES_MAX}; where amounts differ equally, those whose costs do.`,
    }),
    applied: CorrectionInForce,
  },
  { ...closed, description: 'A correction of usage, and what it changes.' },
);

export const CorrectionSummary = Type.Object(summaryFields, {
  ...closed,
  description: 'A correction without its totals and examples.',
});

export const CorrectionStarted = Type.Object(
  { id: Type.String(), status: CorrectionStatusSchema },
  { ...closed, description: 'A correction that was started. Read it by its id until it has ended.' },
);

export const CorrectionPage = Type.Object(
  {
    corrections: Type.Array(CorrectionSummary, { description: 'Newest first.' }),
    ...pageFields,
  },
  { ...closed, description: 'One page of corrections.' },
);

export const CorrectionsQuery = Type.Object(
  {
    ...PageQuery.properties,
    status: Type.Optional({ ...CorrectionStatusSchema, description: 'Only corrections of this status.' }),
    raw_event_id: only('Only corrections that name this event, or change it.'),
  },
  closed,
);

export type CorrectionFilter = Static<typeof CorrectionFilter>;
export type CorrectionRules = Static<typeof CorrectionRules>;
export type CorrectionRequest = Static<typeof CorrectionRequest>;
export type VoidEventRequest = Static<typeof VoidEventRequest>;
export type ReplaceEventRequest = Static<typeof ReplaceEventRequest>;
export type CorrectionAccepted = Static<typeof CorrectionAccepted>;
export type CorrectionStatus = Static<typeof CorrectionStatusSchema>;
export type CorrectionTotal = Static<typeof CorrectionTotal>;
export type CorrectionExample = Static<typeof CorrectionExample>;
export type Correction = Static<typeof Correction>;
export type CorrectionSummary = Static<typeof CorrectionSummary>;
export type CorrectionStarted = Static<typeof CorrectionStarted>;
export type CorrectionsQuery = Static<typeof CorrectionsQuery>;
export type CorrectionPage = Static<typeof CorrectionPage>;

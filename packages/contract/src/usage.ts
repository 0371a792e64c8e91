import { type Static, Type } from 'typebox';
import { ANALYSIS_FILTERS_MAX, DimensionFilter, FILTERED_NAMES } from './analysis.js';
import { closed, cursorFields, mapOf, Nullable, UnixSeconds } from './common.js';
import { ANALYSIS_METRICS_MAX, IDENTIFIER_CHARS_MAX } from './limits.js';
import { EventLeaseStatusSchema, EventPostingSchema, EventStatusSchema } from './usage-event-state.js';
import { UsageExplanation } from './usage-explanation.js';
import {
  NOTE_CODES,
  PostedChargeItem,
  PricingSourceSchema,
  UnpricedItem,
  UsageEventNote,
} from './usage-item.js';

/** Metrics that a count of unpriced usage names: those with the most unpriced charge items. */
export const UNPRICED_METRICS_LISTED_MAX = 20;
/** Longest failure code that a request can name. */
export const FAILURE_CODE_CHARS_MAX = 64;
/** Longest text of `filters` in a query string: escaped for a URL, it still fits the head of a request. */
export const USAGE_FILTERS_CHARS_MAX = 4_096;

const ONE_ITEM =
  'A single charge item must match all of `metric`, `currency` and `pricing_source` that are given.';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const NullableText = Nullable(Text);
const FilterText = Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX });
const only = (description: string) => Type.Optional({ ...FilterText, description });

/** Filter by notes: events with any. */
export const ANY_NOTE = 'any';
export const NoteFilterSchema = Type.Enum([ANY_NOTE, ...NOTE_CODES], {
  description: `Only events that have a note with this code; \`${ANY_NOTE}\`: events with any note.`,
});

/** The JSON in `filters` of the event list. */
export const UsageEventFilters = mapOf(DimensionFilter, {
  description: `By ${FILTERED_NAMES}; all must hold.`,
});

/** Filters of the event list; all must match. */
export const UsageEventsQuery = Type.Object(
  {
    from: Type.Optional({ ...UnixSeconds, description: 'Earliest `occurred_at`, inclusive.' }),
    to: Type.Optional({ ...UnixSeconds, description: 'Latest `occurred_at`, exclusive.' }),
    status: Type.Optional({ ...EventStatusSchema, ...{ description: 'Only events of this status.' } }),
    subject_type: only('Only events of subjects of this type.'),
    subject_id: only('Only events of subjects with this id.'),
    metric: Type.Optional(
      Type.Array(FilterText, {
        minItems: 1,
        maxItems: ANALYSIS_METRICS_MAX,
        description:
          'Only events with a charge item of this metric. Repeat the parameter for several metrics: one of them ' +
          'must match.',
      }),
    ),
    currency: only(`Only events with a charge item in this currency. ${ONE_ITEM}`),
    pricing_source: Type.Optional({
      ...PricingSourceSchema,
      description:
        'Only events with a charge item whose price has this source; `unpriced`: a charge item without a price. ' +
        `${ONE_ITEM}`,
    }),
    filters: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: USAGE_FILTERS_CHARS_MAX,
        description:
          'Conditions on dimensions as JSON, the `filters` of an analysis query: `{"model": {"in": ["gpt-5"]}}`. ' +
          `At most ${ANALYSIS_FILTERS_MAX} names; all must hold.`,
      }),
    ),
    source: only('Only events of this source.'),
    extractor_rule_set_id: only('Only events that were sent to this extractor rule set.'),
    failure_code: Type.Optional({
      ...Type.String({ minLength: 1, maxLength: FAILURE_CODE_CHARS_MAX }),
      description: 'Only events that failed with this code.',
    }),
    note: Type.Optional(NoteFilterSchema),
    external_event_id: only('Only events with this external id.'),
    ledger_transaction_id: only('Only events with a charge item that was posted in this ledger transaction.'),
    count: Type.Optional(
      Type.Literal('unpriced', {
        description:
          'Adds `unpriced` to the response, counted over all pages. This reads the whole time range: send `from` ' +
          'and `to`.',
      }),
    ),
    ...cursorFields(
      'Page size. A page can be shorter although more pages follow: use `next_cursor` to find out.',
    ),
  },
  closed,
);

export const UsageEventFailure = Type.Object(
  {
    code: Text,
    message: Text,
    path: Nullable(
      Type.String({
        description:
          'Entry of the rule set, e.g. `charge_item_extractors[0].unit_price_expr`, or of the event, e.g. ' +
          '`x-billing.items[0].quantity`.',
      }),
    ),
  },
  { ...closed, description: 'Why an event could not be rated.' },
);

const usageEventFields = {
  raw_event_id: Text,
  revision: Type.Integer({
    minimum: 1,
    description: 'Number of the present revision: 1 until the event is corrected; each correction adds one.',
  }),
  status: EventStatusSchema,
  source: Text,
  external_event_id: NullableText,
  idempotency_key: NullableText,
  subject_type: NullableText,
  subject_id: NullableText,
  account_id: Nullable(
    Type.String({ description: 'Billing account that the subject was routed to; null without a route.' }),
  ),
  occurred_at: UnixSeconds,
  received_at: UnixSeconds,
  processed_at: UnixSeconds,
  dimensions: mapOf(Type.String(), {
    description: 'Every value as text: numbers as plain decimals, booleans as `true` and `false`.',
  }),
  charge_items: Type.Array(PostedChargeItem),
  posting: Nullable(EventPostingSchema),
  extractor_rule_set_id: Text,
  extractor_version: Nullable(Type.Integer()),
  budget_lease_id: NullableText,
  lease_status: Nullable(EventLeaseStatusSchema),
  failure: Nullable(UsageEventFailure),
  notes: Type.Array(UsageEventNote, {
    description:
      'Deviations from what the extractor rule set expected at the time of rating that do not fail the event. Events that were rated ' +
      'before notes were kept have none.',
  }),
};

export const UsageEvent = Type.Object(usageEventFields, {
  ...closed,
  description: 'A processed, failed or voided event, in its present revision.',
});

export const UnpricedMetric = Type.Object(
  { metric: Text, item_count: Count },
  { ...closed, description: 'How many charge items of a metric have no price.' },
);

export const UnpricedUsage = Type.Object(
  {
    event_count: { ...Count, description: 'Events with a charge item that has no price.' },
    item_count: { ...Count, description: 'Charge items without a price.' },
    metrics: Type.Array(UnpricedMetric, {
      description: `Metrics of these charge items, those with the most first; up to ${UNPRICED_METRICS_LISTED_MAX}.`,
    }),
  },
  { ...closed, description: 'Usage without a price that the filters select.' },
);

export const UsageEventList = Type.Object(
  {
    events: Type.Array(UsageEvent, { description: 'Newest first.' }),
    next_cursor: Nullable(Type.String({ description: 'Cursor of the next page; null at the end.' })),
    unpriced: Type.Optional({ ...UnpricedUsage, description: 'Only with `count=unpriced`.' }),
  },
  { ...closed, description: 'One page of events, newest first.' },
);

/** Longest time that reading an event waits for it to be rated, in seconds. */
export const EVENT_WAIT_SECONDS_MAX = 10;
/** Reads of one key that may wait at once. */
export const EVENT_WAITS_PER_KEY_MAX = 10;

export const UsageEventQuery = Type.Object(
  {
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: EVENT_WAIT_SECONDS_MAX,
        description:
          'Maximum time to wait for an event that is not rated yet; the response is sent as soon as it is rated. ' +
          `Seconds. Default: 0. A key may have ${EVENT_WAITS_PER_KEY_MAX} such requests at once.`,
      }),
    ),
  },
  closed,
);

export const UsageEventRevision = Type.Object(
  {
    revision: Type.Integer({ minimum: 1 }),
    status: EventStatusSchema,
    charge_items: Type.Array(PostedChargeItem),
    correction_id: Nullable(
      Type.String({ description: 'The correction that made it; null for revision 1.' }),
    ),
    actor: Nullable(
      Type.String({ description: 'API key that requested the correction or its revert, or `service`.' }),
    ),
    reason: Nullable(Type.String({ description: 'Why the event was corrected.' })),
    created_at: UnixSeconds,
    raw_json: Type.Optional(
      Type.Unknown({
        description:
          'Usage JSON, where it differs from that of the revision before. Revision 1 has it if the event was replaced.',
      }),
    ),
  },
  { ...closed, description: 'One result of an event. A revert adds a revision with the former content.' },
);

export const UsageEventDetail = Type.Object(
  {
    ...usageEventFields,
    raw_json: Type.Unknown({ description: 'Usage JSON as it was sent: numbers keep their digits.' }),
    metadata: Type.Unknown({ description: 'Metadata as it was sent; null if there was none.' }),
    'x-billing': Type.Unknown({ description: '`x-billing` as it was sent; null if there was none.' }),
    subject_is_sent: Type.Boolean({
      description: 'Whether the event named its subject itself; otherwise its extractor found the subject.',
    }),
    explanation: UsageExplanation,
    revisions: Type.Array(UsageEventRevision, { description: 'All results of the event, oldest first.' }),
    unpriced: Type.Array(UnpricedItem, {
      description:
        'Charge items that no price rule matched, and why the nearest rules active at `occurred_at` do not, as in a rules test. For an ' +
        'event that failed with `unpriced`: those that have no price today; none once rules price all of them.',
    }),
  },
  {
    ...closed,
    description: 'The event as it was sent, its charge items, and how each number was calculated.',
  },
);

export type UsageEventsQuery = Static<typeof UsageEventsQuery>;
export type UsageEvent = Static<typeof UsageEvent>;
export type UnpricedUsage = Static<typeof UnpricedUsage>;
export type UsageEventList = Static<typeof UsageEventList>;
export type UsageEventQuery = Static<typeof UsageEventQuery>;
export type UsageEventRevision = Static<typeof UsageEventRevision>;
export type UsageEventDetail = Static<typeof UsageEventDetail>;

import { type Static, type TSchema, Type } from 'typebox';
import { closed, mapOf } from './common.js';
import {
  BATCH_EVENTS_MAX,
  CURRENCY_PATTERN,
  IDENTIFIER_CHARS_MAX,
  METRIC_PATTERN,
  SUBJECT_TYPE_PATTERN,
  X_BILLING_HINTS_MAX,
  X_BILLING_ITEMS_MAX,
} from './limits.js';

/** In hints a client may add fields of its own. */
const open = { additionalProperties: true } as const;

const identifier = (description: string) =>
  Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX, description });
const JsonObject = (description: string) => Type.Object({}, { ...open, description });
export const XBillingDecimal = Type.Union([Type.Number(), Type.String({ minLength: 1, maxLength: 128 })], {
  description: 'Exact decimal, as text or as a number.',
});
const decimal = (meaning: string): typeof XBillingDecimal => {
  const description = `${meaning} A decimal string, or a number whose digits are kept as sent.`;
  return { ...XBillingDecimal, ...{ description } };
};
const hintsByMetric = <T extends TSchema>(hint: T, description: string) =>
  mapOf(hint, { maxProperties: X_BILLING_HINTS_MAX, description });

export const XBillingItem = Type.Object(
  {
    metric: Type.String({ pattern: METRIC_PATTERN }),
    quantity: decimal('How much was used.'),
    unit: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { ...closed, description: 'A charge item that the sender states itself.' },
);

export const PricingHint = Type.Object(
  {
    unit_price: decimal('Price of `pricing_unit` units; not negative.'),
    pricing_unit: Type.Optional(decimal('Units that `unit_price` buys; above 0. Defaults to 1.')),
    currency: Type.Optional(
      Type.String({
        pattern: CURRENCY_PATTERN,
        description:
          'Default: the currency of the charge item extractor of the metric, or USD if there is none.',
      }),
    ),
  },
  { ...open, description: 'A price that the sender states for a metric.' },
);

export const DiscountHint = Type.Object(
  {
    percent: Type.Optional(decimal('Share of the amount, 0 to 100; at most 18 fraction digits.')),
    amount: Type.Optional(decimal('Amount taken off; not negative, at most 18 fraction digits.')),
  },
  { ...open, description: 'Exactly one of `percent` and `amount`.' },
);

export const XBilling = Type.Object(
  {
    items: Type.Optional(
      Type.Array(XBillingItem, {
        maxItems: X_BILLING_ITEMS_MAX,
        description:
          'Charge items: each replaces the charge items of the extractors for its metric, and is priced like them.',
      }),
    ),
    pricing_hints: Type.Optional(
      hintsByMetric(
        PricingHint,
        'Prices by metric, which take precedence over all rules: a charge item of the metric costs quantity × ' +
          '`unit_price` ÷ `pricing_unit`, rounded once.',
      ),
    ),
    discount_hints: Type.Optional(
      hintsByMetric(
        DiscountHint,
        'Discounts by metric on the amounts of charge items, which never become negative: `percent` of each ' +
          'item, or `amount` once for all items of the metric in one currency.',
      ),
    ),
  },
  { ...closed, description: 'Charge items, prices and discounts that the sender states itself.' },
);

export const XUsageControl = Type.Object(
  { budget_lease_id: Type.Optional(identifier('Budget lease that the event is charged against.')) },
  { ...closed, description: 'The budget lease that the event is charged against.' },
);

const eventFields = {
  external_event_id: Type.Optional(
    identifier('Id of the event in your own system, for support and reconciliation.'),
  ),
  subject_type: Type.Optional(
    Type.String({ pattern: SUBJECT_TYPE_PATTERN, description: 'Together with subject_id.' }),
  ),
  subject_id: Type.Optional(identifier('Together with subject_type.')),
  occurred_at: Type.Integer({ description: 'Unix seconds.' }),
  raw_json: JsonObject('Original usage JSON.'),
  'x-billing': Type.Optional(XBilling),
  'x-usage-control': Type.Optional(XUsageControl),
  metadata: Type.Optional(JsonObject('Small, non-sensitive; at most 16 KiB as compact JSON.')),
};

const IDEMPOTENCY_KEY =
  'Unique name for the event. Events of a project with the same key and `occurred_at` are one event, which is ' +
  'rated once.';

export const IngestEvent = Type.Object(
  {
    source: identifier('Stable name of the source.'),
    idempotency_key: Type.Optional(identifier(IDEMPOTENCY_KEY)),
    ...eventFields,
  },
  { ...closed, description: 'A usage event.' },
);

export const BatchIngestItem = Type.Object(
  {
    extractor_rule_set_id: identifier('Published rule set; may differ per event.'),
    source: Type.Optional(identifier('Overrides the source of the batch.')),
    idempotency_key: identifier(IDEMPOTENCY_KEY),
    ...eventFields,
  },
  { ...closed, description: 'A usage event of a batch.' },
);

export const BatchIngest = Type.Object(
  {
    source: Type.Optional(identifier('Source of events without a `source` of their own.')),
    events: Type.Array(BatchIngestItem, { minItems: 1, maxItems: BATCH_EVENTS_MAX }),
  },
  { ...closed, description: 'Usage events that are accepted together, or not at all.' },
);

const Received = Type.Literal('received', { description: 'On disk, and accepted for rating.' });

export const IngestAccepted = Type.Object(
  { raw_event_id: Type.String(), status: Received },
  { description: 'The event is on disk and will be rated.' },
);

export const BatchIngestAccepted = Type.Object(
  {
    status: Received,
    count: Type.Integer(),
    raw_event_ids: Type.Array(Type.String(), { description: 'Ids in the order of the events.' }),
  },
  { description: 'All events of the batch are on disk and will be rated.' },
);

export type XBillingItem = Static<typeof XBillingItem>;
export type PricingHint = Static<typeof PricingHint>;
export type DiscountHint = Static<typeof DiscountHint>;
export type XBilling = Static<typeof XBilling>;
export type XUsageControl = Static<typeof XUsageControl>;
export type IngestEvent = Static<typeof IngestEvent>;
export type BatchIngestItem = Static<typeof BatchIngestItem>;
export type BatchIngest = Static<typeof BatchIngest>;
export type IngestAccepted = Static<typeof IngestAccepted>;
export type BatchIngestAccepted = Static<typeof BatchIngestAccepted>;

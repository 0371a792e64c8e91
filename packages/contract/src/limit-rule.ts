import { type Static, Type } from 'typebox';
import { closed, DecimalText, decimalInput, Nullable, UnixSeconds } from './common.js';
import {
  CURRENCY_PATTERN,
  DIMENSION_NAME_PATTERN,
  IDENTIFIER_CHARS_MAX,
  METRIC_PATTERN,
  NOTIFY_AT_MAX,
  SELECTOR_VALUES_MAX,
  UNIQUE_VALUES_MAX,
} from './limits.js';
import { WEBHOOK_EVENT_TYPE_PATTERN } from './webhooks.js';

/** Values that rules of limit plans and direct limits share. */
export const LIMIT_MEASURES = ['amount', 'quantity', 'count', 'unique', 'max', 'concurrency'] as const;
export type LimitMeasure = (typeof LIMIT_MEASURES)[number];

export const LIMIT_SELECTOR_TYPES = ['all', 'metric', 'metrics', 'metric_prefix'] as const;
export type LimitSelectorType = (typeof LIMIT_SELECTOR_TYPES)[number];

export const LIMIT_ACTIONS = ['block', 'notify'] as const;
export type LimitAction = (typeof LIMIT_ACTIONS)[number];

export const LIMIT_KEY_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$';

const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description });

const LimitKey = Type.String({
  pattern: LIMIT_KEY_PATTERN,
  description:
    'Name of the limit, unique in its limit plan or route. A rule keeps its name, and its counter, over all revisions.',
});
export const LimitMeasureSchema = oneOf(
  LIMIT_MEASURES,
  'What is counted: the amount of charge items, their quantity, how many there are, how many different values of the ' +
    'dimension `of` they have, or the greatest quantity of one of them. `concurrency` counts no charge items but the ' +
    'active budget leases of the subject and of those below it that were created since the limit applies; such a limit ' +
    'has the selector `all`, no dimension and no period, and the action `block`, and sends nothing.',
);
export const LimitSelectorTypeSchema = oneOf(
  LIMIT_SELECTOR_TYPES,
  'Which charge items count: all, those of a metric, those of several metrics, or those whose metric begins with a text.',
);
const DimensionKey = Type.String({
  pattern: DIMENSION_NAME_PATTERN,
  description:
    'Together with `dimension_value` or `dimension_values`: only events with such a value of the dimension count.',
});
const DimensionValue = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_CHARS_MAX,
  description: 'The value, exactly as it is: a `*` has no meaning here.',
});
const SelectorValues = Type.Array(Type.String({ pattern: METRIC_PATTERN }), {
  minItems: 1,
  maxItems: SELECTOR_VALUES_MAX,
  description: 'The metrics, for `selector_type` `metrics`: they share one limit.',
});
const DimensionValues = Type.Array(Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX }), {
  minItems: 1,
  maxItems: SELECTOR_VALUES_MAX,
  description:
    'Values of the dimension, which share one limit. A value that ends in `*` is a prefix: `gpt-5*`. Write `\\*` for ' +
    'a star itself.',
});
const OfDimension = Type.String({
  pattern: DIMENSION_NAME_PATTERN,
  description:
    'The dimension whose different values a `unique` limit counts; required for it, and only allowed there. Usage ' +
    `without the dimension counts nothing. A window counts at most ${UNIQUE_VALUES_MAX} values.`,
});
const Period = Type.String({
  minLength: 1,
  maxLength: 32,
  description:
    'Required, but for the measure `concurrency`, which has none. ' +
    '`minute`, `hour`, `day`, `week` or `month` in the calendar of the route; `lifetime`; a duration counted from the ' +
    'anchor of the route, such as `5m`, `5h`, `7d`, `2 week`, `5 month` (`m` are minutes); `first_use:` and a ' +
    'duration of up to 365 days without months, such as `first_use:5h`: a window that opens with the first usage after ' +
    'the last window has ended; or `sliding:` and a duration of up to 31 days without months, such as `sliding:30m`: the ' +
    'usage of the last duration until now, not for `unique` and `max`. If the period changes, the rule restarts from zero.',
});
export const LimitActionSchema = oneOf(
  LIMIT_ACTIONS,
  '`block` refuses work that is checked or reserved beforehand; `notify` only sends alerts.',
);
const WebhookEvent = Type.String({
  pattern: WEBHOOK_EVENT_TYPE_PATTERN,
  description: 'Type of the event that is sent when the limit, or a percentage of it, is reached.',
});
const NotifyAt = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
  maxItems: NOTIFY_AT_MAX,
  description:
    'Percentages of the limit at which an alert is sent, in ascending order. An alert at 100 is always sent.',
});

export const LimitRuleInput = Type.Object(
  {
    limit_key: LimitKey,
    measure: LimitMeasureSchema,
    of: Type.Optional(Nullable(OfDimension)),
    selector_type: LimitSelectorTypeSchema,
    selector_value: Type.Optional(
      Type.String({
        pattern: `^$|${METRIC_PATTERN}`,
        description: 'The metric, or its prefix; empty or left out for all usage and for several metrics.',
      }),
    ),
    selector_values: Type.Optional(Nullable(SelectorValues)),
    dimension_key: Type.Optional(Nullable(DimensionKey)),
    dimension_value: Type.Optional(Nullable(DimensionValue)),
    dimension_values: Type.Optional(Nullable(DimensionValues)),
    currency: Type.Optional(
      Type.String({
        pattern: `^$|${CURRENCY_PATTERN}`,
        description:
          'Required for an amount: only amounts in this currency count. For other measures, an optional label.',
      }),
    ),
    period: Type.Optional(Period),
    limit_amount: decimalInput(`Not negative. At most ${UNIQUE_VALUES_MAX} for the measure \`unique\`.`),
    action: LimitActionSchema,
    webhook_event: Type.Optional(Nullable(WebhookEvent)),
    notify_at: Type.Optional(NotifyAt),
  },
  { ...closed, description: 'A limit rule: a measure, a period and a limit.' },
);

/** The fields of a rule as it is shown, without its id and owner. */
export const limitRuleFields = {
  limit_key: LimitKey,
  measure: LimitMeasureSchema,
  of: Type.Optional(OfDimension),
  selector_type: LimitSelectorTypeSchema,
  selector_value: Type.String(),
  selector_values: Type.Optional(SelectorValues),
  dimension_key: Type.Optional(DimensionKey),
  dimension_value: Type.Optional(DimensionValue),
  dimension_values: Type.Optional(DimensionValues),
  currency: Type.String(),
  period: Type.Optional(Period),
  limit_amount: DecimalText,
  action: LimitActionSchema,
  webhook_event: Type.Optional(WebhookEvent),
  notify_at: NotifyAt,
  created_at: UnixSeconds,
  updated_at: UnixSeconds,
};

export type LimitRuleInput = Static<typeof LimitRuleInput>;

import { type Static, Type } from 'typebox';
import { closed, DecimalText, Nullable, PageQuery, pageFields, UnixSeconds } from './common.js';
import { limitRuleFields } from './limit-rule.js';
import { IDENTIFIER_CHARS_MAX, SUBJECT_LEVELS_MAX, SUBJECT_TYPE_PATTERN } from './limits.js';
import { Warnings } from './warnings.js';

const SubjectType = Type.String({ pattern: SUBJECT_TYPE_PATTERN });
const SubjectId = Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX });

/** The subject of the request; both parts are required. */
export const subjectFields = {
  subject_type: { ...SubjectType, description: 'Type of the subject, e.g. `user` or `key`.' },
  subject_id: { ...SubjectId, description: 'Id of the subject.' },
};

export const RealtimeLimit = Type.Object(
  {
    id: Type.String({
      description: 'Id of the limit rule: `racl_…` for a direct limit, `ulpr_…` for a rule of a limit plan.',
    }),
    limit_key: limitRuleFields.limit_key,
    plan_id: Nullable(
      Type.String({
        description: 'The usage limit plan that the rule belongs to, `ulp_…`; null for a direct limit.',
      }),
    ),
    rule_account_id: Type.String({ description: 'The subject route that the rule comes from, `ra_…`.' }),
    account_id: Type.String({
      description: 'Account that pays for the subject, `acct_…`: its own, or the nearest above.',
    }),
    account_external_id: Nullable(
      Type.String({ description: 'The `external_id` of that account; null when it has none.' }),
    ),
    level: Type.Integer({
      minimum: 0,
      maximum: SUBJECT_LEVELS_MAX - 1,
      description:
        'Level of the limit: 0 for the subject that was asked about or whose usage passed the limit, 1 for its parent, and so on.',
    }),
    subject_type: { ...SubjectType, description: 'Type of the subject at this level.' },
    subject_id: { ...SubjectId, description: 'Id of the subject at this level.' },
    dimension_key: Type.Optional(
      Type.String({ description: 'Only usage with this dimension counts. Absent if all usage counts.' }),
    ),
    dimension_value: Type.Optional(
      Type.String({
        description:
          'Required value of the dimension. Present with `dimension_key`, unless the rule lists values.',
      }),
    ),
    dimension_values: limitRuleFields.dimension_values,
    currency: Type.String({ description: 'Currency of an amount; may be empty for other measures.' }),
    metric_scope: Type.String({
      description:
        'The selector as one string: `*` for all usage, a metric, metrics separated by commas, or a prefix of metrics ' +
        'followed by `*`.',
    }),
    selector_type: limitRuleFields.selector_type,
    selector_value: Type.String({
      description: 'The metric, or the prefix; empty for all and for several metrics.',
    }),
    selector_values: limitRuleFields.selector_values,
    measure: limitRuleFields.measure,
    of: limitRuleFields.of,
    period: Type.Optional(
      Type.String({
        description:
          'Length of a window, e.g. `month`, `7d`, `first_use:5h`, `sliding:30m` or `lifetime`. Absent for `concurrency`.',
      }),
    ),
    window_id: Type.String({
      description:
        'The window: `<period>:<start in Unix seconds>`. Without the start for a sliding window, and for a `first_use` window that is not open; `concurrency` for that measure.',
    }),
    next_reset_at: Type.Optional({
      ...UnixSeconds,
      description:
        'End of the window, Unix seconds. Absent for a lifetime, a sliding window, and a `first_use` window that is not open.',
    }),
    used_amount: {
      ...DecimalText,
      description: 'Usage in the window: a sum, the number of different values, or the greatest quantity.',
    },
    reserved_amount: {
      ...DecimalText,
      description:
        'Amount reserved by active budget leases, in addition to the usage. 0 in a window that does not contain the ' +
        'present.',
    },
    limit_amount: { ...DecimalText, description: 'The limit of the window, with its raises.' },
    raised_amount: Type.Optional({
      ...DecimalText,
      description: 'The part of `limit_amount` that raises add. Absent without a raise.',
    }),
    remaining_amount: {
      ...DecimalText,
      description: '`limit_amount` less `used_amount`; below zero after an overage.',
    },
    exceeded: Type.Boolean({
      description: 'Whether `used_amount` has reached `limit_amount`; for `max`, whether it is above.',
    }),
    action: limitRuleFields.action,
    webhook_event: limitRuleFields.webhook_event,
  },
  {
    ...closed,
    description:
      'A limit of a subject or of one above it, and its usage in a window: the current one, unless another was asked for.',
  },
);

/** Upper bound of `at`, Unix seconds: no event occurs later. */
export const LIMITS_AT_MAX = 2 ** 32 - 1;

/** The levels whose limits a snapshot shows. */
export const SNAPSHOT_LEVELS = ['own', 'all'] as const;
export type SnapshotLevels = (typeof SNAPSHOT_LEVELS)[number];

export const RealtimeLimitsQuery = Type.Object(
  {
    ...subjectFields,
    levels: Type.Optional(
      Type.Unsafe<SnapshotLevels>({
        type: 'string',
        enum: [...SNAPSHOT_LEVELS],
        description:
          'Whether to show the limits of the subject alone (`own`, default), or those of all subjects above it too.',
      }),
    ),
    at: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS_AT_MAX,
        description: 'Shows the windows that contain this time, Unix seconds. Default: now.',
      }),
    ),
  },
  closed,
);

export const RealtimeLimits = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    account_id: Nullable(
      Type.String({
        description:
          'Account that pays for the subject, `acct_…`: its own, or the nearest above; null without a route.',
      }),
    ),
    subject_type: SubjectType,
    subject_id: SubjectId,
    rule_account_id: Nullable(
      Type.String({ description: 'The subject route, `ra_…`; null when the subject has none.' }),
    ),
    limits: Type.Array(RealtimeLimit),
    warnings: Warnings,
  },
  { ...closed, description: 'Every limit of a subject, with its usage.' },
);

export const LimitCrossingsQuery = Type.Object({ ...subjectFields, ...PageQuery.properties }, closed);

const { limit_key, plan_id, account_id, account_external_id, level, ...firstFields } =
  RealtimeLimit.properties;
/** Messages are stored as they were sent; those of earlier releases lack some fields. */
export const CrossedLimit = Type.Object(
  {
    ...firstFields,
    ...Type.Partial(Type.Object({ limit_key, plan_id, account_id, account_external_id, level })).properties,
  },
  {
    ...closed,
    description:
      'The limit and its usage at that time. Alerts of earlier releases lack `limit_key`, `plan_id`, `account_id`, ' +
      '`account_external_id` and `level`.',
  },
);

const SEQUENCE =
  'Counts the alerts of one percentage, rule, subject and window, from 1. A recovery has the sequence of the alert that ' +
  'it ends.';
/** The number of an alert, which its recovery shares. */
export const AlertSequence = Type.Integer({ minimum: 1, description: SEQUENCE });

/**
 * `data` of the alerts of limits: `usage_limit.exceeded`, `usage_limit.threshold_reached`, `usage_limit.recovered`, and
 * the names that rules give to their alerts.
 */
export const UsageLimitAlertData = Type.Object(
  {
    ...RealtimeLimit.properties,
    threshold_percent: Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'The percentage of the limit; 100 is the limit itself.',
    }),
    sequence: AlertSequence,
  },
  { ...closed, description: 'A limit whose usage has passed a percentage of it, upwards or downwards.' },
);
export const LimitCrossing = Type.Object(
  {
    id: Type.String({
      description: 'Id of the webhook message of the alert, `msg_…`: the header `webhook-id`.',
    }),
    type: Type.String({
      description:
        'Name of the event, e.g. `usage_limit.exceeded`; `usage_limit.recovered` is the end of an alert.',
    }),
    threshold_percent: Type.Integer({
      description: 'The percentage that usage reached, or fell below; 100 is the limit itself.',
    }),
    sequence: Type.Optional({
      ...AlertSequence,
      description: `${SEQUENCE} Alerts of earlier releases lack it.`,
    }),
    crossed_at: {
      ...UnixSeconds,
      description: 'When usage reached the limit or percentage, or fell below it. Unix seconds.',
    },
    limit: CrossedLimit,
  },
  {
    ...closed,
    description:
      'An alert: a subject has reached a limit or a percentage of it, or has fallen below it again.',
  },
);

export const LimitCrossingPage = Type.Object(
  { crossings: Type.Array(LimitCrossing, { description: 'Newest first.' }), ...pageFields },
  { ...closed, description: 'One page of the limits that a subject has reached.' },
);

export type RealtimeLimit = Static<typeof RealtimeLimit>;
export type RealtimeLimitsQuery = Static<typeof RealtimeLimitsQuery>;
export type RealtimeLimits = Static<typeof RealtimeLimits>;
export type LimitCrossingsQuery = Static<typeof LimitCrossingsQuery>;
export type UsageLimitAlertData = Static<typeof UsageLimitAlertData>;
export type LimitCrossing = Static<typeof LimitCrossing>;
export type LimitCrossingPage = Static<typeof LimitCrossingPage>;

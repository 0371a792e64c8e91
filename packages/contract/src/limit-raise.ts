import { type Static, Type } from 'typebox';
import { closed, DecimalText, decimalInput, Nullable, pageFields, UnixSeconds } from './common.js';
import { limitRuleFields } from './limit-rule.js';
import { USAGE_LIMIT_ANCHOR_S_MAX } from './limits.js';

const REASON_CHARS_MAX = 500;
const Reason = Type.String({
  minLength: 1,
  maxLength: REASON_CHARS_MAX,
  description: 'Why the limit is raised; the audit log shows it.',
});
const LimitKey = {
  ...limitRuleFields.limit_key,
  description: 'Name of the limit: a rule of the limit plan of the route, or a direct limit of the route.',
};
const Until = Type.Integer({
  minimum: 0,
  maximum: USAGE_LIMIT_ANCHOR_S_MAX,
  description: 'When the raise ends by itself, Unix seconds; in the future.',
});

export const CreateLimitRaiseBody = Type.Object(
  {
    limit_key: LimitKey,
    amount: decimalInput('Added to the limit; above 0.'),
    until: Until,
    reason: Reason,
  },
  { ...closed, description: 'A raise of a limit for a time.' },
);

/** Whether a raise still applies. */
export const LIMIT_RAISE_STATUSES = ['active', 'ended'] as const;

export const LimitRaise = Type.Object(
  {
    id: Type.String({ description: 'Id of the raise, `lra_…`.' }),
    tenant_id: Type.String(),
    project_id: Type.String(),
    rule_account_id: Type.String({ description: 'Id of the subject route, `ra_…`.' }),
    limit_key: LimitKey,
    amount: { ...DecimalText, description: 'Added to the limit while the raise is active.' },
    until: Until,
    reason: Reason,
    status: Type.Unsafe<(typeof LIMIT_RAISE_STATUSES)[number]>({
      type: 'string',
      enum: [...LIMIT_RAISE_STATUSES],
    }),
    created_by: Type.String({ description: 'API key that made it, or `service`.' }),
    created_at: UnixSeconds,
    ended_at: Nullable({ ...UnixSeconds, description: 'When it ended; null while it is active.' }),
  },
  { ...closed, description: 'A raise of a limit for a time. Several raises of one limit add up.' },
);

export const LimitRaisePage = Type.Object(
  {
    raises: Type.Array(LimitRaise, { description: 'Newest first, with those that have ended.' }),
    ...pageFields,
  },
  { ...closed, description: 'One page of the raises of a subject route.' },
);

export type CreateLimitRaiseBody = Static<typeof CreateLimitRaiseBody>;
export type LimitRaise = Static<typeof LimitRaise>;
export type LimitRaisePage = Static<typeof LimitRaisePage>;

import { type Static, Type } from 'typebox';
import { closed, Nullable, PageQuery, pageFields, UnixSeconds } from './common.js';
import { LimitRuleInput, limitRuleFields } from './limit-rule.js';
import { IDENTIFIER_CHARS_MAX, SUBJECT_TYPE_PATTERN, USAGE_LIMIT_ANCHOR_S_MAX } from './limits.js';
import { Warnings } from './warnings.js';

/** The day on which a week begins. */
export const WEEK_STARTS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
export type WeekStart = (typeof WEEK_STARTS)[number];

const SubjectType = Type.String({ pattern: SUBJECT_TYPE_PATTERN, description: 'Type of the subject.' });
const SubjectId = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_CHARS_MAX,
  description: 'Id of the subject, or `*`: every subject of the type without a route of its own.',
});
const Id = Type.String({ minLength: 1, maxLength: 64 });
const AccountId = { ...Id, description: 'Billing account of the subject.' };
export const ParentSubject = Type.Object(
  { subject_type: SubjectType, subject_id: Type.String({ ...SubjectId, description: 'Id of the subject.' }) },
  { ...closed, description: 'A subject by its type and id.' },
);
const Parent = Nullable({
  ...ParentSubject,
  description:
    'The subject above, which must have a route, its own or a `*` route. Usage counts in the windows of both. Null for none.',
});
const PlanId = Nullable({
  ...Id,
  description:
    'Usage limit plan that applies to the subject, `ulp_…`. The id of its active version, `ulpv_…`, is accepted too; later ' +
    'revisions apply in both cases.',
});
const Anchor = {
  ...UnixSeconds,
  maximum: USAGE_LIMIT_ANCHOR_S_MAX,
  description: 'Start of the first window of periods that are durations. Default: when the route is created.',
};
const Timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA timezone of the calendar that windows follow. Default: `UTC`.',
});
export const WeekStartSchema = Type.Unsafe<WeekStart>({
  type: 'string',
  enum: [...WEEK_STARTS],
  description: 'Day on which a `week` begins. Default: `monday`.',
});

const settings = {
  account_id: Type.Optional(
    Nullable({
      ...AccountId,
      description:
        'Account of the subject. If left out, a new account is created or, for a subject with a parent, the nearest ' +
        'account above is debited, as with null.',
    }),
  ),
  parent: Type.Optional(Parent),
  usage_limit_plan_id: Type.Optional(PlanId),
  usage_limit_anchor: Type.Optional(Anchor),
  timezone: Type.Optional(Timezone),
  week_start: Type.Optional(WeekStartSchema),
};

export const CreateSubjectRouteBody = Type.Object(
  { subject_type: SubjectType, subject_id: SubjectId, ...settings },
  { ...closed, description: 'A subject, with its account and its limits.' },
);

export const UpdateSubjectRouteBody = Type.Object(
  {
    subject_type: Type.Optional(SubjectType),
    subject_id: Type.Optional(SubjectId),
    ...settings,
    account_id: Type.Optional(
      Nullable({
        ...AccountId,
        description: 'Account of the subject; null leaves it to the parent, where there is one.',
      }),
    ),
  },
  {
    ...closed,
    description:
      'Fields that are left out keep their values; `null` unbinds the limit plan, or removes the parent.',
  },
);

export const SubjectRoute = Type.Object(
  {
    id: Type.String({ description: 'Route id, `ra_…`: the `rule_account_id` of its limits.' }),
    tenant_id: Type.String(),
    project_id: Type.String(),
    subject_type: SubjectType,
    subject_id: SubjectId,
    parent: Parent,
    account_id: Nullable({
      ...Id,
      description:
        'Billing account of the subject; null if it has a parent and no account of its own. Then the nearest account above is debited.',
    }),
    usage_limit_plan_id: PlanId,
    usage_limit_anchor: UnixSeconds,
    timezone: Timezone,
    week_start: WeekStartSchema,
    created_at: UnixSeconds,
    updated_at: UnixSeconds,
  },
  { ...closed, description: 'The account and the limits of a subject.' },
);

export const SavedSubjectRoute = Type.Object(
  { ...SubjectRoute.properties, warnings: Warnings },
  { ...closed, description: 'The subject route as it was saved, with warnings about it.' },
);

export const SubjectRouteListQuery = Type.Object(
  {
    subject_type: Type.Optional(SubjectType),
    subject_id: Type.Optional(SubjectId),
    account_id: Type.Optional({ ...Id, description: 'Only routes to this billing account.' }),
    parent_subject_type: Type.Optional({
      ...SubjectType,
      description: 'Only routes below subjects of this type.',
    }),
    parent_subject_id: Type.Optional({
      ...SubjectId,
      description: 'Only routes below subjects with this id.',
    }),
    usage_limit_plan_id: Type.Optional({
      ...Id,
      description:
        'Only routes bound to this plan, `ulp_…`; the id of any of its versions, `ulpv_…`, is accepted too.',
    }),
    ...PageQuery.properties,
  },
  closed,
);

export const SubjectRoutePage = Type.Object(
  { subject_routes: Type.Array(SubjectRoute), ...pageFields },
  { ...closed, description: 'One page of subject routes.' },
);

/** When a new limit_amount of a direct limit applies. */
export const LIMIT_EFFECTIVE = ['next_window', 'now'] as const;
export type LimitEffective = (typeof LIMIT_EFFECTIVE)[number];

export const UpdateDirectLimitBody = Type.Object(
  {
    ...Type.Partial(LimitRuleInput).properties,
    effective: Type.Optional(
      Type.Unsafe<LimitEffective>({
        type: 'string',
        enum: [...LIMIT_EFFECTIVE],
        description:
          'Whether `limit_amount` applies from the next window on (default), or in the current one already. All other changes ' +
          'apply at once.',
      }),
    ),
  },
  { ...closed, description: 'Fields that are left out keep their values; `null` clears an optional field.' },
);

export const DirectLimit = Type.Object(
  {
    id: Type.String({ description: 'Limit id, `racl_…`.' }),
    tenant_id: Type.String(),
    project_id: Type.String(),
    rule_account_id: Type.String({ description: 'Id of its route.' }),
    ...limitRuleFields,
  },
  {
    ...closed,
    description: 'A limit of a single subject route, in addition to the rules of its limit plan.',
  },
);

export const DirectLimitPage = Type.Object(
  { limits: Type.Array(DirectLimit), ...pageFields },
  { ...closed, description: 'One page of the direct limits of a subject route.' },
);

export type ParentSubject = Static<typeof ParentSubject>;
export type CreateSubjectRouteBody = Static<typeof CreateSubjectRouteBody>;
export type UpdateSubjectRouteBody = Static<typeof UpdateSubjectRouteBody>;
export type SubjectRoute = Static<typeof SubjectRoute>;
export type SavedSubjectRoute = Static<typeof SavedSubjectRoute>;
export type SubjectRouteListQuery = Static<typeof SubjectRouteListQuery>;
export type SubjectRoutePage = Static<typeof SubjectRoutePage>;
export type UpdateDirectLimitBody = Static<typeof UpdateDirectLimitBody>;
export type DirectLimit = Static<typeof DirectLimit>;
export type DirectLimitPage = Static<typeof DirectLimitPage>;

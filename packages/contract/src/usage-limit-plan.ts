import { type Static, Type } from 'typebox';
import {
  closed,
  Nullable,
  PageQuery,
  PublicationStatusSchema,
  pageFields,
  ResourceName,
  UnixSeconds,
} from './common.js';
import { LimitRuleInput, limitRuleFields } from './limit-rule.js';
import { IDENTIFIER_CHARS_MAX, LIMIT_RULES_MAX } from './limits.js';

export const PLAN_NAME_PATTERN = '^[a-z][a-z0-9_-]{0,63}$';
export const PLAN_DESCRIPTION_CHARS_MAX = 2_000;

const PlanName = Type.String({
  pattern: PLAN_NAME_PATTERN,
  description: 'Unique in the project, archived plans included, and never changed.',
});
const Title = { ...ResourceName, description: 'Display title; not blank.' };
const Description = Type.String({
  maxLength: PLAN_DESCRIPTION_CHARS_MAX,
  description: 'Free text; empty for none.',
});
const Rules = Type.Array(LimitRuleInput, {
  maxItems: LIMIT_RULES_MAX,
  description: 'All rules, in the order in which they are shown; each `limit_key` at most once.',
});

export const CreateUsageLimitPlanBody = Type.Object(
  {
    name: PlanName,
    title: Title,
    description: Type.Optional(Description),
    rules: Type.Optional(Rules),
  },
  { ...closed, description: 'A usage limit plan to create; its rules are a draft until it is published.' },
);

export const UpdateUsageLimitPlanBody = Type.Object(
  {
    title: Type.Optional(Title),
    description: Type.Optional(Description),
    rules: Type.Optional({ ...Rules, description: 'Replaces all rules of the draft.' }),
  },
  { ...closed, description: 'Fields that are left out keep their values.' },
);

export const UsageLimitPlanRule = Type.Object(
  {
    id: Type.String({ description: 'Id of the rule in this version, `ulpr_…`.' }),
    plan_version_id: Type.String(),
    ...limitRuleFields,
  },
  { ...closed, description: 'A rule of one version of a usage limit plan.' },
);

export const UsageLimitPlan = Type.Object(
  {
    id: Type.String({ description: 'Plan id, `ulp_…`.' }),
    tenant_id: Type.String(),
    project_id: Type.String(),
    name: PlanName,
    title: { ...Title, description: 'Display title as last saved, also in a draft.' },
    description: Description,
    status: PublicationStatusSchema,
    current_revision: Type.Integer({
      minimum: 0,
      description: 'Last published revision; 0 if the plan was never published.',
    }),
    created_at: UnixSeconds,
    updated_at: UnixSeconds,
  },
  { ...closed, description: 'A usage limit plan, without its rules.' },
);

export const UsageLimitPlanVersion = Type.Object(
  {
    id: Type.String({ description: 'Version id, `ulpv_…`.' }),
    tenant_id: Type.String(),
    project_id: Type.String(),
    plan_id: Type.String(),
    name: PlanName,
    revision: Type.Integer({ minimum: 0, description: '0 for the draft.' }),
    status: {
      ...PublicationStatusSchema,
      description: 'All versions of an archived plan are `archived`.',
    },
    title: Title,
    description: Description,
    published_at: Nullable(UnixSeconds),
    created_at: UnixSeconds,
    updated_at: UnixSeconds,
    rules: Type.Array(UsageLimitPlanRule),
  },
  { ...closed, description: 'One version of a usage limit plan: a published revision, or the draft.' },
);

export const UsageLimitPlanDetail = Type.Object(
  {
    ...UsageLimitPlan.properties,
    published: Nullable(UsageLimitPlanVersion),
    draft: Nullable(UsageLimitPlanVersion),
  },
  { ...closed, description: 'A usage limit plan with its published version and its draft.' },
);

export const UsageLimitPlanListQuery = Type.Object(
  {
    archived: Type.Optional(
      Type.Boolean({
        description: '`true`: archived plans instead of active ones; `published` is then ignored.',
      }),
    ),
    published: Type.Optional(
      Type.Boolean({ description: '`true`: only plans that routes can be bound to now.' }),
    ),
    search: Type.Optional(
      Type.String({
        maxLength: IDENTIFIER_CHARS_MAX,
        description: 'Text to find in the id, name, title or description; case does not matter.',
      }),
    ),
    ...PageQuery.properties,
  },
  closed,
);

export const UsageLimitPlanPage = Type.Object(
  { usage_limit_plans: Type.Array(UsageLimitPlanVersion), ...pageFields },
  { ...closed, description: 'One page of usage limit plans, each shown by one of its versions.' },
);

export const UsageLimitPlanVersionPage = Type.Object(
  { versions: Type.Array(UsageLimitPlanVersion), ...pageFields },
  { ...closed, description: 'One page of the versions of a usage limit plan.' },
);

export type CreateUsageLimitPlanBody = Static<typeof CreateUsageLimitPlanBody>;
export type UpdateUsageLimitPlanBody = Static<typeof UpdateUsageLimitPlanBody>;
export type UsageLimitPlanRule = Static<typeof UsageLimitPlanRule>;
export type UsageLimitPlan = Static<typeof UsageLimitPlan>;
export type UsageLimitPlanVersion = Static<typeof UsageLimitPlanVersion>;
export type UsageLimitPlanDetail = Static<typeof UsageLimitPlanDetail>;
export type UsageLimitPlanListQuery = Static<typeof UsageLimitPlanListQuery>;
export type UsageLimitPlanPage = Static<typeof UsageLimitPlanPage>;
export type UsageLimitPlanVersionPage = Static<typeof UsageLimitPlanVersionPage>;

import { type Static, Type } from 'typebox';
import { PaymentProviderSchema } from './checkout.js';
import { closed, mapOf, Nullable, pageFields, ResourceName, UnixSeconds } from './common.js';
import { IDENTIFIER_CHARS_MAX } from './limits.js';

export const CATALOG_PLAN_ID_PATTERN = '^[a-z][a-z0-9_-]{0,63}$';
/** Value of a subscription plan's limit that stands for no limit. */
export const UNLIMITED = -1;
/** A plan that is agreed on with each buyer: no checkout sells it, regardless of its price. */
export const UNSOLD_PLAN_ID = 'enterprise';
/** The largest price of a plan: the largest amount of a payment. */
export const CATALOG_AMOUNT_MINOR_MAX = 99_999_999;
/** Real currencies, without the custom units in which usage can be priced. */
export const CATALOG_CURRENCY_PATTERN = '^[A-Z]{3}$';
/** The largest limit of a plan. */
export const CATALOG_NUMBER_MAX = 1_000_000_000_000_000;
/** About a hundred years. */
export const CATALOG_DAYS_MAX = 36_500;
/** Days for which history is kept after the last plan that showed it. */
export const HISTORY_GRACE_DAYS = 30;
export const CATALOG_FEATURES_MAX = 32;
export const CATALOG_PLANS_MAX = 100;

const limit = (meaning: string) =>
  Type.Integer({
    minimum: UNLIMITED,
    maximum: CATALOG_NUMBER_MAX,
    description: `${meaning} -1 for no limit.`,
  });

export const PlanFeatures = mapOf(Type.Boolean(), {
  maxProperties: CATALOG_FEATURES_MAX,
  description: 'Included features; a feature that is not listed is not included. `budgets`: budget leases.',
});

/** The allowances of a subscription plan; a tenant's entitlement has the same fields. */
const allowanceFields = {
  monthly_event_limit: limit('Maximum number of events in a calendar month (UTC), repeated ones included.'),
  retention_days: Type.Integer({
    minimum: UNLIMITED,
    maximum: CATALOG_DAYS_MAX,
    description: 'Days for which usage is kept; not 0. -1 for no limit.',
  }),
  max_development_projects: limit('Maximum number of projects of kind `development`.'),
  max_release_projects: limit('Maximum number of projects of kind `release`.'),
  max_subject_routes: limit('Maximum number of subject routes of all projects together.'),
  max_usage_controls: limit(
    'Maximum number of direct limits and rules of limit plans, of all projects together.',
  ),
  requires_release_project_usage_storage: Type.Boolean({
    description: 'Whether a release project gets its own usage storage when it is created.',
  }),
  release_project_usage_storage_dynamic_partition_start: Type.Integer({
    minimum: -CATALOG_DAYS_MAX,
    maximum: 0,
    description: 'Earliest day of usage that is accepted, counted from today: `-90` is 90 days ago.',
  }),
  release_project_usage_storage_dynamic_partition_end: Type.Integer({
    minimum: 0,
    maximum: CATALOG_DAYS_MAX,
    description: 'Latest day of usage that is accepted, counted from today: `3` is in three days.',
  }),
  release_project_usage_storage_create_history_partition: Type.Boolean({
    description: 'Whether partitions of past days are created, too.',
  }),
  features: PlanFeatures,
};

/** A plan as it is described, before it has a revision. */
const offerFields = {
  id: Type.String({ pattern: CATALOG_PLAN_ID_PATTERN, description: 'Plan id, such as `launch`.' }),
  display_name: ResourceName,
  amount_minor: Type.Integer({
    minimum: 0,
    maximum: CATALOG_AMOUNT_MINOR_MAX,
    description: 'Price of one period in minor units of the currency: 1900 is 19.00 USD.',
  }),
  currency: Type.String({ pattern: CATALOG_CURRENCY_PATTERN, description: 'ISO 4217 code.' }),
  period: Type.Literal('month', {
    description: 'One calendar month; from the 31st to the last day of a shorter month.',
  }),
  ...allowanceFields,
};

export const CatalogPlan = Type.Object(
  {
    ...offerFields,
    revision: Type.Integer({ minimum: 1, description: 'Counts the changes of the plan.' }),
    status: Type.Literal('published'),
  },
  { ...closed, description: 'A plan that tenants can have.' },
);
export type CatalogPlan = Static<typeof CatalogPlan>;

export const CatalogPlanList = Type.Object(
  {
    plans: Type.Array(CatalogPlan),
    payment_provider: Nullable({
      ...PaymentProviderSchema,
      description: 'Payment provider; `sandbox` takes no money. Null if this service takes no payments.',
    }),
  },
  { ...closed, description: 'The subscription plans that tenants can have, and the payment provider.' },
);
export type CatalogPlanList = Static<typeof CatalogPlanList>;

export const CatalogOffer = Type.Object(offerFields, {
  ...closed,
  description: 'The content of a plan, without a revision.',
});

export const CatalogFile = Type.Object(
  { plans: Type.Array(CatalogOffer, { minItems: 1, maxItems: CATALOG_PLANS_MAX }) },
  {
    ...closed,
    description: 'The plans of the catalog, as `tollgate catalog apply` sends them.',
  },
);
export type CatalogFile = Static<typeof CatalogFile>;
export type CatalogOffer = Static<typeof CatalogOffer>;

export const ChangedPlan = Type.Object(
  { id: Type.String(), revision: Type.Integer({ description: 'The new revision.' }) },
  { ...closed, description: 'A plan that has a new revision.' },
);

export const AppliedCatalog = Type.Object(
  {
    changed: Type.Array(ChangedPlan, {
      description: 'Plans that are new or differ from their newest revision.',
    }),
    unchanged: Type.Array(Type.String(), { description: 'Ids of the other plans of the file.' }),
  },
  { ...closed, description: 'The plans that got a new revision.' },
);
export type AppliedCatalog = Static<typeof AppliedCatalog>;

export const GrantHeaders = Type.Object({
  'idempotency-key': Type.String({
    minLength: 1,
    maxLength: IDENTIFIER_CHARS_MAX,
    description:
      'A unique key for each grant. Repeating a request with the same key grants nothing more. Scoped to the tenant.',
  }),
});

export const GrantPlanBody = Type.Object(
  { plan_id: Type.String({ minLength: 1, maxLength: 64, description: 'A plan of the catalog.' }) },
  { ...closed, description: 'The plan to grant.' },
);
export type GrantPlanBody = Static<typeof GrantPlanBody>;

export const EntitlementGrant = Type.Object(
  {
    id: Type.String({ description: 'Grant id, `grt_…`.' }),
    tenant_id: Type.String(),
    plan_id: Type.String(),
    revision: Type.Integer({ description: 'Revision of the plan that was granted.' }),
    starts_at: UnixSeconds,
    ends_at: { ...UnixSeconds, description: 'Unix seconds, exclusive: one calendar month after the start.' },
    ended_at: Nullable({
      ...UnixSeconds,
      description:
        'When it ended early, because another plan replaced it or its payment was refunded or disputed; not ' +
        'after its start if it never began. Null otherwise.',
    }),
    source: Type.String({
      description: 'The reason for the grant, such as an order; a reason has at most one grant.',
    }),
    created_at: UnixSeconds,
  },
  { ...closed, description: 'A grant of a subscription plan to a tenant, for a month.' },
);
export type EntitlementGrant = Static<typeof EntitlementGrant>;

export const EntitlementGrantList = Type.Object(
  { grants: Type.Array(EntitlementGrant), ...pageFields },
  { ...closed, description: 'One page of the grants of a tenant.' },
);

export const RebuiltQuotas = Type.Object(
  { corrected: Type.Integer({ description: 'Number of corrected counts, one per tenant and month.' }) },
  { ...closed, description: 'The number of corrected counts.' },
);

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const EntitlementUsage = Type.Object(
  {
    events_this_month: count('Events accepted since the calendar month (UTC) began, repeated ones included.'),
    development_projects: count('Projects of kind `development`.'),
    release_projects: count('Projects of kind `release`.'),
    subject_routes: count('Subject routes of all projects.'),
    usage_controls: count('Direct limits, and rules of usage limit plans, of all projects.'),
  },
  { ...closed, description: 'Usage of a tenant by the limits of its plan.' },
);
export type EntitlementUsage = Static<typeof EntitlementUsage>;

export const EntitlementStatusSchema = Type.Union([Type.Literal('active'), Type.Literal('baseline')], {
  description: '`active` under a grant, otherwise `baseline`.',
});

export const Entitlement = Type.Object(
  {
    tenant_id: Type.String(),
    plan_id: Type.String({
      description: 'Id of the granted subscription plan; `unlimited` or `none` for a tenant without a grant.',
    }),
    revision: Type.Integer({ minimum: 0, description: 'Revision of the granted plan; 0 without a grant.' }),
    status: EntitlementStatusSchema,
    starts_at: Nullable(UnixSeconds),
    ends_at: Nullable({
      ...UnixSeconds,
      description: 'Unix seconds, exclusive: when the current grant ends. Another one may follow.',
    }),
    ...allowanceFields,
    hidden_history_deleted_at: Nullable({
      ...UnixSeconds,
      description: `Time from which hidden history is deleted: history older than the plan shows is hidden at once and kept for ${HISTORY_GRACE_DAYS} days. A plan with a longer retention that begins before then shows it again. Null if there is no hidden history.`,
    }),
    usage: EntitlementUsage,
  },
  { ...closed, description: 'The current allowances of a tenant, and their usage.' },
);
export type Entitlement = Static<typeof Entitlement>;

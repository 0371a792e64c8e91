import { type Static, Type } from 'typebox';
import { closed, Nullable } from './common.js';

/** Differences listed in one report; the rest is only counted. */
export const VERIFY_DIFFERENCES_MAX = 1_000;

export const VerifyDifference = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    day: Type.String({ description: 'UTC day of `occurred_at`, `YYYY-MM-DD`.' }),
    store: Type.String({ description: 'What was compared with the totals of the system of record.' }),
    metric: Nullable(Type.String()),
    unit: Nullable(Type.String()),
    currency: Nullable(Type.String()),
    measure: Type.String(),
    expected: Type.String({ description: 'By the totals of the system of record.' }),
    found: Type.String(),
  },
  closed,
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
  { ...closed, description: 'A sum over all days that were judged, by the system of record.' },
);

export const VerifyReport = Type.Object(
  {
    status: Type.Union([Type.Literal('equal'), Type.Literal('different'), Type.Literal('unsettled')], {
      description:
        '`unsettled`: nothing is known to differ, but some days kept changing, or waited for projection, too long to be judged.',
    }),
    days_compared: Type.Integer({ description: 'Project days that were judged.' }),
    values_compared: Type.Integer({ description: 'Single numbers that were compared.' }),
    difference_count: Type.Integer(),
    differences: Type.Array(VerifyDifference, {
      description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.`,
    }),
    unsettled: Type.Array(Type.Object({ project_id: Type.String(), day: Type.String() }, { ...closed }), {
      description: `Project days that were not judged; up to ${VERIFY_DIFFERENCES_MAX}.`,
    }),
    totals: Type.Array(VerifyTotal, { description: `Up to ${VERIFY_TOTALS_MAX} of them.` }),
    duration_ms: Type.Integer(),
  },
  closed,
);

export type VerifyDifference = Static<typeof VerifyDifference>;
export type VerifyReport = Static<typeof VerifyReport>;
export type VerifyTotal = Static<typeof VerifyTotal>;

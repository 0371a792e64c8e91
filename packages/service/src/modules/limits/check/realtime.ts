import type { Metrics } from '../../../platform/metrics/index.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { Leases } from '../leases/leases.js';
import type { LimitAdmission } from '../rules/admission.js';
import { measureQueues, measureReads } from './group-metrics.js';
import { Crossings } from './recent-alerts.js';
import { SubjectLimits, type SubjectLimitsDeps } from './subject-limits.js';

export interface RealtimeDeps extends SubjectLimitsDeps {
  readonly postgres: Postgres;
  readonly metrics: Metrics;
  readonly admission: Pick<LimitAdmission, 'admitBudgetLease'>;
}

/** Limit status and budget leases: what is used before and during the work. */
export interface RealtimeLimitParts {
  readonly subjectLimits: SubjectLimits;
  readonly crossings: Crossings;
  readonly leases: Leases;
  readonly admission: RealtimeDeps['admission'];
}

export function createRealtimeLimits(deps: RealtimeDeps): RealtimeLimitParts {
  const subjectLimits = new SubjectLimits(deps);
  const leases = new Leases({ ...deps, limits: subjectLimits });
  measureQueues(deps.metrics, { leases: leases.queue, ...subjectLimits.queues });
  measureReads(deps.metrics, subjectLimits.usage);
  return { subjectLimits, crossings: new Crossings(deps.postgres), leases, admission: deps.admission };
}

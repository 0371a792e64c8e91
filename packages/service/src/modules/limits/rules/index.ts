import { LimitCatalog } from './catalog.js';
import { catalogSource } from './catalog-store.js';

export type { AmountChange, AmountTimeline } from './amounts.js';
export { CompiledRoute, EVERY_SUBJECT, LimitRuleIndex, RouteIndex, type SubjectRef } from './route-rules.js';
export type { CompiledRule } from './rule.js';
export { LimitCatalog };

/** After this time at the latest, changes of other processes are effective here. */
export const LIMITS_FRESH_MS = 500;

/** The catalog for requests. */
export function createApiCatalog(monotonicMs?: () => number): LimitCatalog {
  return new LimitCatalog({
    source: catalogSource,
    freshMs: LIMITS_FRESH_MS,
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
  });
}

/** The catalog for a worker: it checks for changes with every call, inside the worker's transaction. */
export function createWorkerCatalog(): LimitCatalog {
  return new LimitCatalog({ source: catalogSource, freshMs: 0 });
}

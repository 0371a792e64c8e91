import { LimitCatalog } from './catalog.js';
import { catalogSource } from './catalog-store.js';

export type { AmountChange, AmountTimeline } from './amounts.js';
export { CompiledRoute, EVERY_SUBJECT, RouteIndex, type SubjectRef } from './route-rules.js';
export type { CompiledRule } from './rule.js';
export { LimitRuleIndex } from './rule-index.js';
export { LimitCatalog };

/** What another process changes counts here after this time at the latest. */
export const LIMITS_FRESH_MS = 500;

/** For requests. */
export function createApiCatalog(monotonicMs?: () => number): LimitCatalog {
  return new LimitCatalog({
    source: catalogSource,
    freshMs: LIMITS_FRESH_MS,
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
  });
}

/** For a worker, which counts by what was in force when its transaction asked. */
export function createWorkerCatalog(): LimitCatalog {
  return new LimitCatalog({ source: catalogSource, freshMs: 0 });
}

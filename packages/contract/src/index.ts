export * from './account-list.js';
export * from './accounts.js';
export * from './analysis.js';
export * from './backtest-result.js';
export * from './boards.js';
export * from './budget-leases.js';
export * from './catalog.js';
export * from './cells.js';
export * from './checkout.js';
export * from './common.js';
export * from './correction-apply.js';
export * from './corrections.js';
export * from './counter-recount.js';
export * from './counters.js';
export * from './error-body.js';
export * from './errors.js';
export * from './extractor-template.js';
export * from './health.js';
export * from './ingest.js';
export * from './ingest-recount.js';
export * from './ingest-status.js';
export * from './lease-holds.js';
export * from './ledger.js';
export * from './limit-backtest.js';
export * from './limit-raise.js';
export * from './limit-rule.js';
export * from './limits.js';
export * from './live.js';
export * from './losses.js';
export * from './measures.js';
export * from './permissions.js';
export * from './pricing-rule-set.js';
export * from './project-settings.js';
export * from './realtime-check.js';
export * from './realtime-limits.js';
export * from './rebuild.js';
export {
  COUNTER_AGGREGATES,
  COUNTER_SCOPES,
  type CounterAggregate,
  type CounterScope,
  Cumulative,
  PricingUnit,
} from './rule-parts.js';
export * from './rule-set.js';
export * from './rule-set-change.js';
export * from './rules-trial.js';
export * from './subject-route.js';
export * from './tenancy.js';
export * from './usage.js';
export * from './usage-event-state.js';
export * from './usage-explanation.js';
export * from './usage-export.js';
export * from './usage-item.js';
export * from './usage-limit-plan.js';
export * from './verify.js';
export * from './warnings.js';
export * from './webhooks.js';

import {
  CounterListQuery,
  CounterPage,
  type CounterView,
  type ExtractorConfig,
  type PricingConfig,
  ProjectParams,
} from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { fromStored, toText } from '../../kernel/decimal.js';
import { memoized } from '../../kernel/maps.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { type App, pageOf } from '../../platform/http/index.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { amountFromText, amountText } from '../ledger/index.js';
import { nextStep, type RuleSets, totalExprOf } from '../rules/index.js';
import { listCounters, type StoredCounter } from './counter-list-store.js';

export interface CounterRouteDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly ruleSets: Pick<RuleSets, 'extractors' | 'pricings'>;
}

/** Registers the route that shows counters. */
export function registerCounterRoutes(app: App, deps: CounterRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/counters',
    config: { access: { kind: 'project', permission: 'usage:read' } },
    schema: {
      tags: ['Usage'],
      summary: 'List counters',
      description:
        'Returns the totals of counters over the period that contains `at`, the amounts so far, and the totals at which prices ' +
        'change next. A counter without usage in this period is not listed.',
      operationId: 'listCounters',
      params: ProjectParams,
      querystring: CounterListQuery,
      response: { 200: CounterPage },
    },
    handler: async ({ project, query }) => {
      const page = pageOf(query);
      const { postgres, clock, ruleSets } = deps;
      const { at = unixSeconds(clock), ...filter } = query;
      const { items, totalCount } = await listCounters(new ProjectDb(postgres.db, project), filter, at, page);
      const configs = new RuleConfigs(ruleSets, project);
      const counters = await Promise.all(items.map((item) => viewOf(item, configs)));
      return { counters, total_count: totalCount, ...page };
    },
  });
}

async function viewOf(stored: StoredCounter, configs: RuleConfigs): Promise<CounterView> {
  const quantity = amountFromText(stored.quantity);
  const totalExpr = totalExprOf(await configs.of(stored), stored.ruleName);
  return {
    counter: stored.counter,
    rule_set_id: stored.ruleSetId,
    subject_type: stored.subjectType || null,
    subject_id: stored.subjectId || null,
    account_id: stored.accountId || null,
    by: stored.by,
    period_start: stored.periodStart,
    period_end: stored.periodEnd,
    quantity: toText(fromStored(quantity)),
    amount: amountText(amountFromText(stored.amount)),
    currency: stored.currency,
    next_step: (totalExpr && nextStep(totalExpr, fromStored(quantity))) || null,
  };
}

/** The configs of rule set versions, each read once. */
class RuleConfigs {
  readonly #ruleSets: CounterRouteDeps['ruleSets'];
  readonly #project: ProjectScope;
  readonly #known = new Map<string, Promise<ExtractorConfig | PricingConfig>>();

  constructor(ruleSets: CounterRouteDeps['ruleSets'], project: ProjectScope) {
    this.#ruleSets = ruleSets;
    this.#project = project;
  }

  of({ ruleSetId, ruleSetVersion }: StoredCounter): Promise<ExtractorConfig | PricingConfig> {
    return memoized(this.#known, `${ruleSetId} ${ruleSetVersion}`, async () => {
      const { extractors, pricings } = this.#ruleSets;
      const service = ruleSetId.startsWith('ers_') ? extractors : pricings;
      return (await service.read(this.#project, ruleSetId, ruleSetVersion)).config;
    });
  }
}

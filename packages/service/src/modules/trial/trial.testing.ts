import { pino } from 'pino';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type Answer, createTestApi, type TestApi } from '../../testing/api.js';
import { everythingKept } from '../../testing/history.js';
import { createRuleSets, registerRuleSetRoutes } from '../rules/index.js';
import { BacktestJobs } from './backtest-jobs.js';
import { createBacktestRating } from './backtest-rating.js';
import type { BacktestSlotBounds } from './backtest-slots.js';
import { type BacktestBounds, Backtests } from './backtests.js';
import { registerBacktestRoutes, registerTestRoutes } from './index.js';
import type { ReplayBounds } from './replay.js';
import { testRules } from './test-rules.js';

/** Tokens of a model, priced by the extractor at 2 USD. */
export const EXTRACTOR = {
  subject: { type_path: 'user.type', id_path: 'user.id' },
  dimensions: [{ name: 'model', path: 'model', type: 'string', required: true }],
  charge_item_extractors: [
    { name: 'tokens', metric: 'llm.tokens', path: 'tokens', type: 'number', unit: 'token' },
    {
      name: 'calls',
      metric: 'llm.calls',
      path: 'calls',
      type: 'number',
      currency: 'EUR',
      unit_price_expr: 'dec("2")',
    },
  ],
};

/** Prices tokens by model. */
export const PRICING = {
  currency: 'USD',
  rules: [
    {
      name: 'large',
      metric: 'llm.tokens',
      match_expr: 'dimensions.model == "large"',
      unit_price_expr: 'dec("0.03")',
    },
    { name: 'other', metric: 'llm.tokens', priority: 1, unit_price_expr: 'dec("0.01")' },
  ],
};

/** The backtests of one process. */
export interface TrialNode {
  readonly backtests: Backtests;
  readonly jobs: BacktestJobs;
}

/** An application that stores rule sets and tests them. */
export interface TestTrial extends TestApi {
  readonly backtests: Backtests;
  readonly jobs: BacktestJobs;
  /** Another node over the same stores. */
  otherNode(): TrialNode;
  /** The id of a rule set with a draft. */
  makeRuleSet(kind: 'extractor' | 'pricing', body: object): Promise<string>;
  publish(kind: 'extractor' | 'pricing', id: string): Promise<void>;
  post(path: string, body: object | string, key?: string): Promise<Answer>;
}

export async function createTestTrial(
  clickhouse: Pick<ClickHouse, 'query'>,
  bounds: Partial<BacktestBounds & BacktestSlotBounds & ReplayBounds> = {},
): Promise<TestTrial> {
  let makeNode: (() => TrialNode) | undefined;
  let node: TrialNode | undefined;
  const api = await createTestApi((app, { postgres, clock }) => {
    const ruleSets = createRuleSets({ postgres, clock });
    makeNode = () => {
      const jobs = new BacktestJobs({ postgres, clock, log: pino({ level: 'silent' }), bounds });
      const rating = createBacktestRating({ ruleSets, postgres, clickhouse, clock, bounds });
      return {
        jobs,
        backtests: new Backtests({ jobs, clickhouse, history: everythingKept, rating, clock, bounds }),
      };
    };
    node = makeNode();
    registerRuleSetRoutes(app, ruleSets);
    registerTestRoutes(app, {
      testRules: (project, rawBody) => testRules({ ruleSets, clock }, project, rawBody),
    });
    registerBacktestRoutes(app, node);
  });
  if (node === undefined || makeNode === undefined) throw new Error('the routes were not registered');
  const { backtests, jobs } = node;
  const base = `/v1/projects/${api.projectId}`;
  const post: TestTrial['post'] = (path, body, key) => api.call('POST', `${base}${path}`, body, key);
  return {
    ...api,
    backtests,
    jobs,
    otherNode: makeNode,
    post,
    makeRuleSet: async (kind, body) => {
      const created = await post(`/${kind}-rule-sets`, body);
      if (created.status !== 201) throw new Error(created.text);
      return created.json().id;
    },
    publish: async (kind, id) => {
      const published = await api.call('POST', `${base}/${kind}-rule-sets/${id}/publish`);
      if (published.status !== 200) throw new Error(published.text);
    },
    close: async () => {
      await jobs.close();
      await api.close();
    },
  };
}

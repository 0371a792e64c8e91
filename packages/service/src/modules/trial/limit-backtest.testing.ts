import type { LimitBacktest, LimitRuleInput } from '@tollgate/contract';
import { pino } from 'pino';
import { rawEventIdText } from '../../kernel/id.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { App } from '../../platform/http/index.js';
import { everythingAdmitted } from '../../testing/admission.js';
import { type Answer, createTestApi, TEST_NOW_S, type TestApi, type TestStores } from '../../testing/api.js';
import { everythingKept } from '../../testing/history.js';
import {
  createTestClickHouse,
  idOf,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
  waitFor,
} from '../../testing/index.js';
import { createApiCatalog, createLimitManagement, registerLimitManagementRoutes } from '../limits/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { BacktestJobs } from './backtest-jobs.js';
import { registerLimitBacktestRoutes } from './limit-backtest-routes.js';
import { LimitBacktests } from './limit-backtests.js';
import { countLimits, type LimitCountingBounds } from './limit-counting.js';

export const HOUR_S = 3_600;
export const DAY_S = 86_400;
/** A midnight in UTC, some days before the clock of the test. */
export const START_S = Math.floor(TEST_NOW_S / DAY_S - 10) * DAY_S;

/** Usage of user `u1`: 1 USD for ten tokens, unless `usage` says otherwise. */
export interface PastTestUsage extends Partial<Omit<UsageEventRow, 'dimensions' | 'items'>> {
  readonly atS: number;
  readonly subject?: string;
  readonly amount?: string;
  readonly quantity?: string;
  readonly dimensions?: Readonly<Record<string, string>>;
}

/** A gate that backtests wait at while it is closed. */
export class BacktestGate {
  #opened = Promise.resolve();
  #open = () => {};

  close(): void {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  pass(): Promise<void> {
    return this.#opened;
  }
}

/** A node that tests limit plans on a history. */
export interface LimitBacktestApi extends TestApi {
  readonly gate: BacktestGate;
  readonly jobs: BacktestJobs;
  /** Adds usage to the history; returns the ids of its events. */
  use(...usage: readonly PastTestUsage[]): Promise<string[]>;
  /** Adds rows to the history. */
  insert(rows: readonly UsageEventRow[]): Promise<void>;
  rowOf(usage: PastTestUsage): UsageEventRow;
  makePlan(rules: readonly Partial<LimitRuleInput>[], isPublished?: boolean): Promise<string>;
  changePlan(planId: string, rules: readonly Partial<LimitRuleInput>[]): Promise<void>;
  makeRoute(subjectId: string, body?: object): Promise<string>;
  send(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object, key?: string): Promise<Answer>;
  /** Tests a plan, ten days from `START_S` on unless the body says otherwise, and returns the end. */
  backtest(planId: string, body?: object): Promise<LimitBacktest>;
  /** The results of that, in short: subject, limit, window, outcome, percentage, hours from `START_S`, usage. */
  results(planId: string, body?: object): Promise<string[]>;
}

export async function createLimitBacktestApi(
  bounds: Partial<LimitCountingBounds> = {},
): Promise<LimitBacktestApi> {
  const store: TestClickHouse = await createTestClickHouse();
  const { clickhouse } = store;
  const gate = new BacktestGate();
  let jobs: BacktestJobs | undefined;
  const api = await createTestApi((app, stores) => {
    jobs = registerAll(app, stores, { clickhouse, gate, bounds });
  });
  const node = jobs;
  if (node === undefined) throw new Error('the routes were not registered');
  const base = `/v1/projects/${api.projectId}`;
  const send: LimitBacktestApi['send'] = (method, path, body, key) =>
    api.call(method, `${base}${path}`, body, key);
  const must = async (method: 'POST' | 'PUT', path: string, body?: object) => {
    const answer = await api.call(method, `${base}${path}`, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.json();
  };
  const rowOf = usageOf(api);
  const insert = (rows: readonly UsageEventRow[]) => insertUsageRows(clickhouse, rows);
  const backtest: LimitBacktestApi['backtest'] = async (planId, body = {}) => {
    const asked = { from: START_S, to: START_S + 10 * DAY_S, ...body };
    const { id } = await must('POST', `/usage-limit-plans/${planId}/backtest`, asked);
    const path = `/usage-limit-plans/${planId}/backtests/${id}`;
    await waitFor(async () => (await send('GET', path)).json().status !== 'running');
    return (await send('GET', path)).json();
  };
  let made = 0;
  return {
    ...api,
    gate,
    jobs: node,
    rowOf,
    insert,
    use: async (...usage) => {
      const rows = usage.map(rowOf);
      await insert(rows);
      return rows.map((row) => rawEventIdText(idOf(row)));
    },
    makePlan: async (rules, isPublished = true) => {
      made += 1;
      const body = { name: `plan-${made}`, title: `Plan ${made}`, rules: rules.map(ruleWith) };
      const { id } = await must('POST', '/usage-limit-plans', body);
      if (isPublished) await must('POST', `/usage-limit-plans/${id}/publish`);
      return id;
    },
    changePlan: (planId, rules) =>
      must('PUT', `/usage-limit-plans/${planId}`, { rules: rules.map(ruleWith) }),
    makeRoute: async (subjectId, body = {}) =>
      (await must('POST', '/subject-routes', { subject_type: 'user', subject_id: subjectId, ...body })).id,
    send,
    backtest,
    results: async (planId, body) => (await backtest(planId, body)).results.map(resultText),
    close: async () => {
      await node.close();
      await api.close();
      await store.drop();
    },
  };
}

interface TestCounting {
  readonly clickhouse: ClickHouse;
  readonly gate: BacktestGate;
  readonly bounds: Partial<LimitCountingBounds>;
}

/** Registers the routes of limits and of their backtests; returns the node's backtests. */
function registerAll(
  app: App,
  { postgres, clock }: TestStores,
  { clickhouse, gate, bounds }: TestCounting,
): BacktestJobs {
  const catalog = createApiCatalog();
  const management = { postgres, clock, catalog, admission: everythingAdmitted };
  registerLimitManagementRoutes(
    app,
    createLimitManagement({ ...management, otherSubjectTypes: async () => undefined }),
  );
  const jobs = new BacktestJobs({ postgres, clock, log: pino({ level: 'silent' }) });
  const deps = { postgres, clickhouse, clock, bounds };
  const limitBacktests = new LimitBacktests({
    ...{ jobs, postgres, clickhouse, history: everythingKept },
    countLimits: async (...work) => {
      await gate.pass();
      return countLimits(deps, ...work);
    },
  });
  registerLimitBacktestRoutes(app, limitBacktests);
  return jobs;
}

function usageOf({ tenantId, projectId }: TestApi) {
  return ({ atS, subject = 'u1', amount = '1', quantity = '10', dimensions = {}, ...row }: PastTestUsage) =>
    usageRow({
      ...{ tenantId, projectId, occurredAt: atS, subjectType: 'user', subjectId: subject },
      dimensions: new Map(Object.entries(dimensions)),
      items: [usageItem({ quantity: stored(quantity), unitPrice: null, amount: stored(amount) })],
      ...row,
    });
}

/** A daily limit of 3 USD, with the given changes. */
function ruleWith(change: Partial<LimitRuleInput>): LimitRuleInput {
  const { period = 'day', ...rule } = change;
  return {
    ...{ limit_key: 'spend', measure: 'amount', selector_type: 'all', currency: 'USD' },
    ...{ limit_amount: '3', action: 'block' },
    ...(change.measure === 'concurrency' ? {} : { period }),
    ...rule,
  };
}

function resultText(result: LimitBacktest['results'][number]): string {
  const { subject_id, limit_key, window_id, outcome, threshold_percent, at, used_amount } = result;
  const { limit_amount } = result;
  const window = window_id.replace(/\d{9,}$/, (start) => `${(Number(start) - START_S) / HOUR_S}h`);
  const hours = (at - START_S) / HOUR_S;
  return `${hours}h ${subject_id} ${outcome} ${limit_key} ${threshold_percent}% ${window} ${used_amount}/${limit_amount}`;
}

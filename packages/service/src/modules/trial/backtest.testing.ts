import type { ProjectRef } from '../../kernel/scope.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { TEST_NOW_S } from '../../testing/api.js';
import {
  createTestClickHouse,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import type { UsageEventRow } from '../usage/index.js';
import type { BacktestSlotBounds } from './backtest-slots.js';
import type { BacktestBounds } from './backtests.js';
import { createTestTrial, EXTRACTOR, PRICING, type TestTrial } from './trial.testing.js';

/** Unix seconds before the first event of the fixture. */
export const FROM = TEST_NOW_S - 1_000;
/** Events of the rule set for small backtests, and of the one for jobs. */
export const EVENTS = 12;
export const JOB_EVENTS = 40;
const AT_ONCE_EVENTS_MAX = 20;

type Json = ReturnType<typeof JSON.parse>;

/** A project with usage of two extractor rule sets, and of others. */
export interface BacktestFixture {
  readonly store: TestClickHouse;
  readonly trial: TestTrial;
  readonly extractorId: string;
  readonly jobExtractorId: string;
  /**
   * Rows of `extractorId`, each with one token more than the one before; priced by PRICING, except for the first two,
   * which cost nothing.
   */
  readonly rows: readonly UsageEventRow[];
  readonly timeRange: { readonly from: number; readonly to: number };
  /** The project as its requests name it. */
  readonly project: ProjectRef;
  /** URL of the list, or of one backtest. */
  url(id?: string): string;
  read(id: string): Promise<Json>;
  /** Requests a backtest of all events, with the given changes. */
  backtest(body: object): Promise<{ readonly httpStatus: number; readonly answer: Json }>;
  /** The id of a running backtest, behind the closed gate. */
  startJob(): Promise<string>;
  /** Makes the pages of backtests wait until `openGate`. */
  closeGate(): void;
  openGate(): void;
  close(): Promise<void>;
}

/** The history, whose pages wait for the gate while it is closed. */
class Gate {
  #opened: Promise<void> = Promise.resolve();
  #open: () => void = () => {};

  close(): void {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  before(clickhouse: ClickHouse): Pick<ClickHouse, 'query'> {
    return {
      query: async (sql, params, options) => {
        // Only pages are read with a signal.
        if (options?.signal !== undefined) await this.#opened;
        options?.signal?.throwIfAborted();
        return clickhouse.query(sql, params, options);
      },
    };
  }
}

export async function openBacktestFixture(
  more: Partial<BacktestBounds & BacktestSlotBounds> = {},
): Promise<BacktestFixture> {
  const gate = new Gate();
  const store = await createTestClickHouse();
  const bounds = { atOnceEventsMax: AT_ONCE_EVENTS_MAX, perTenantMax: 1, pageEventsMax: 5, ...more };
  const trial = await createTestTrial(gate.before(store.clickhouse), bounds);
  const extractorId = await trial.makeRuleSet('extractor', EXTRACTOR);
  const jobExtractorId = await trial.makeRuleSet('extractor', EXTRACTOR);
  const rows = await insertRows(trial, store, extractorId, jobExtractorId);
  const timeRange = { from: FROM, to: TEST_NOW_S };
  const url = (id?: string) =>
    `/v1/projects/${trial.projectId}/rules/backtests${id === undefined ? '' : `/${id}`}`;
  const backtest: BacktestFixture['backtest'] = async (body) => {
    const asked = { extractor_rule_set_id: extractorId, time_range: timeRange, ...body };
    const { status, json } = await trial.post('/rules/backtest', asked);
    return { httpStatus: status, answer: json() };
  };
  return {
    store,
    trial,
    extractorId,
    jobExtractorId,
    rows,
    timeRange,
    project: {
      tenantId: trial.tenantId,
      projectId: trial.projectId,
      projectNo: 1,
      kind: 'release',
      storage: 'shared',
    },
    url,
    read: async (id) => (await trial.call('GET', url(id))).json(),
    backtest,
    startJob: async () => {
      gate.close();
      const asked = { extractor_rule_set_id: jobExtractorId, pricing: PRICING };
      const { httpStatus, answer } = await backtest(asked);
      if (httpStatus !== 202) throw new Error(JSON.stringify(answer));
      return answer.id;
    },
    closeGate: () => gate.close(),
    openGate: () => gate.open(),
    close: async () => {
      gate.open();
      await trial.close();
      await store.drop();
    },
  };
}

async function insertRows(
  { tenantId, projectId }: TestTrial,
  { clickhouse }: TestClickHouse,
  extractorRuleSetId: string,
  jobExtractorRuleSetId: string,
): Promise<UsageEventRow[]> {
  const tokensRow = (tokens: number, amount: string, fields: Parameters<typeof usageRow>[0] = {}) =>
    usageRow({
      tenantId,
      projectId,
      extractorRuleSetId,
      occurredAt: FROM + tokens,
      rawJson: JSON.stringify({ model: tokens % 2 === 0 ? 'large' : 'small', tokens }),
      items: [usageItem({ quantity: stored(String(tokens)), unitPrice: null, amount: stored(amount) })],
      ...fields,
    });
  const cost = (tokens: number) => String((tokens * (tokens % 2 === 0 ? 3 : 1)) / 100);
  const rows = Array.from({ length: EVENTS }, (_, i) => tokensRow(i + 1, i < 2 ? '0' : cost(i + 1)));
  await insertUsageRows(clickhouse, [
    ...rows,
    ...Array.from({ length: JOB_EVENTS }, (_, i) =>
      tokensRow(i + 1, cost(i + 1), { extractorRuleSetId: jobExtractorRuleSetId }),
    ),
    // Neither another project's nor another tenant's events are read.
    tokensRow(50, '1', { projectId: 'prj_other' }),
    tokensRow(50, '1', { tenantId: 'ten_other' }),
  ]);
  return rows;
}

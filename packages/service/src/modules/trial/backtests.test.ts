import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { ProjectRef } from '../../platform/http/index.js';
import { TEST_NOW_S } from '../../testing/api.js';
import {
  createTestClickHouse,
  failedRow,
  idOf,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
  waitFor,
} from '../../testing/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { createTestTrial, EXTRACTOR, PRICING, type TestTrial } from './trial.testing.js';

const FROM = TEST_NOW_S - 1_000;
const EVENTS = 12;
/** Larger ones are jobs. */
const AT_ONCE_EVENTS_MAX = 20;
const JOB_EVENTS = 40;

let store: TestClickHouse;
let trial: TestTrial;
let extractorId: string;
let jobExtractorId: string;
let rows: UsageEventRow[];
/** Holds back what a backtest reads. */
let gate: { readonly opened: Promise<void>; open(): void } | undefined;

const time_range = { from: FROM, to: TEST_NOW_S };

function closeGate(): void {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  gate = { opened, open };
}

/** The history, whose pages wait for the gate. */
function gated(clickhouse: ClickHouse): Pick<ClickHouse, 'query'> {
  return {
    query: async (sql, params, options) => {
      if (sql.includes('bytes_before')) await gate?.opened;
      options?.signal?.throwIfAborted();
      return clickhouse.query(sql, params, options);
    },
  };
}

function tokensRow(tokens: number, amount: string, fields: Partial<UsageEventRow> = {}): UsageEventRow {
  return usageRow({
    tenantId: trial.tenantId,
    projectId: trial.projectId,
    extractorRuleSetId: extractorId,
    occurredAt: FROM + tokens,
    rawJson: JSON.stringify({ model: tokens % 2 === 0 ? 'large' : 'small', tokens }),
    items: [usageItem({ quantity: stored(String(tokens)), unitPrice: null, amount: stored(amount) })],
    ...fields,
  } as Parameters<typeof usageRow>[0]);
}

beforeAll(async () => {
  store = await createTestClickHouse();
  trial = await createTestTrial(gated(store.clickhouse), {
    atOnceEventsMax: AT_ONCE_EVENTS_MAX,
    runningMax: 1,
    pageEventsMax: 5,
  });
  extractorId = await trial.makeRuleSet('extractor', EXTRACTOR);
  jobExtractorId = await trial.makeRuleSet('extractor', EXTRACTOR);
  // As PRICING prices them, but for the first two.
  const cost = (tokens: number) => String((tokens * (tokens % 2 === 0 ? 3 : 1)) / 100);
  rows = Array.from({ length: EVENTS }, (_, i) => tokensRow(i + 1, i < 2 ? '0' : cost(i + 1)));
  await insertUsageRows(store.clickhouse, [
    ...rows,
    ...Array.from({ length: JOB_EVENTS }, (_, i) =>
      tokensRow(i + 1, cost(i + 1), { extractorRuleSetId: jobExtractorId }),
    ),
    // Neither another project's nor another tenant's events are read.
    tokensRow(50, '1', { projectId: 'prj_other' }),
    tokensRow(50, '1', { tenantId: 'ten_other' }),
  ]);
});
afterEach(() => gate?.open());
afterAll(async () => {
  await trial.close();
  await store.drop();
});

/** The project, as its requests name it. */
const project = (): ProjectRef => ({
  tenantId: trial.tenantId,
  projectId: trial.projectId,
  projectNo: 1,
  kind: 'release',
});
const url = (id = '') => `/v1/projects/${trial.projectId}/rules/backtests${id === '' ? '' : `/${id}`}`;
const read = async (id: string) => (await trial.call('GET', url(id))).json();

async function backtest(body: object): Promise<ReturnType<typeof JSON.parse>> {
  const answer = await trial.post('/rules/backtest', {
    extractor_rule_set_id: extractorId,
    time_range,
    ...body,
  });
  const backtest = answer.json();
  expect(answer.status, answer.text).toBe(backtest.status === 'running' ? 202 : 200);
  return backtest;
}

const startJob = async (body: object = {}): Promise<string> => {
  const { id, status } = await backtest({ extractor_rule_set_id: jobExtractorId, pricing: PRICING, ...body });
  expect(status).toBe('running');
  return id;
};

describe('a small backtest', () => {
  it('answers at once what the rules would change', async () => {
    const answer = await backtest({ pricing: PRICING });
    expect(answer).toMatchObject({
      status: 'succeeded',
      progress: { events_done: EVENTS, events_total: EVENTS },
      failure: null,
      request: { extractor_rule_set_id: extractorId, time_range, pricing: PRICING },
    });
    // 1 × 0.01 + 2 × 0.03 was not charged before.
    const quantity = '78';
    expect(answer.result).toMatchObject({
      ...time_range,
      event_count: EVENTS,
      changed_count: EVENTS, // the unit price is told now
      newly_failed: [],
      newly_succeeded: [],
      totals: [
        {
          metric: 'llm.tokens',
          unit: 'token',
          currency: 'USD',
          before: { item_count: EVENTS, quantity, amount: '1.55' },
          after: { item_count: EVENTS, quantity, amount: '1.62' },
        },
      ],
      cut_by: [],
    });
    expect(answer.result.examples.slice(0, 3)).toMatchObject([
      {
        raw_event_id: `evt_${idOf(rows[1] as UsageEventRow)}`,
        occurred_at: FROM + 2,
        currency: 'USD',
        amount_difference: '0.06',
        before: { charge_items: [{ amount: '0' }], charge_item_count: 1, failure: null },
        after: { charge_items: [{ amount: '0.06', rule_name: 'large' }], charge_item_count: 1 },
      },
      { currency: 'USD', amount_difference: '0.01' },
      { currency: null, amount_difference: '0' },
    ]);
  });

  it('gives the same again, and by its id', async () => {
    const first = await backtest({ pricing: PRICING, sample: 0.5 });
    const second = await backtest({ pricing: PRICING, sample: 0.5 });
    expect(second.result).toEqual(first.result);
    expect(second.result.event_count).toBeLessThan(EVENTS);
    expect(await read(first.id)).toMatchObject({ id: first.id, result: first.result });
  });

  it('tells what would newly fail', async () => {
    const extractor = { dimensions: [{ name: 'x', path: 'x', type: 'string', required: true }] };
    const { result } = await backtest({ extractor });
    expect(result).toMatchObject({
      newly_failed: [{ code: 'dimension_missing', count: EVENTS }],
      totals: [{ after: { item_count: 0, quantity: '0', amount: '0' } }],
    });
    expect(result.examples[0]).toMatchObject({
      amount_difference: '-0.36',
      after: { charge_items: [], failure: { code: 'dimension_missing', path: 'dimensions[0]' } },
    });
  });

  it('rates failed events, sent subjects and hints as production would', async () => {
    const id = await trial.makeRuleSet('extractor', EXTRACTOR);
    const of = { tenantId: trial.tenantId, projectId: trial.projectId, extractorRuleSetId: id };
    await insertUsageRows(store.clickhouse, [
      failedRow({ ...of, occurredAt: FROM + 1, rawJson: '{"model": "m", "tokens": 12345678901234567890}' }),
      failedRow({ ...of, occurredAt: FROM + 2, rawJson: '', failureCode: 'processing_failed' }),
      usageRow({
        ...of,
        occurredAt: FROM + 3,
        items: [],
        rawJson: '{"model": "m", "tokens": 1}',
        xBilling: '{"pricing_hints": {"llm.tokens": {"unit_price": 0.1}}}',
        subjectType: 'team',
        subjectId: 't1',
        subjectIsSent: true,
      }),
      usageRow({
        ...of,
        occurredAt: FROM + 4,
        items: [],
        rawJson: '{"model": "m", "tokens": 1}',
        subjectType: 'team',
        subjectId: 't1',
      }),
    ]);
    const extractor = {
      ...EXTRACTOR,
      subject: { type_path: 'user.type', default_type: 'user', id_path: 'user.id', default_id: 'nobody' },
    };
    const pricing = {
      rules: [
        { metric: 'llm.tokens', match_expr: 'subject.id == "nobody"', unit_price_expr: 'dec("3")' },
        { metric: 'llm.tokens', unit_price_expr: 'dec("5")' },
      ],
    };
    const { result } = await backtest({ extractor_rule_set_id: id, extractor, pricing });
    expect(result).toMatchObject({
      event_count: 4,
      changed_count: 3,
      newly_failed: [],
      newly_succeeded: [{ code: 'dimension_missing', count: 1 }],
      totals: [{ before: { item_count: 0 }, after: { item_count: 3, amount: '37037036703703703673.1' } }],
    });
  });

  it('has nothing to say of a range without events', async () => {
    const { result } = await backtest({ time_range: { last_seconds: 5 }, pricing: PRICING });
    expect(result).toMatchObject({ event_count: 0, totals: [], examples: [], cut_by: [] });
  });

  it.each<[object, string, string]>([
    [{ time_range: { from: 5, to: 5 } }, 'invalid_request', 'time_range.to'],
    [{ time_range: {} }, 'invalid_request', 'time_range.from'],
    [{ sample: 0 }, 'invalid_request', 'sample'],
    [{ sample: 1.5 }, 'invalid_request', 'sample'],
    [{ event: {} }, 'invalid_request', 'event'],
    [{ pricing: { currency: 'x' } }, 'invalid_request', 'pricing.currency'],
    [{ pricing_rule_set_id: 'prs_absent' }, 'rule_set_not_found', 'pricing_rule_set_id'],
    [{ extractor_rule_set_id: 'ers_absent' }, 'rule_set_not_found', 'extractor_rule_set_id'],
    [{ extractor_rule_set_id: 'ers_absent', extractor: {} }, 'rule_set_not_found', 'extractor_rule_set_id'],
  ])('is refused: %j', async (body, code, path) => {
    const answer = await trial.post('/rules/backtest', {
      extractor_rule_set_id: extractorId,
      time_range,
      ...body,
    });
    expect(answer.status, answer.text).toBe(400);
    const { details, ...rest } = answer.json();
    expect([rest.code, details[0].path]).toEqual([code, path]);
  });
});

describe('a large backtest', () => {
  it('answers 202, shows its progress, then its result', async () => {
    closeGate();
    const id = await startJob();
    expect(await read(id)).toMatchObject({
      status: 'running',
      progress: { events_done: 0, events_total: JOB_EVENTS },
      result: null,
      finished_at: null,
    });
    expect(trial.backtests.runningCount).toBe(1);
    gate?.open();
    await waitFor(async () => (await read(id)).status !== 'running');
    expect(await read(id)).toMatchObject({
      status: 'succeeded',
      progress: { events_done: JOB_EVENTS, events_total: JOB_EVENTS },
      result: { event_count: JOB_EVENTS },
      finished_at: TEST_NOW_S,
    });
    expect(trial.backtests.runningCount).toBe(0);
  });

  it('is the only one of its project, on every node; and few run on one node', async () => {
    closeGate();
    const id = await startJob();
    const again = { extractor_rule_set_id: extractorId, time_range };
    await expect(trial.otherNode().start(project(), again)).rejects.toMatchObject({
      code: 'backtest_running',
    });
    const here = await trial.post('/rules/backtest', again);
    expect([here.status, here.json().code]).toEqual([503, 'server_busy']);
    gate?.open();
    await waitFor(async () => (await read(id)).status === 'succeeded');
    expect((await backtest({})).status).toBe('succeeded');
  });

  it('is cancelled on request, and stays so', async () => {
    closeGate();
    const id = await startJob();
    const cancelled = await trial.call('DELETE', url(id));
    expect([cancelled.status, cancelled.json().status]).toEqual([200, 'cancelled']);
    gate?.open();
    await waitFor(() => trial.backtests.runningCount === 0);
    expect(await read(id)).toMatchObject({ status: 'cancelled', result: null, failure: null });
    expect((await trial.call('DELETE', url(id))).json().status).toBe('cancelled');
  });

  it('is cancelled through another node', async () => {
    closeGate();
    const id = await startJob();
    const node = trial.otherNode();
    expect((await node.cancel(project(), id)).status).toBe('cancelled');
    trial.clock.advanceMs(2_000); // it looks once in a while
    gate?.open();
    await waitFor(() => trial.backtests.runningCount === 0);
    expect((await read(id)).status).toBe('cancelled');
  });

  it('fails as interrupted, for all to see, when its node is killed', async () => {
    closeGate();
    const id = await startJob();
    // The node is gone: nothing of it goes on, and nothing is said any more.
    trial.clock.advanceMs(59_000);
    expect((await read(id)).status).toBe('running');
    trial.clock.advanceMs(2_000);
    expect(await trial.otherNode().read(project(), id)).toMatchObject({
      status: 'failed',
      failure: { code: 'interrupted' },
    });
    // Should it have been only slow, its result comes too late.
    gate?.open();
    await waitFor(() => trial.backtests.runningCount === 0);
    expect((await read(id)).status).toBe('failed');
  });

  it('fails as interrupted when its node stops', async () => {
    closeGate();
    const node = trial.otherNode();
    const { id } = await node.start(project(), { extractor_rule_set_id: jobExtractorId, time_range });
    const closing = node.close();
    gate?.open();
    await closing;
    expect(await read(id)).toMatchObject({ status: 'failed', failure: { code: 'interrupted' } });
    await expect(
      node.start(project(), { extractor_rule_set_id: jobExtractorId, time_range }),
    ).rejects.toMatchObject({
      code: 'shutting_down',
    });
  });
});

describe('backtests', () => {
  it('are listed newest first, without what was asked and found', async () => {
    const { id } = await backtest({});
    const { backtests, total_count: count } = (await trial.call('GET', `${url()}?limit=2`)).json();
    expect(count).toBeGreaterThan(2);
    expect(backtests).toHaveLength(2);
    expect(backtests[0]).toMatchObject({ id, status: 'succeeded' });
    expect(backtests[0]).not.toHaveProperty('result');
    expect(backtests[0]).not.toHaveProperty('request');
  });

  it("are a project's own: a foreign id is byte for byte an absent one", async () => {
    const { id } = await backtest({});
    const other = await trial.makeProject(await trial.makeTenant());
    for (const method of ['GET', 'DELETE'] as const) {
      const foreign = await trial.call(method, `/v1/projects/${other}/rules/backtests/${id}`);
      const absent = await trial.call(method, `/v1/projects/${other}/rules/backtests/bt_absent`);
      expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    }
    expect((await trial.call('GET', `/v1/projects/${other}/rules/backtests`)).json().backtests).toEqual([]);
    expect((await read(id)).status).toBe('succeeded');
  });

  it('need both permissions: to read rules, and to read usage', async () => {
    for (const permission of ['rules:read', 'usage:read'] as const) {
      const key = await trial.makeKey(trial.tenantId, [permission]);
      expect((await trial.call('GET', url(), undefined, key)).status).toBe(403);
    }
    const key = await trial.makeKey(trial.tenantId, ['rules:write', 'usage:read']);
    expect((await trial.call('GET', url(), undefined, key)).status).toBe(200);
  });

  it('are forgotten after some days', async () => {
    const { id } = await backtest({});
    trial.clock.advanceMs(8 * 86_400_000);
    expect((await trial.call('GET', url(id))).status).toBe(404);
    await backtest({});
    const { rows: left } = await trial.postgres.pool.query('select id from backtests');
    expect(left).toHaveLength(1);
  });
});

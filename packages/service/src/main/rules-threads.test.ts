import type { ExtractorRuleSetInput } from '@tollgate/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.js';
import type { ProjectRef } from '../kernel/scope.js';
import { createRuleSets, EXTRACTOR_KIND } from '../modules/rules/index.js';
import { type BacktestWork, testRules } from '../modules/trial/index.js';
import type { RuleQuestion } from '../modules/usage/index.js';
import { createTestPostgres, TestTimers, waitFor } from '../testing/index.js';
import { RulesThreads, type RulesThreadsDeps } from './rules-threads.js';

/**
 * Replaces the work of a rules thread by the actions that the body of a test names, and by queries for a
 * backtest.
 */
const SCRIPT = `
  import { serveJobs } from '${new URL('../../dist/platform/threads/index.js', import.meta.url).href}';
  const doings = {
    answer: () => ({ charge_items: [] }),
    spin: () => { for (;;); },
    exit: () => process.exit(1),
  };
  serveJobs({
    testRules: async ({ rawBody }) => doings[Buffer.from(rawBody).toString()](),
    answerRules: async (questions) => questions.map(() => ({ aliases: [], totalPrice: null })),
    rateBacktest: async ({ request }, call) => {
      const text = await call('query', { sql: request.extractor_rule_set_id, params: {} });
      await call('progress', 7);
      return text;
    },
  });`;
const BUILT = new URL('../../dist/main/rules-thread.js', import.meta.url);

let threads: RulesThreads;
afterEach(() => threads.close());

function open(deps: Partial<RulesThreadsDeps> = {}): void {
  threads = new RulesThreads({
    postgresConnection: '',
    clickhouse: { queryText: () => Promise.reject(new Error('nothing is asked')) },
    logLevel: 'silent',
    program: new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`),
    ...deps,
  });
}

const projectOf = (tenantId: string): ProjectRef => ({
  tenantId,
  projectId: `prj_${tenantId}`,
  projectNo: 1,
  kind: 'release',
  storage: 'shared',
});
const test = (doing: string, tenantId = 'ten_a') =>
  threads.testRules(projectOf(tenantId), Buffer.from(doing));

describe('a test of rules', () => {
  it('that takes too long is refused, naming the time, and the next one runs', async () => {
    const timers = new TestTimers();
    open({ startTimer: timers.start });
    const refused = expect(test('spin')).rejects.toMatchObject({
      code: 'rules_time_limit_exceeded',
      message: expect.stringContaining('within 30 seconds'),
      retryAfterS: 5,
    });
    await waitFor(() => timers.started.length === 1);
    timers.started[0]?.end();
    await refused;
    expect(timers.started[0]?.ms).toBe(30_000);
    expect(await test('answer')).toEqual({ charge_items: [] });
  });

  it('whose thread ends fails alone, and the next one runs', async () => {
    open();
    const failing = expect(test('exit')).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('ended unexpectedly; nothing was stored'),
    });
    expect(await test('answer', 'ten_b')).toEqual({ charge_items: [] });
    await failing;
    expect(await test('answer')).toEqual({ charge_items: [] });
  });

  it('is refused when sixteen of its tenant wait', async () => {
    open();
    const tests = Array.from({ length: 17 }, () => test('answer'));
    await expect(test('answer')).rejects.toMatchObject({
      code: 'server_busy',
      message: expect.stringContaining('waiting to be checked (at most 16)'),
    });
    expect(await test('answer', 'ten_b')).toEqual({ charge_items: [] });
    expect(await Promise.all(tests)).toHaveLength(17);
  });
});

/** Asks which alias made a rule of `chars` characters match. */
function aliasQuestion(chars: number): RuleQuestion {
  const never = ' || dimensions.model == "y"';
  return {
    config: { aliases: [{ dimension: 'model', pattern: 'x-*', value: 'x' }] },
    rule: {
      metric: 'm',
      match_expr: `dimensions.model == "x"${never.repeat(Math.ceil(chars / never.length))}`,
    },
    item: {
      ...{ metric: 'm', unit: null, quantity: '1', subject: undefined, occurredAt: 1 },
      dimensions: { model: 'x-1' },
      dimensionTypes: [{ name: 'model', type: 'string' }],
    },
  };
}
const FOUND = {
  aliases: [{ dimension: 'model', from: 'x-1', pattern: 'x-*', value: 'x' }],
  totalPrice: null,
};
const NONE = { aliases: [], totalPrice: null };

describe('the aliases of an event', () => {
  it('are found here for short conditions, and on a thread for long ones together', async () => {
    open();
    const answer = (...questions: RuleQuestion[]) => threads.answerRules(projectOf('ten_a'), questions);
    expect(await answer(aliasQuestion(100))).toEqual([FOUND]);
    // The thread of these tests finds no alias.
    expect(await answer(...Array(50).fill(aliasQuestion(100)))).toEqual(Array(50).fill(NONE));
  });
});

describe('a backtest', () => {
  const work = (tenantId: string, sql: string) =>
    ({ project: projectOf(tenantId), request: { extractor_rule_set_id: sql } }) as BacktestWork;
  const never = new AbortController().signal;

  it('reads through this thread, and says that it is alive while it waits for its own', async () => {
    let openGate = () => {};
    const opened = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const queries: string[] = [];
    open({
      clickhouse: {
        queryText: async (sql) => {
          queries.push(sql);
          await opened;
          return `rows of ${sql}`;
        },
      },
    });
    const { backtestRating } = threads;
    const first = backtestRating.rate(work('ten_a', 'first'), never, async () => {});
    await waitFor(() => queries.length === 1);
    const progress: number[] = [];
    const second = backtestRating.rate(work('ten_a', 'second'), never, async (done) => {
      progress.push(done);
    });
    await waitFor(() => progress.length > 0);
    expect([progress[0], queries]).toEqual([0, ['first']]);
    // Tests wait for no backtest, not even for their own tenant's.
    expect(await test('answer')).toEqual({ charge_items: [] });
    openGate();
    expect([await first, await second]).toEqual(['rows of first', 'rows of second']);
    expect(progress.at(-1)).toBe(7);
  });

  it('ends with the reason of its signal, and so does what it reads', async () => {
    let ended: unknown;
    open({
      clickhouse: {
        queryText: (_sql, _params, { signal } = {}) =>
          new Promise((_, reject) => {
            signal?.addEventListener('abort', () => {
              ended = signal.reason;
              reject(signal.reason);
            });
            abort.abort('enough');
          }),
      },
    });
    const abort = new AbortController();
    const rated = threads.backtestRating.rate(work('ten_a', 'first'), abort.signal, async () => {});
    await expect(rated).rejects.toBe('enough');
    expect(ended).toBe('enough');
  });
});

describe('the thread as it is built', () => {
  it('tests and checks rules as this thread would', async () => {
    const store = await createTestPostgres();
    try {
      open({ program: BUILT, postgresConnection: store.connectionString });
      const reading = (path: string): ExtractorRuleSetInput => ({
        charge_item_extractors: [{ metric: 'm', path, type: 'number' }],
      });
      const body = `{"extractor": ${JSON.stringify(reading('n'))}, "event": {"raw_json": {"n": 0.123456789012345678}}}`;
      const tested = await test(body);
      expect(tested.charge_items).toMatchObject([{ metric: 'm', quantity: '0.123456789012345678' }]);
      const ruleSets = createRuleSets({ postgres: store.postgres, clock: systemClock });
      expect(tested).toEqual(
        await testRules({ ruleSets, clock: systemClock }, projectOf('ten_a'), Buffer.from(body)),
      );

      const check = (input: ExtractorRuleSetInput) =>
        threads.checkConfig(projectOf('ten_a'), EXTRACTOR_KIND, input);
      expect(await check(reading('n'))).toEqual(EXTRACTOR_KIND.checkedConfig(reading('n')));
      const questions = [1_000, 1_500, 2_000].map(aliasQuestion);
      expect(await threads.answerRules(projectOf('ten_a'), questions)).toEqual([FOUND, FOUND, FOUND]);
      await expect(check(reading('$['))).rejects.toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'charge_item_extractors[0].path' }],
      });
    } finally {
      await threads.close();
      await store.drop();
    }
  });
});

import { workerData } from 'node:worker_threads';
import type { ExtractorRuleSetInput, PricingRuleSetInput } from '@tollgate/contract';
import { systemClock } from '../kernel/clock.js';
import { createRuleSets, EXTRACTOR_KIND, PRICING_KIND } from '../modules/rules/index.js';
import { countLimits, createBacktestRating, testRules, unpricedFinder } from '../modules/trial/index.js';
import { createLog } from '../platform/log/index.js';
import { connectPostgres } from '../platform/postgres/index.js';
import { type Call, serveJobs } from '../platform/threads/index.js';
import { clickHouseBehind } from './clickhouse-calls.js';
import { yieldThisThread } from './priority.js';
import { answersOf } from './rule-answers.js';
import type { RulesCalls, RulesJobs, RulesThreadData } from './rules-jobs.js';

/** Compiles and tests rules without delaying other requests. It only reads, and can be stopped at any time. */

const data = workerData as RulesThreadData;
const log = createLog({ level: data.logLevel, role: 'api' });
yieldThisThread(log, data.niceness);
const postgres = connectPostgres({
  connection: data.postgresConnection,
  applicationName: 'tollgate rules',
  // One job at a time, one query at a time.
  poolMax: 1,
  log,
});
const clock = systemClock;
const ruleSets = createRuleSets({ postgres, clock });
const findUnpriced = unpricedFinder(ruleSets);
/** Jobs do not abort: a job that is no longer needed is stopped with its thread. */
const { signal } = new AbortController();

const backtestRating = (call: Call<RulesCalls>) =>
  createBacktestRating({ ruleSets, postgres, clock, clickhouse: clickHouseBehind(call) });

serveJobs<RulesJobs, RulesCalls>({
  checkConfig: async ({ kind, input }) =>
    kind === 'extractor'
      ? EXTRACTOR_KIND.checkedConfig(input as ExtractorRuleSetInput)
      : PRICING_KIND.checkedConfig(input as PricingRuleSetInput),
  testRules: ({ project, rawBody }) => testRules({ ruleSets, clock }, project, asBuffer(rawBody)),
  answerRules: async (questions) => answersOf(questions),
  findUnpriced: ({ project, stored, extractor }) => findUnpriced(project, stored, extractor),
  checkBacktest: ({ project, request }, call) =>
    backtestRating(call)
      .check(project, request)
      .then(() => undefined),
  rateBacktest: (work, call) =>
    backtestRating(call).rate(work, signal, (eventsDone) => call('progress', eventsDone)),
  countLimits: (work, call) =>
    countLimits({ postgres, clock, clickhouse: clickHouseBehind(call) }, work, signal, (eventsDone) =>
      call('progress', eventsDone),
    ),
});

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

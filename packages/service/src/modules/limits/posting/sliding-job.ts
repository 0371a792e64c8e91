import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import type { Logger } from '../../../platform/log/index.js';
import { type Postgres, type Tx, transaction } from '../../../platform/postgres/index.js';
import { createSweepJob, inBatches, type SweepJob } from '../../../platform/sweep-job.js';
import { emit } from '../../webhooks/index.js';
import type { LimitCatalog } from '../rules/catalog.js';
import type { CompiledRoute } from '../rules/route-rules.js';
import { SLIDING_WINDOW, settleSliding } from '../windows/sliding.js';
import { readEndedSteps, type SlidingKey } from '../windows/sliding-store.js';
import { emptySum, subjectRef, type WindowSum, withoutUsage } from '../windows/subject-usage.js';
import { AccountDebits } from './debits.js';
import { lockPosting } from './store.js';

/** Steps that one transaction drops at most. Few, because the batches of their projects wait meanwhile. */
const STEPS_PER_TRANSACTION = 100;
const POLL_MS = 10_000;

export interface SlidingWindowDeps {
  readonly postgres: Postgres;
  readonly catalog: Pick<LimitCatalog, 'read'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Drops steps of sliding windows that do not count any more, and sends the alerts that are due because usage has fallen
 * by this. Batches do the same for the subjects of their events, so this is for subjects that are idle. A sweep returns
 * the number of windows that it has changed.
 */
export function createSlidingWindowJob({ postgres, catalog, clock, log }: SlidingWindowDeps): SweepJob {
  const settleNext = () => transaction(postgres, (tx) => settleSome(tx, catalog, clock));
  return createSweepJob({
    // A window may have many of the steps, so that less than a full batch says nothing: the last one finds none.
    sweep: (signal) => inBatches(1, settleNext, signal),
    pollMs: POLL_MS,
    log,
    failureMessage: 'could not drop the steps of sliding windows that have ended; will try again',
  });
}

async function settleSome(tx: Tx, catalog: SlidingWindowDeps['catalog'], clock: Clock): Promise<number> {
  const ended = await readEndedSteps(tx, unixSeconds(clock), STEPS_PER_TRANSACTION);
  if (ended.length === 0) return 0;
  await lockPosting(
    tx,
    ended.map(({ usage }) => usage.scope.projectNo),
  );
  const nowMs = clock.nowMs();
  const routes = await catalog.read(
    tx,
    ended.map(({ usage }) => subjectRef(usage)),
  );
  const windows = ended.map((key) => {
    const { scope, subject } = key.usage;
    return { ...key, sum: sumOf(key, routes.resolve(scope.projectId, subject.type, subject.id), nowMs) };
  });
  await emit(tx, await settleSliding(tx, windows, nowMs));
  return ended.length;
}

/** Returns the window of a rule that its subject still has, without usage. */
function sumOf(
  { usage: { scope, subject }, ruleNo }: SlidingKey,
  route: CompiledRoute | undefined,
  nowMs: number,
): WindowSum | undefined {
  const rule = route?.rules.rules.find((other) => other.ruleNo === ruleNo && other.period.kind === 'sliding');
  if (route === undefined || rule === undefined) return undefined;
  const account = new AccountDebits(route.account.id, scope, nowMs);
  return emptySum(withoutUsage({ scope, subject, route, account }), rule, SLIDING_WINDOW);
}

import { memoized } from '../../../kernel/maps.js';
import type { TimeWindow, UsageWindowPeriod } from '../../../kernel/period.js';
import { present, sumOrNone } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import type { WebhookEvent } from '../../webhooks/index.js';
import type { CompiledRule } from '../rules/index.js';
import { alertEvents } from './alert-events.js';
import { readOpenAlerts } from './alert-store.js';
import type { ChangedWindow } from './current-windows.js';
import {
  addToSteps,
  readSlidingUse,
  type SlidingKey,
  type SlidingStep,
  settleSteps,
} from './sliding-store.js';
import { emptySum, type SubjectUsage, takeSums, type WindowSum } from './subject-usage.js';
import { reachedPercents } from './threshold-crossing.js';

/** Lower bound of the steps in which the usage of a sliding window is kept. Windows have at most twice as many. */
export const SLIDING_STEPS_MIN = 60;

/** The window under which alerts of sliding windows are recorded: there is one for each rule and subject. */
export const SLIDING_WINDOW: TimeWindow = { startS: 0, endS: undefined };

/** Returns the step of a sliding window that contains an instant. Unix seconds. */
export function slidingStepAt({ durationS }: Pick<UsageWindowPeriod, 'durationS'>, atS: number) {
  const sizeS = Math.floor(durationS / SLIDING_STEPS_MIN);
  const startS = Math.floor(atS / sizeS) * sizeS;
  return { startS, endS: startS + sizeS };
}

/** Returns the Unix second from which a step does not count any more: as long as its last second does, it counts. */
export function countsUntil({ durationS }: Pick<UsageWindowPeriod, 'durationS'>, { endS }: { endS: number }) {
  return endS - 1 + durationS;
}

export interface SlidingBatch {
  readonly subjects: readonly SubjectUsage[];
  readonly nowMs: number;
  /** Returns the present limits × 10^18 of windows, without raises. */
  readonly limitsOf: (windows: readonly WindowSum[]) => Promise<(window: WindowSum) => bigint>;
}

/** The usage that a batch adds to the sliding window of a rule and subject. */
interface SlidingUsage extends SlidingKey {
  readonly sum: WindowSum;
  readonly steps: SlidingStep[];
}

/**
 * Adds usage to the steps of sliding windows; returns the alerts to send. A step counts as long as its last second
 * does, so usage is never counted too short. Usage that is ahead of now counts when its time has come.
 *
 * Windows slide without usage, so alerts that ended before the batch are ended first: usage that rises again is then
 * alerted again. The caller holds the posting lock.
 */
export async function countSliding(
  tx: Tx,
  { subjects, nowMs, limitsOf }: SlidingBatch,
): Promise<WebhookEvent[]> {
  const nowS = Math.floor(nowMs / 1_000);
  const windows = subjects
    .filter(({ route }) => route.rules.hasSliding)
    .flatMap((usage) => slidingUsage(usage, nowS));
  if (windows.length === 0) return [];
  const limitOf = await limitsOf(windows.map(({ sum }) => sum));
  await settleSteps(tx, windows, nowS);
  const before = await readSlidingUse(tx, windows, nowS);
  await addToSteps(
    tx,
    windows.flatMap(({ steps }) => steps),
    { nowMs, nowS },
  );
  const after = await readSlidingUse(tx, windows, nowS);
  return movedAlerts(
    tx,
    windows.map(({ sum }, index) => ({
      ...{ sum, limit: limitOf(sum) },
      before: present(before[index], 'the usage of a sliding window'),
      after: present(after[index], 'the usage of a sliding window'),
    })),
    nowMs,
  );
}

/**
 * Drops the steps of sliding windows that do not count any more; returns the alerts that their usage has passed since
 * the latest batch. A window whose rule is not one of its subject any more has no `sum`, and no alert. The caller holds
 * the posting lock, and has read the routes under it.
 */
export async function settleSliding(
  tx: Tx,
  windows: readonly (SlidingKey & { readonly sum: WindowSum | undefined })[],
  nowMs: number,
): Promise<WebhookEvent[]> {
  const nowS = Math.floor(nowMs / 1_000);
  await settleSteps(tx, windows, nowS);
  const sums = windows.map(({ sum }) => sum).filter((sum) => sum !== undefined);
  if (sums.length === 0) return [];
  const used = await readSlidingUse(tx, sums.map(keyOf), nowS);
  return movedAlerts(
    tx,
    sums.map((sum, index) => {
      const now = present(used[index], 'the usage of a sliding window');
      return { sum, limit: sum.usage.route.limitFor(sum.rule, sum.window), before: now, after: now };
    }),
    nowMs,
  );
}

/** A sliding window, with its limit × 10^18 without raises, and its usage × 10^18 now: without and with the batch. */
export interface MovedWindow {
  readonly sum: WindowSum;
  readonly limit: bigint;
  readonly before: bigint;
  readonly after: bigint;
}

/** Records the alerts that windows have passed, and returns their events: first those that ended before the batch. */
async function movedAlerts(tx: Tx, windows: readonly MovedWindow[], nowMs: number): Promise<WebhookEvent[]> {
  const open = await readOpenAlerts(
    tx,
    windows.map(({ sum: { usage, rule } }) => ({
      projectNo: usage.scope.projectNo,
      subject: usage.subject,
      ruleNo: rule.ruleNo,
    })),
  );
  const changes = windows.map((window, index) =>
    slidingChanges(window, present(open[index], 'the open alerts of a sliding window'), nowMs),
  );
  const ended = await alertEvents(
    tx,
    changes.map(([fallen]) => fallen),
    nowMs,
  );
  const begun = await alertEvents(
    tx,
    changes.map(([, changed]) => changed),
    nowMs,
  );
  return [...ended, ...begun];
}

const keyOf = ({ usage, rule }: WindowSum): SlidingKey => ({ usage, ruleNo: rule.ruleNo });

/** Sums the usage of a subject by rule and step. Usage that is ahead has a row for each second. */
function slidingUsage(usage: SubjectUsage, nowS: number): SlidingUsage[] {
  const byRule = new Map<CompiledRule, Map<string, SlidingStep>>();
  for (const { rule, window, used } of takeSums(usage, 'sliding')) {
    if (used === 0n || rule.period.kind !== 'sliding') continue;
    const atS = window.startS;
    const step = slidingStepAt(rule.period, atS);
    const countsFromS = atS > nowS ? atS : step.startS;
    const countsUntilS = countsUntil(rule.period, step);
    const steps = memoized(byRule, rule, () => new Map<string, SlidingStep>());
    const key = `${step.startS} ${countsFromS}`;
    const known = sumOrNone(steps.get(key)?.used);
    steps.set(key, { usage, ruleNo: rule.ruleNo, ...step, countsFromS, countsUntilS, used: known + used });
  }
  return [...byRule].map(([rule, steps]) => ({
    ...{ usage, ruleNo: rule.ruleNo, sum: emptySum(usage, rule, SLIDING_WINDOW) },
    steps: [...steps.values()],
  }));
}

/**
 * Returns what fell before the batch, and what the batch has changed.
 *
 * @param open the percentages whose alerts were sent and have not ended
 */
export function slidingChanges(
  { sum, limit, before, after }: MovedWindow,
  open: readonly number[],
  nowMs: number,
): [fallen: ChangedWindow, changed: ChangedWindow] {
  const { rule, usage } = sum;
  const raised = usage.route.raiseFor(rule, SLIDING_WINDOW, nowMs);
  const reachedBefore = reachedPercents(rule, limit + raised, before);
  const reachedAfter = reachedPercents(rule, limit + raised, after);
  const fallen = open.filter((percent) => !reachedBefore.includes(percent));
  const stillOpen = open.filter((percent) => reachedBefore.includes(percent));
  const window = { sum, limit, raised, next: undefined };
  return [
    { ...window, used: before, reached: [], recovered: fallen },
    {
      ...window,
      used: after,
      reached: reachedAfter.filter((percent) => !stillOpen.includes(percent)),
      recovered: stillOpen.filter((percent) => !reachedAfter.includes(percent)),
    },
  ];
}

import { add, ZERO } from '../../kernel/decimal.js';
import { groupBy } from '../../kernel/maps.js';
import { windowAt } from '../../kernel/period.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import {
  type ActiveLimitRule,
  type ActiveRule,
  type ActiveRules,
  type CountedWindow,
  countsValues,
  slidingStepAt,
} from '../limits/index.js';
import type { OwnTables } from '../storage/index.js';
import { safelyAfter, safelyBefore } from './change-margin.js';
import { decimalOf } from './compare.js';
import type { WindowBounds } from './posting-tally.js';
import { periodOf } from './stored-period.js';
import { readWindowUse, type SubjectUse, type WindowUsageScope } from './window-history-store.js';
import { readValueBounds } from './window-value-store.js';

/** A window compared with the history. */
export interface ReadWindow {
  readonly window: CountedWindow;
  /** Since when its rule has been the same for the subject; undefined when the rule does not apply any more. */
  readonly sinceMs: number | undefined;
  readonly bounds: WindowBounds;
}

export interface WindowReading {
  readonly read: readonly ReadWindow[];
  /** Windows that were left out because there are too many. */
  readonly leftOut: number;
}

/** Upper bound of the queries for windows; those of one rule and span share one. */
const GROUPS_MAX = 500;
/** Upper bound of the marks of one query. */
const MARKS_MAX = 2_000;

/**
 * Reads from the history what each of the windows had to count, the latest windows first. Windows that do not keep all
 * of their values are left out.
 */
export async function readWindows(
  clickhouse: Pick<ClickHouse, 'query'>,
  own: readonly OwnTables[],
  windows: readonly CountedWindow[],
  rules: ActiveRules | undefined,
): Promise<WindowReading> {
  const whole = windows.filter(({ isPartial }) => !isPartial);
  const groups = groupsOf(whole.map((window) => planned(window, rules?.of(window, window.ruleNo))));
  const read: ReadWindow[] = [];
  for (const group of groups.slice(0, GROUPS_MAX)) read.push(...(await readGroup(clickhouse, own, group)));
  return { read, leftOut: windows.length - read.length };
}

/** A window with the times that decide how it is judged. */
interface PlannedWindow {
  readonly window: CountedWindow;
  readonly rule: ActiveLimitRule | undefined;
  readonly sinceMs: number | undefined;
  /** Usage processed before this time does not count, whichever rule was active. Unix milliseconds. */
  readonly fromMs: number;
  /**
   * Usage that the rule selects counts when it was processed from here on; usage between the two times may or
   * may not count.
   */
  readonly certainMs: number;
}

/**
 * A window counts nothing that was processed before it was opened, or before its rule was the same as now if it was
 * opened later.
 */
function planned(window: CountedWindow, counting: ActiveRule | undefined): PlannedWindow {
  const { openedAtMs } = window;
  if (counting === undefined || !isPlacedBy(counting, window)) {
    const fromMs = safelyBefore(openedAtMs);
    return {
      window,
      rule: undefined,
      sinceMs: counting?.sinceMs,
      fromMs,
      certainMs: Number.POSITIVE_INFINITY,
    };
  }
  const { rule, sinceMs } = counting;
  const fromMs = safelyBefore(Math.min(openedAtMs, sinceMs));
  return { window, rule, sinceMs, fromMs, certainMs: safelyAfter(sinceMs) };
}

/** Whether usage still falls into the window: the route may have moved the windows of its rules. */
function isPlacedBy({ rule, route }: ActiveRule, { startS, endS }: CountedWindow): boolean {
  const period = periodOf(rule.period);
  // A window that opened before one of the future ends where that begins.
  if (period.kind === 'first_use') return endS !== null && endS <= startS + period.durationS;
  if (period.kind === 'sliding') {
    const step = slidingStepAt(period, startS);
    return step.startS === startS && step.endS === endS;
  }
  const placed = windowAt(period, route.settings, startS);
  return placed.startS === startS && (placed.endS ?? null) === endS;
}

async function readGroup(
  clickhouse: Pick<ClickHouse, 'query'>,
  own: readonly OwnTables[],
  group: readonly PlannedWindow[],
): Promise<ReadWindow[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { window, rule } = first;
  const { tenantId, projectId, subjectType, measure, of, currency } = window;
  const selection = rule ?? { measure, of, currency };
  const marksMs = marksOf(group);
  if (countsValues(window)) {
    const scope = { tenantId, projectId, subjectType, selection, marksMs };
    return readValueGroup(clickhouse, own, scope, group);
  }
  const uses = await readWindowUse(
    clickhouse,
    own,
    { tenantId, projectId, subjectType, selection, marksMs },
    window,
  );
  const ofSubject = groupBy(uses, ({ subjectId }) => subjectId);
  return group.map((plan) => ({
    window: plan.window,
    sinceMs: plan.sinceMs,
    bounds: boundsOf(plan, ofSubject.get(plan.window.subjectId) ?? []),
  }));
}

async function readValueGroup(
  clickhouse: Pick<ClickHouse, 'query'>,
  own: readonly OwnTables[],
  scope: WindowUsageScope,
  group: readonly PlannedWindow[],
): Promise<ReadWindow[]> {
  const subjects = group.map(({ window, fromMs, certainMs }) => ({
    subjectId: window.subjectId,
    ...{ startS: window.startS, endS: window.endS, fromMs, certainMs },
  }));
  const bounds = await readValueBounds(clickhouse, own, scope, subjects);
  return group.map(({ window, sinceMs }) => ({
    ...{ window, sinceMs },
    bounds: bounds.get(window.subjectId) ?? NO_USAGE,
  }));
}

const NO_USAGE: WindowBounds = { certain: ZERO, gained: ZERO, lost: ZERO };

function boundsOf({ fromMs, certainMs }: PlannedWindow, uses: readonly SubjectUse[]): WindowBounds {
  let certain = ZERO;
  let gained = ZERO;
  let lost = ZERO;
  for (const use of uses) {
    const markMs = Number(use.markMs);
    if (markMs >= certainMs) certain = add(certain, decimalOf(use.selected));
    else if (markMs >= fromMs) {
      gained = add(gained, decimalOf(use.gained));
      lost = add(lost, decimalOf(use.lost));
    }
  }
  return { certain, gained, lost };
}

function marksOf(group: readonly PlannedWindow[]): number[] {
  const marks = group.flatMap(({ fromMs, certainMs }) => [fromMs, certainMs]);
  return [...new Set(marks.filter(Number.isFinite))].sort((a, b) => a - b);
}

/** Groups windows that one query can read. */
function groupsOf(windows: readonly PlannedWindow[]): PlannedWindow[][] {
  const groups = groupBy(windows, ({ window, rule }) => {
    const { projectId, subjectType, ruleNo, startS, endS } = window;
    return JSON.stringify([projectId, subjectType, ruleNo, startS, endS, rule !== undefined]);
  });
  return [...groups.values()]
    .flatMap(chunksOf)
    .sort(([a], [b]) => (b?.window.startS ?? 0) - (a?.window.startS ?? 0));
}

function chunksOf(group: readonly PlannedWindow[]): PlannedWindow[][] {
  const chunks: PlannedWindow[][] = [];
  let marks = new Set<number>();
  for (const plan of group) {
    if (chunks.length === 0 || marks.size >= MARKS_MAX) {
      chunks.push([]);
      marks = new Set();
    }
    marks.add(plan.fromMs).add(plan.certainMs);
    chunks.at(-1)?.push(plan);
  }
  return chunks;
}

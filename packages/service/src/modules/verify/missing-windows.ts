import { add, compare, type Decimal, isZero, ZERO } from '../../kernel/decimal.js';
import { groupBy } from '../../kernel/maps.js';
import { type Period, type WindowSettings, windowAt } from '../../kernel/period.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type ActiveRule, type ActiveRules, countsValues, type WindowKey } from '../limits/index.js';
import type { OwnTables } from '../storage/index.js';
import { safelyAfter } from './change-margin.js';
import { decimalOf } from './compare.js';
import { fixedPeriodOf } from './stored-period.js';
import { readUsageSpans, readWindowUses, type UsageSpan, type WindowUse } from './window-history-store.js';

/** A window that the history has usage for. */
export interface WindowWithUsage extends WindowKey {
  readonly tenantId: string;
  readonly currency: string;
  readonly sinceMs: number;
  readonly used: Decimal;
}

export interface MissingReading {
  /** Windows that were never opened. */
  readonly missing: readonly WindowWithUsage[];
  /** Number of rules whose windows were looked for, and of those left out because there are too many. */
  readonly rules: number;
  readonly leftOut: number;
}

export interface MissingWindowsDeps {
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly own: readonly OwnTables[];
  readonly rules: ActiveRules;
  /** Returns the Unix second from which the history of a project is complete. */
  readonly completeFromS: (projectId: string) => number;
  /** Returns the windows that were never opened. */
  readonly absent: (windows: readonly WindowWithUsage[]) => Promise<readonly WindowWithUsage[]>;
}

/** Upper bound of the rules of routes that are checked, which bounds the memory. */
const RULES_MAX = 200_000;
/** Upper bound of the queries for rules; routes with the same windows share one. */
const GROUPS_MAX = 200;
/** Upper bound of the routes of one query, which bounds its marks. */
const ROUTES_MAX = 1_000;
/** Upper bound of the windows of each rule, newest first: a month of hours. */
const WINDOWS_PER_RULE_MAX = 750;
/**
 * Upper bound of the rows of one query, which bounds the memory; with more, the query is repeated for fewer windows.
 */
const ROWS_MAX = 100_000;
/** Upper bound of the differences: more of them would not help. */
const MISSING_MAX = 10_000;

/**
 * Reads from the history which windows must exist, and then whether they do: windows of active rules with usage that
 * was certainly processed since the rules have been the same. Rules whose windows begin with usage are left out: the
 * history does not have the order in which usage was counted.
 */
export async function readMissingWindows(deps: MissingWindowsDeps): Promise<MissingReading> {
  const spans = new Map(
    (await readUsageSpans(deps.clickhouse, deps.own)).map((span) => [span.projectId, span]),
  );
  const activeRules: PlacedRule[] = [];
  let total = 0;
  for (const counting of deps.rules.all()) {
    if (!spans.has(counting.route.projectId)) continue;
    total++;
    const period = fixedPeriodOf(counting.rule.period);
    if (period !== undefined && activeRules.length < RULES_MAX) activeRules.push({ ...counting, period });
  }
  const missing: WindowWithUsage[] = [];
  let looked = 0;
  for (const group of groupsOf(activeRules).slice(0, GROUPS_MAX)) {
    if (missing.length >= MISSING_MAX) break;
    const span = group[0] && spans.get(group[0].route.projectId);
    if (span === undefined) continue;
    missing.push(...(await deps.absent(await readGroup(deps, group, span))));
    looked += group.length;
  }
  return { missing, rules: looked, leftOut: total - looked };
}

/** A rule with the period that determines where its windows are. */
interface PlacedRule extends ActiveRule {
  readonly period: Period;
}

async function readGroup(
  { clickhouse, own, rules, completeFromS }: MissingWindowsDeps,
  group: readonly PlacedRule[],
  span: UsageSpan,
): Promise<WindowWithUsage[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { tenantId, projectId, subjectType } = first.route;
  const changesMs = [...group.map(({ sinceMs }) => sinceMs), ...rules.routeChangesOf(projectId)];
  const marksMs = [...new Set(changesMs.map(safelyAfter))].sort((a, b) => a - b);
  const scope = { tenantId, projectId, subjectType, selection: first.rule, marksMs };
  let startsS = startsOf(first, span, completeFromS(projectId));
  while (startsS.length > 0) {
    const uses = await readWindowUses(clickhouse, own, scope, startsS, ROWS_MAX);
    if (uses.length <= ROWS_MAX) return neededBy(uses, group, rules);
    startsS = startsS.slice(Math.ceil(startsS.length / 2));
  }
  return [];
}

/** Returns the windows that have usage which a rule of the group counts, processed since the rule has been the same. */
function neededBy(
  uses: readonly WindowUse[],
  group: readonly ActiveRule[],
  rules: ActiveRules,
): WindowWithUsage[] {
  const [first] = group;
  if (first === undefined) return [];
  const {
    rule,
    route: { tenantId, projectId, subjectType },
  } = first;
  const { ruleNo, currency } = rule;
  const routes = new Set(group.map(({ route }) => route.routeId));
  const needed = new Map<string, WindowWithUsage>();
  for (const { subjectId, startS, markMs, selected } of uses) {
    const counting = rules.of({ projectId, subjectType, subjectId }, ruleNo);
    if (counting === undefined || !routes.has(counting.route.routeId)) continue;
    const { sinceMs } = counting;
    if (Number(markMs) < safelyAfter(sinceMs)) continue;
    const window = { projectId, subjectType, subjectId, ruleNo, startS: Number(startS) };
    const key = `${startS} ${subjectId}`;
    const used = add(needed.get(key)?.used ?? ZERO, decimalOf(selected));
    needed.set(key, { ...window, tenantId, currency, sinceMs, used });
  }
  // A window of values exists once more of them were counted than taken back: then at least one value is in force.
  const isNeeded = countsValues(rule)
    ? ({ used }: WindowWithUsage) => compare(used, ZERO) > 0
    : ({ used }: WindowWithUsage) => !isZero(used);
  return [...needed.values()].filter(isNeeded);
}

/** Returns where the newest windows of the span start, ascending; none begins before the history that is kept. */
function startsOf({ period, route }: PlacedRule, { fromS, toS }: UsageSpan, completeFromS: number): number[] {
  const starts: number[] = [];
  let window = windowAt(period, route.settings, toS);
  while (starts.length < WINDOWS_PER_RULE_MAX && window.startS >= completeFromS) {
    starts.push(window.startS);
    if (window.endS === undefined || window.startS <= fromS) break;
    window = windowAt(period, route.settings, window.startS - 1);
  }
  return starts.reverse();
}

/** Groups rules of routes that one query can read. */
function groupsOf(activeRules: readonly PlacedRule[]): PlacedRule[][] {
  const groups = groupBy(activeRules, ({ rule, period, route: { projectId, subjectType, settings } }) =>
    JSON.stringify([projectId, subjectType, rule.ruleNo, placeOf(period, settings)]),
  );
  return [...groups.values()].flatMap((group) => {
    const chunks: PlacedRule[][] = [];
    for (let at = 0; at < group.length; at += ROUTES_MAX) chunks.push(group.slice(at, at + ROUTES_MAX));
    return chunks;
  });
}

/** Returns the settings that determine the windows of a period. */
function placeOf(period: Period, { timezone, weekStart, anchorS }: WindowSettings): unknown {
  if (period.kind === 'lifetime') return null;
  return period.kind === 'calendar' ? [timezone, weekStart] : [timezone, anchorS];
}

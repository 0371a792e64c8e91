import { add, type Decimal, isZero, ZERO } from '../../kernel/decimal.js';
import { groupBy } from '../../kernel/group-by.js';
import { type Period, parsePeriod, type WindowSettings, windowAt } from '../../kernel/period.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { RuleInForce, RulesInForce, WindowKey } from '../limits/index.js';
import type { OwnTables } from '../storage/index.js';
import { surelyAfter } from './change-margin.js';
import { decimalOf } from './compare.js';
import { readUsageSpans, readWindowUses, type UsageSpan } from './window-history-store.js';

/** A window that the history has usage for. */
export interface NeededWindow extends WindowKey {
  readonly tenantId: string;
  readonly currency: string;
  readonly sinceMs: number;
  readonly used: Decimal;
}

export interface NeedReading {
  readonly needed: readonly NeededWindow[];
  /** Rules of routes whose windows were looked for, and those that were not because there are too many. */
  readonly rules: number;
  readonly leftOut: number;
}

/** Queries that rules may take; routes whose windows lie alike share one. */
const GROUPS_MAX = 200;
/** Routes of one query: a bound on its marks. */
const ROUTES_MAX = 1_000;
/** The newest windows of each rule: a month of hours. */
const WINDOWS_PER_RULE_MAX = 750;
/** Windows that one query may answer: a bound on memory. */
const ROWS_MAX = 100_000;

/**
 * Asks the history which windows there must be: those of rules in force with usage that was surely processed since they are.
 *
 * @param completeFromS from when on the history of a project is complete, Unix seconds
 */
export async function readNeededWindows(
  clickhouse: Pick<ClickHouse, 'query'>,
  own: readonly OwnTables[],
  rules: RulesInForce,
  completeFromS: (projectId: string) => number,
): Promise<NeedReading> {
  const spans = new Map((await readUsageSpans(clickhouse, own)).map((span) => [span.projectId, span]));
  const inForce = rules.all().filter(({ route }) => spans.has(route.projectId));
  const groups = groupsOf(inForce);
  const needed: NeededWindow[] = [];
  let looked = 0;
  for (const group of groups.slice(0, GROUPS_MAX)) {
    const [first] = group;
    const span = first && spans.get(first.route.projectId);
    if (first === undefined || span === undefined) continue;
    const startsS = startsOf(first, span, completeFromS(span.projectId));
    const found = startsS.length === 0 ? [] : await readGroup(clickhouse, own, rules, group, startsS);
    if (found === undefined) continue;
    needed.push(...found);
    looked += group.length;
  }
  return { needed, rules: looked, leftOut: inForce.length - looked };
}

/** @returns undefined when there are too many */
async function readGroup(
  clickhouse: Pick<ClickHouse, 'query'>,
  own: readonly OwnTables[],
  rules: RulesInForce,
  group: readonly RuleInForce[],
  startsS: readonly number[],
): Promise<NeededWindow[] | undefined> {
  const [first] = group;
  if (first === undefined) return [];
  const { route, rule } = first;
  const { tenantId, projectId, subjectType } = route;
  const changesMs = [...group.map(({ sinceMs }) => sinceMs), ...rules.handoversOf(projectId)];
  const marksMs = [...new Set(changesMs.map(surelyAfter))].sort((a, b) => a - b);
  const scope = { tenantId, projectId, subjectType, selection: rule, marksMs };
  const uses = await readWindowUses(clickhouse, own, scope, startsS, ROWS_MAX);
  if (uses.length > ROWS_MAX) return undefined;
  const routes = new Set(group.map((member) => member.route.routeId));
  const needed = new Map<string, NeededWindow>();
  for (const { subjectId, startS, markMs, selected } of uses) {
    const counting = rules.of({ projectId, subjectType, subjectId }, rule.ruleNo);
    if (counting === undefined || !routes.has(counting.route.routeId)) continue;
    const { sinceMs } = counting;
    if (Number(markMs) < surelyAfter(sinceMs)) continue;
    const window = { projectId, subjectType, subjectId, ruleNo: rule.ruleNo, startS: Number(startS) };
    const key = `${startS} ${subjectId}`;
    const used = add(needed.get(key)?.used ?? ZERO, decimalOf(selected));
    needed.set(key, { ...window, tenantId, currency: rule.currency, sinceMs, used });
  }
  return [...needed.values()].filter(({ used }) => !isZero(used));
}

/** Where the newest windows of the span start, rising; none begins before what is kept. */
function startsOf({ rule, route }: RuleInForce, { fromS, toS }: UsageSpan, completeFromS: number): number[] {
  const period = periodOf(rule.period);
  const starts: number[] = [];
  let window = windowAt(period, route.settings, toS);
  while (starts.length < WINDOWS_PER_RULE_MAX && window.startS >= completeFromS) {
    starts.push(window.startS);
    if (window.endS === undefined || window.startS <= fromS) break;
    window = windowAt(period, route.settings, window.startS - 1);
  }
  return starts.reverse();
}

function periodOf(text: string): Period {
  const period = parsePeriod(text);
  if (period === undefined) throw new Error(`a limit was stored with the period ${text}`);
  return period;
}

/** Rules of routes that one query answers. */
function groupsOf(inForce: readonly RuleInForce[]): RuleInForce[][] {
  const groups = groupBy(inForce, ({ rule, route: { projectId, subjectType, settings } }) =>
    JSON.stringify([projectId, subjectType, rule.ruleNo, placeOf(periodOf(rule.period), settings)]),
  );
  return [...groups.values()].flatMap((group) => {
    const chunks: RuleInForce[][] = [];
    for (let at = 0; at < group.length; at += ROUTES_MAX) chunks.push(group.slice(at, at + ROUTES_MAX));
    return chunks;
  });
}

/** What decides where windows of a period lie. */
function placeOf(period: Period, { timezone, weekStart, anchorS }: WindowSettings): unknown {
  if (period.kind === 'lifetime') return null;
  return period.kind === 'calendar' ? [timezone, weekStart] : [timezone, anchorS];
}

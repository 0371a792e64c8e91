import { ONE_STORED } from '../../../kernel/decimal.js';
import { memoized } from '../../../kernel/maps.js';
import {
  type Period,
  type TimeWindow,
  type UsageWindowPeriod,
  type WindowSettings,
  windowAt,
  windowContains,
} from '../../../kernel/period.js';
import { countOrNone } from '../../../kernel/present.js';
import type { PastUsageItem } from '../../usage/index.js';
import type { OpenRule } from '../check/limit-status.js';
import type { AccountDebits } from '../posting/debits.js';
import type { CountedUsage, PostingScope } from '../posting/rated-usage.js';
import type { CompiledRoute, CompiledRule, LimitRuleIndex, SubjectRef } from '../rules/index.js';
import type { LimitedSubject } from '../rules/route-rules.js';
import { addValue, type CountedValues, countedValueOf, countsValues } from './counted-values.js';

/** The sum that one batch adds to one window of a subject. */
export interface WindowSum extends OpenRule {
  readonly usage: SubjectUsage;
  /**
   * × 10^18, of an amount, a quantity or a count, as the rule measures. For a rule that counts values, see
   * `window-values.ts`.
   */
  used: bigint;
  /** The values of a rule that counts them; undefined for other rules, and without usage. */
  values: CountedValues | undefined;
  /** Whether it opens a `first_use` window; before these are placed, whether it has usage that could open one. */
  opens: boolean;
}

/** A subject that has a route, with what one batch adds to its windows. */
export interface SubjectUsage {
  readonly scope: PostingScope;
  readonly subject: LimitedSubject;
  readonly route: CompiledRoute;
  readonly account: AccountDebits;
  /** The levels above, the nearest first. Their subjects are in `parents`, as rows have them. */
  readonly above: readonly SubjectUsage[];
  readonly parents: readonly LimitedSubject[];
  /** For each rule of the route, at the rule's place: the window that the latest event fell into. */
  readonly latest: (WindowSum | undefined)[];
  /** All windows by rule and start, once a rule has more than one. */
  all: Map<string, WindowSum> | undefined;
}

/** Returns a subject to whose windows nothing is added yet. */
export function withoutUsage(
  { scope, subject, route, account }: Pick<SubjectUsage, 'scope' | 'subject' | 'route' | 'account'>,
  { above, parents }: Pick<SubjectUsage, 'above' | 'parents'> = NO_LEVELS,
): SubjectUsage {
  return { scope, subject, route, account, above, parents, latest: [], all: undefined };
}

const NO_LEVELS = { above: [], parents: [] };

/** Returns the reference by which the catalog finds the subject's route. */
export function subjectRef({ scope, subject }: Pick<SubjectUsage, 'scope' | 'subject'>): SubjectRef {
  return { projectId: scope.projectId, subjectType: subject.type, subjectId: subject.id };
}

/** Whether anything is to be added to windows. */
export function hasWindowSums({ latest, all }: SubjectUsage): boolean {
  const isAny = (sum: WindowSum | undefined) =>
    sum !== undefined && (sum.used !== 0n || sum.values !== undefined);
  return all === undefined ? latest.some(isAny) : [...all.values()].some(isAny);
}

/**
 * Returns the sums to add to windows, those of a rule in ascending time; sums of 0 are left out, unless they have
 * values, which the window may have counted before.
 */
export function windowSums({ latest, all }: SubjectUsage): WindowSum[] {
  if (all === undefined) return latest.filter(isCounted);
  return [...all.values()].filter(isCounted).sort((a, b) => a.window.startS - b.window.startS);
}

function isCounted(sum: WindowSum | undefined): sum is WindowSum {
  return sum !== undefined && (sum.used !== 0n || sum.opens || sum.values !== undefined);
}

/** Returns the sums whose rules count values. Their `used` is known only after the stored values were read. */
export function valueSums(usage: SubjectUsage): WindowSum[] {
  return allSums(usage).filter(({ values }) => values !== undefined);
}

/** Removes the sums of rules of a kind, each of one second, and returns them in ascending time. */
export function takeSums(usage: SubjectUsage, kind: UsageWindowPeriod['kind']): WindowSum[] {
  const all = allSums(usage);
  const isTaken = ({ rule }: WindowSum) => rule.period.kind === kind;
  usage.all = new Map(all.filter((sum) => !isTaken(sum)).map((sum) => [sumKey(sum), sum]));
  return all.filter(isTaken).sort((a, b) => a.window.startS - b.window.startS);
}

/** Removes all sums, and returns them. */
export function takeAllSums(usage: SubjectUsage): WindowSum[] {
  const all = allSums(usage);
  usage.latest.length = 0;
  usage.all = undefined;
  return all;
}

/** Returns the sums of all windows. */
function allSums({ latest, all }: SubjectUsage): WindowSum[] {
  return all === undefined ? latest.filter((sum) => sum !== undefined) : [...all.values()];
}

/**
 * Counts charge items against the rules of their subjects, for one batch. It runs for every charge item and rule, so
 * subjects share the functions that visit their rules, and an event in the same window as the one before, the usual
 * case, costs one comparison.
 */
export class UsageCounter {
  readonly #windows = new CalendarWindows();
  readonly #places = new Map<LimitRuleIndex, ReadonlyMap<CompiledRule, number>>();
  readonly #alerts = new Map<string, number>();
  #at: Counting | undefined;

  /** Returns how many alerts the windows that a tenant's events have opened here can send; each window can send one. */
  alertsOf(tenantId: string): number {
    return countOrNone(this.#alerts.get(tenantId));
  }

  /** Counts the charge items of an event of the subject in all windows that they fall into. */
  add(usage: SubjectUsage, event: CountedUsage): void {
    const { rules } = usage.route;
    const places = this.#placesOf(rules);
    for (const item of event.items) {
      this.#at = { usage, event, item, places };
      rules.visit(item.metric, this.#textOf, this.#count);
    }
  }

  readonly #textOf = (dimension: string): string | undefined => this.#at?.event.dimensions.get(dimension);

  readonly #count = (rule: CompiledRule): void => {
    if (this.#at === undefined) return;
    const { event, item } = this.#at;
    if (rule.measure === 'amount' && item.currency !== rule.currency) return;
    const value = countsValues(rule) ? countedValueOf(rule, event, item) : undefined;
    if (value === undefined && countsValues(rule)) return;
    const sum = this.#sumOf(rule, this.#at);
    if (value === undefined) sum.used += usedOf(rule, event, item);
    else addValue(sum, value, event.isReversal === true ? -1 : 1);
    if (rule.period.kind === 'first_use')
      sum.opens ||= event.isReversal !== true && event.isRestored !== true;
  };

  #sumOf(rule: CompiledRule, { usage, event, places }: Counting): WindowSum {
    const place = places.get(rule);
    // Stops the batch: with the place of another rule, the usage would count against another limit.
    if (place === undefined) throw new Error(`rule ${rule.ruleNo} does not belong to its route`);
    let sum = usage.latest[place];
    if (sum === undefined || !windowContains(sum.window, event.occurredAt)) {
      sum = this.#open(usage, rule, event.occurredAt, sum);
      usage.latest[place] = sum;
    }
    return sum;
  }

  /** @param latest the latest window of the rule, if there was one */
  #open(usage: SubjectUsage, rule: CompiledRule, atS: number, latest: WindowSum | undefined): WindowSum {
    const window = this.#windows.at(rule, usage.route.settings, atS);
    if (latest === undefined && usage.all === undefined) return this.#begin(usage, rule, window);
    usage.all ??= new Map(usage.latest.flatMap((sum) => (sum === undefined ? [] : [[sumKey(sum), sum]])));
    const known = usage.all.get(sumKey({ rule, window }));
    if (known !== undefined) return known;
    const sum = this.#begin(usage, rule, window);
    usage.all.set(sumKey(sum), sum);
    return sum;
  }

  #begin(usage: SubjectUsage, rule: CompiledRule, window: TimeWindow): WindowSum {
    const { tenantId } = usage.scope;
    this.#alerts.set(tenantId, this.alertsOf(tenantId) + rule.notifyAt.length + 1);
    return emptySum(usage, rule, window);
  }

  #placesOf(rules: LimitRuleIndex): ReadonlyMap<CompiledRule, number> {
    let places = this.#places.get(rules);
    if (places === undefined) {
      places = new Map(rules.rules.map((rule, place) => [rule, place]));
      this.#places.set(rules, places);
    }
    return places;
  }
}

/** Returns a sum to which nothing was added. */
export function emptySum(usage: SubjectUsage, rule: CompiledRule, window: TimeWindow): WindowSum {
  return { usage, rule, window, used: 0n, values: undefined, opens: false };
}

/** Returns what a charge item adds to a window × 10^18. */
function usedOf({ measure }: CompiledRule, { isReversal }: CountedUsage, item: PastUsageItem): bigint {
  if (measure === 'amount') return item.amount;
  if (measure === 'quantity') return item.quantity;
  // A remainder of a correction is an amount, and not counted.
  if (item.source === 'correction') return 0n;
  return isReversal === true ? -ONE_STORED : ONE_STORED;
}

/** The event and subject that are being counted. */
interface Counting {
  readonly usage: SubjectUsage;
  readonly event: CountedUsage;
  readonly item: PastUsageItem;
  readonly places: ReadonlyMap<CompiledRule, number>;
}

/** Identifies the sum of a window among those of its subject. */
export function sumKey({ rule, window }: Pick<WindowSum, 'rule' | 'window'>): string {
  return `${rule.ruleNo} ${window.startS}`;
}

type CalendarUnit = Extract<Period, { kind: 'calendar' }>['unit'];

/**
 * Computes the windows that events fall into. Calendar windows are the same for all routes of a timezone, and cached.
 */
export class CalendarWindows {
  /**
   * By timezone, then by first day of the week, then by unit. Nested maps, because each window of a batch is looked up
   * and a joined key would have to be built each time.
   */
  readonly #latest = new Map<string, Map<string, Map<CalendarUnit, TimeWindow>>>();

  /**
   * Returns the window of a rule that contains an instant (Unix seconds); that second for a rule whose windows usage
   * determines.
   */
  at({ period }: CompiledRule, settings: WindowSettings, atS: number): TimeWindow {
    if (period.kind === 'first_use' || period.kind === 'sliding') return { startS: atS, endS: atS + 1 };
    if (period.kind !== 'calendar') return windowAt(period, settings, atS);
    const known = this.#of(settings);
    let window = known.get(period.unit);
    if (window === undefined || !windowContains(window, atS)) {
      window = windowAt(period, settings, atS);
      known.set(period.unit, window);
    }
    return window;
  }

  #of({ timezone, weekStart }: WindowSettings): Map<CalendarUnit, TimeWindow> {
    const ofZone = memoized(this.#latest, timezone, () => new Map<string, Map<CalendarUnit, TimeWindow>>());
    return memoized(ofZone, weekStart, () => new Map<CalendarUnit, TimeWindow>());
  }
}

import type { UsageItemRow } from '../../usage/index.js';
import type { RatedUsage } from '../posting/rated-usage.js';
import type { CompiledRule, LimitRuleIndex } from '../rules/index.js';
import { CalendarWindows, windowContains } from './calendar-windows.js';
import type { SubjectUsage, WindowSum } from './subject-usage.js';

/**
 * Counts charge items against the rules of their subjects, for one batch. It runs for every charge item and rule, so
 * subjects share the functions that visit their rules, and an event in the same window as the one before, the usual
 * case, costs one comparison.
 */
export class UsageCounter {
  readonly #windows = new CalendarWindows();
  readonly #places = new Map<LimitRuleIndex, ReadonlyMap<CompiledRule, number>>();
  #at: Counting | undefined;

  /** Counts the charge items of an event of the subject in all windows that they fall into. */
  add(usage: SubjectUsage, event: RatedUsage): void {
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
    const { usage, event, item, places } = this.#at;
    if (rule.measure === 'amount' && item.currency !== rule.currency) return;
    const place = places.get(rule);
    // Stops the batch: with the place of another rule, the usage would count against another limit.
    if (place === undefined) throw new Error(`rule ${rule.ruleNo} does not belong to its route`);
    let sum = usage.latest[place];
    if (sum === undefined || !windowContains(sum.window, event.occurredAt)) {
      sum = this.#open(usage, rule, event.occurredAt, sum);
      usage.latest[place] = sum;
    }
    sum.used += rule.measure === 'amount' ? item.amount : item.quantity;
  };

  /** @param latest the latest window of the rule, if there was one */
  #open(usage: SubjectUsage, rule: CompiledRule, atS: number, latest: WindowSum | undefined): WindowSum {
    const window = this.#windows.at(rule, usage.route.settings, atS);
    if (latest === undefined && usage.all === undefined) return { usage, rule, window, used: 0n };
    usage.all ??= new Map(usage.latest.flatMap((sum) => (sum === undefined ? [] : [[keyOf(sum), sum]])));
    const known = usage.all.get(keyOf({ rule, window }));
    if (known !== undefined) return known;
    const sum = { usage, rule, window, used: 0n };
    usage.all.set(keyOf(sum), sum);
    return sum;
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

/** The event and subject that are being counted. */
interface Counting {
  readonly usage: SubjectUsage;
  readonly event: RatedUsage;
  readonly item: UsageItemRow;
  readonly places: ReadonlyMap<CompiledRule, number>;
}

function keyOf({ rule, window }: Pick<WindowSum, 'rule' | 'window'>): string {
  return `${rule.ruleNo} ${window.startS}`;
}

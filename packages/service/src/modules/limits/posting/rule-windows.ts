import { windowAt } from '../../../kernel/period.js';
import type { CompiledRoute, CompiledRule } from '../book/index.js';
import type { OpenRule } from '../standing.js';

/** The windows of one rule that a batch has met. */
interface MetWindows {
  latest: OpenRule;
  readonly byStart: Map<number, OpenRule>;
}

/** The windows of a route's rules that the events of a batch lie in: one object for each, so that it can be a key. */
export class RuleWindows {
  readonly #byRule = new Map<CompiledRule, MetWindows>();

  constructor(private readonly route: CompiledRoute) {}

  /** The window of a rule that an instant (Unix seconds) lies in: nearly always the one that was asked for before. */
  at(rule: CompiledRule, atS: number): OpenRule {
    const met = this.#byRule.get(rule);
    if (met === undefined) {
      const latest = this.#open(rule, atS);
      this.#byRule.set(rule, { latest, byStart: new Map([[latest.window.startS, latest]]) });
      return latest;
    }
    const { startS, endS } = met.latest.window;
    if (atS >= startS && (endS === undefined || atS < endS)) return met.latest;
    const opened = this.#open(rule, atS);
    met.latest = met.byStart.get(opened.window.startS) ?? opened;
    met.byStart.set(opened.window.startS, met.latest);
    return met.latest;
  }

  #open(rule: CompiledRule, atS: number): OpenRule {
    return { rule, window: windowAt(rule.period, this.route.settings, atS) };
  }
}

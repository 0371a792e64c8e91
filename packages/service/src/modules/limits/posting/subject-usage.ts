import type { UsageItemRow } from '../../usage/index.js';
import type { CompiledRoute, CompiledRule } from '../book/index.js';
import type { SubjectRef } from '../book/route-book.js';
import type { OpenRule, Subject } from '../standing.js';
import type { AccountDebits } from './debits.js';
import type { PostingScope, RatedUsage } from './rated-usage.js';
import type { RuleWindows } from './rule-windows.js';

/** What one batch knows of a subject that has a route, and adds to its windows. */
export class SubjectUsage {
  /** Sums × 10^18: of amounts or quantities, as the rule measures. */
  readonly sums = new Map<OpenRule, bigint>();
  #event: RatedUsage | undefined;
  #item: UsageItemRow | undefined;

  constructor(
    readonly scope: PostingScope,
    readonly subject: Subject,
    readonly route: CompiledRoute,
    readonly account: AccountDebits,
    private readonly windows: RuleWindows,
  ) {}

  /** Counts the charge items of an event, each in all windows that it falls into. */
  add(event: RatedUsage): void {
    this.#event = event;
    for (const item of event.items) {
      this.#item = item;
      this.route.rules.visit(item.metric, this.#textOf, this.#count);
    }
  }

  // Fields, so that the visits of every charge item share two functions.
  readonly #textOf = (dimension: string): string | undefined => this.#event?.dimensions.get(dimension);

  readonly #count = (rule: CompiledRule): void => {
    const item = this.#item;
    const event = this.#event;
    if (item === undefined || event === undefined) return;
    if (rule.measure === 'amount' && item.currency !== rule.currency) return;
    const value = rule.measure === 'amount' ? item.amount : item.quantity;
    const window = this.windows.at(rule, event.occurredAt);
    this.sums.set(window, (this.sums.get(window) ?? 0n) + value);
  };
}

/** As the catalog is asked for its route. */
export function subjectRef({ scope, subject }: Pick<SubjectUsage, 'scope' | 'subject'>): SubjectRef {
  return { projectId: scope.projectId, subjectType: subject.type, subjectId: subject.id };
}

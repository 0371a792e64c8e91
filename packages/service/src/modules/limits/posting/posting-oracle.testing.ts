import type { Clock } from '../../../kernel/clock.js';
import { fromStored, toText } from '../../../kernel/decimal.js';
import { parseLimitPeriod } from '../../../kernel/period.js';
import { stored } from '../../../testing/index.js';
import { alertText } from '../../../testing/limit-alert-text.js';
import type { TestRoute } from './posting.testing.js';
import {
  addedTo,
  hasListedValue,
  isSelected,
  type KnownRule,
  knownRule,
  measuredOf,
  signed,
  windowOfRule,
} from './rule-oracle.testing.js';
import type { TestRule } from './rule-values.testing.js';
import { ratedUsage, type TestUsage } from './usage.testing.js';

interface KnownRoute extends Required<Omit<TestRoute, 'planId' | 'accountId'>> {
  readonly accountId: string | null;
  readonly planId: string | undefined;
  readonly boundAtMs: number;
  readonly direct: KnownRule[];
}

interface CountedWindow {
  readonly subjectId: string;
  readonly ruleNo: number;
  readonly startS: number;
  readonly endS: number;
  limit: bigint;
  readonly notifyAt: readonly number[];
  readonly rule: TestRule;
  used: bigint;
  /** Whether a batch has usage, and not only usage that is taken back. */
  hasUsage?: boolean;
  /** By percentage. */
  readonly alerts: Map<number, { sequence: number; isOpen: boolean }>;
}

/** An event, with the subjects at which it counts, its own first, and the account that it debits. */
export interface PostedEvent {
  readonly event: TestUsage;
  readonly levels: readonly string[];
  readonly accountId: string;
}

/** The expected result of posting, computed event by event and rule by rule without any cache. */
export class PostingOracle {
  readonly #clock: Clock;
  readonly #plans = new Map<string, KnownRule[]>();
  readonly #routes = new Map<string, KnownRoute>();
  readonly #windows = new Map<string, CountedWindow>();
  readonly #wallets = new Map<string, bigint>();
  readonly #alerts: string[] = [];
  /** Events that can be taken back. */
  readonly #posted: PostedEvent[] = [];
  /** By window: how often each value was counted, less how often it was taken back. */
  readonly #values = new Map<string, Map<string, number>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get plans(): string[] {
    return [...this.#plans.keys()];
  }

  hasRoute(subjectId: string): boolean {
    return this.#routes.has(subjectId);
  }

  /** Publishes a revision. All revisions of a plan have the same rules, with different amounts. */
  publish(planId: string, rules: readonly TestRule[], ruleNos: readonly number[]): void {
    const known =
      this.#plans.get(planId) ?? rules.map((rule, index) => knownRule(rule, ruleNos[index] ?? 0, false));
    for (const [index, { limit }] of rules.entries()) {
      known[index]?.amounts.push({ atMs: this.#clock.nowMs(), limit: stored(limit) });
    }
    this.#plans.set(planId, known);
  }

  route({ subjectId = '*', accountId = 'acct_a', planId, ...fields }: TestRoute): void {
    const { timezone = 'UTC', anchorS = 0, parentId = null } = fields;
    const direct = this.#routes.get(subjectId)?.direct ?? [];
    const boundAtMs = this.#clock.nowMs();
    const route = { subjectId, accountId, parentId, planId, timezone, anchorS, boundAtMs, direct };
    this.#routes.set(subjectId, route);
  }

  /** Whether the service would accept this parent: it has a route, and no route would be above itself. */
  acceptsParent(subjectId: string, parentId: string): boolean {
    const above = [subjectId];
    for (let id: string | null = parentId; id !== null; ) {
      const routed = id === subjectId || this.#routes.has(id) ? id : '*';
      const route = this.#routes.get(routed);
      if (above.includes(routed) || route === undefined) return false;
      above.push(routed);
      id = route.parentId;
    }
    return true;
  }

  #routeOf(subjectId: string): KnownRoute | undefined {
    return this.#routes.get(subjectId) ?? this.#routes.get('*');
  }

  /** Returns a subject and those above it, each with its route. */
  #levelsOf(subjectId: string): { readonly id: string; readonly route: KnownRoute }[] {
    const route = this.#routeOf(subjectId);
    if (route === undefined) return [];
    const above = route.parentId === null ? [] : this.#levelsOf(route.parentId);
    return [{ id: subjectId, route }, ...above];
  }

  limit(subjectId: string, rule: TestRule, ruleNo: number): void {
    const known = knownRule(rule, ruleNo, true);
    known.amounts.push({ atMs: this.#clock.nowMs(), limit: stored(rule.limit) });
    this.#routes.get(subjectId)?.direct.push(known);
  }

  /** Returns the events with the levels at which they count. */
  post(events: readonly TestUsage[]): PostedEvent[] {
    const posted = events.map((event): PostedEvent => {
      const { subject } = ratedUsage(event);
      const levels = subject === undefined ? [] : this.#levelsOf(subject.id);
      const accountId = levels.find(({ route }) => route.accountId !== null)?.route.accountId;
      return { event, levels: levels.map(({ id }) => id), accountId: accountId ?? '' };
    });
    this.#add(posted);
    this.#posted.push(...posted.filter(({ event, levels }) => levels.length > 0 && !event.isReversal));
    return posted;
  }

  /** Takes back an event where it counted; returns it, if there is one. */
  takeBack(at: number): PostedEvent | undefined {
    const [taken] = this.#posted.splice(at % this.#posted.length, 1);
    if (taken !== undefined) this.#add([{ ...taken, event: { ...taken.event, isReversal: true } }]);
    return taken;
  }

  #add(events: readonly PostedEvent[]): void {
    const added = new Map<string, CountedWindow>();
    for (const event of events) this.#count(event, added);
    for (const batch of this.#placed([...added.values()])) {
      const key = keyOf(batch);
      // A window opens with the first batch that adds something to it.
      if (batch.used === 0n && batch.hasUsage !== true) continue;
      const window = this.#windows.get(key) ?? { ...batch, used: 0n };
      window.used += batch.used;
      this.#windows.set(key, window);
      this.#sendAlerts(window);
    }
  }

  /**
   * Places the seconds of `first_use` rules in windows, in ascending time; other windows stay as they are. Windows that
   * have not begun, now or at that second, open nothing for the seconds before them.
   */
  #placed(added: readonly CountedWindow[]): CountedWindow[] {
    const placed: CountedWindow[] = [];
    for (const sum of [...added].sort((a, b) => a.startS - b.startS)) {
      const { subjectId, ruleNo, startS, used, hasUsage } = sum;
      const period = parseLimitPeriod(sum.rule.period ?? 'day');
      if (period?.kind !== 'first_use') {
        placed.push({ ...sum, hasUsage: false });
        continue;
      }
      const known = [...placed, ...this.#windows.values()].filter(
        (other) => other.subjectId === subjectId && other.ruleNo === ruleNo,
      );
      const within = known.find((window) => window.startS <= startS && startS < window.endS);
      const atS = Math.max(startS, Math.floor(this.#clock.nowMs() / 1_000));
      const isNewest = known.every((window) => window.startS > atS || window.endS <= startS);
      const nextStarts = known.filter((window) => window.startS > atS).map((window) => window.startS);
      if (within !== undefined && placed.includes(within)) within.used += used;
      else if (within !== undefined) placed.push({ ...within, used, hasUsage: false });
      else if (isNewest && hasUsage === true && used !== 0n)
        placed.push({ ...sum, endS: Math.min(startS + period.durationS, ...nextStarts) });
    }
    return placed;
  }

  /** Changes the amount of a direct limit, also in windows that have not ended. Alerts wait for the next usage. */
  changeLimit(subjectId: string, key: string, amount: string): void {
    const known = this.#routes.get(subjectId)?.direct.find(({ rule }) => rule.key === key);
    if (known === undefined) throw new Error(`no limit: ${key}`);
    const atMs = this.#clock.nowMs();
    known.amounts.push({ atMs, limit: stored(amount) });
    for (const window of this.#windows.values()) {
      if (window.ruleNo === known.ruleNo && window.endS * 1_000 > atMs) window.limit = stored(amount);
    }
  }

  /** Returns the subject and key of every direct limit, with its number. */
  directLimits(): { readonly subjectId: string; readonly key: string; readonly ruleNo: number }[] {
    return [...this.#routes.values()].flatMap(({ subjectId, direct }) =>
      direct.map(({ rule, ruleNo }) => ({ subjectId, key: rule.key, ruleNo })),
    );
  }

  windows(): unknown[] {
    return [...this.#windows.values()]
      .sort((a, b) => compare(a.subjectId, b.subjectId) || a.ruleNo - b.ruleNo || a.startS - b.startS)
      .map(({ subjectId, ruleNo, startS, used, limit }) => ({
        subject_id: subjectId,
        rule_no: ruleNo,
        window_start: startS,
        used: text(used),
        limit: text(limit),
      }));
  }

  wallets(): unknown[] {
    return [...this.#wallets]
      .sort(([a], [b]) => compare(a, b))
      .map(([key, spent]) => {
        const [account_id, currency] = key.split(' ');
        return { account_id, currency, worth: text(-spent) };
      });
  }

  alerts(): string[] {
    return this.#alerts.sort();
  }

  /** Sends the alerts of percentages that usage has reached, and ends those that it has fallen below. */
  #sendAlerts({ subjectId, ruleNo, startS, limit, used, rule, notifyAt, alerts }: CountedWindow): void {
    for (const percent of [...notifyAt, 100]) {
      const isAbove = rule.measure === 'max' && percent === 100;
      const isReached = isAbove ? used > limit : used * 100n >= limit * BigInt(percent);
      const alert = alerts.get(percent) ?? { sequence: 0, isOpen: false };
      if (isReached === alert.isOpen) continue;
      alert.isOpen = isReached;
      if (isReached) alert.sequence += 1;
      alerts.set(percent, alert);
      const crossing = percent === 100 ? 'exceeded' : 'threshold_reached';
      const type = `usage_limit.${isReached ? crossing : 'recovered'}`;
      const { sequence } = alert;
      const data = { threshold_percent: percent, sequence, window_id: `:${startS}`, subject_id: subjectId };
      this.#alerts.push(alertText(type, String(ruleNo), data));
    }
  }

  #count({ event, levels, accountId }: PostedEvent, added: Map<string, CountedWindow>): void {
    for (const { currency, amount } of ratedUsage(event).items) {
      if (currency === '' || levels.length === 0) continue;
      const key = `${accountId} ${currency}`;
      this.#wallets.set(key, (this.#wallets.get(key) ?? 0n) + amount);
    }
    for (const id of levels) {
      const route = this.#routeOf(id);
      if (route !== undefined) this.#countAt({ id, route }, event, added);
    }
  }

  #countAt(
    { id: subjectId, route }: { readonly id: string; readonly route: KnownRoute },
    event: TestUsage,
    added: Map<string, CountedWindow>,
  ): void {
    const { items, dimensions, occurredAt, isReversal = false } = ratedUsage(event);
    for (const known of [...route.direct, ...(this.#plans.get(route.planId ?? '') ?? [])]) {
      const { rule, ruleNo } = known;
      const counted = items
        .filter(({ metric }) => isSelected(rule, metric))
        .filter(() => rule.dimension === undefined || dimensions.get(rule.dimension[0]) === rule.dimension[1])
        .filter(() => hasListedValue(rule, dimensions))
        .filter(({ currency }) => (rule.measure ?? 'amount') !== 'amount' || currency === rule.currency);
      const { startS, endS, limit } = windowOfRule(known, route, occurredAt);
      const key = `${subjectId} ${ruleNo} ${startS}`;
      const window: CountedWindow = added.get(key) ?? {
        ...{ subjectId, ruleNo, startS, endS, limit, rule, notifyAt: rule.notifyAt ?? [] },
        used: 0n,
        alerts: new Map(),
      };
      const values = this.#values.get(key) ?? new Map<string, number>();
      this.#values.set(key, values);
      window.used -= measuredOf(rule, values);
      window.hasUsage ||= counted.length > 0 && !isReversal;
      for (const item of counted) {
        const value =
          rule.measure === 'unique' ? dimensions.get(rule.of ?? '') : text(signed(item.quantity, isReversal));
        if (value !== undefined) values.set(value, (values.get(value) ?? 0) + (isReversal ? -1 : 1));
        window.used += addedTo(rule, item, isReversal);
      }
      window.used += measuredOf(rule, values);
      added.set(key, window);
    }
  }
}

function keyOf({ subjectId, ruleNo, startS }: CountedWindow): string {
  return `${subjectId} ${ruleNo} ${startS}`;
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
const text = (amount: bigint) => toText(fromStored(amount));

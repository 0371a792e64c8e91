import { type RealtimeLimit, type Warning, warningOf } from '@tollgate/contract';
import { type TimeWindow, type WindowSettings, windowAt } from '../../../kernel/period.js';
import { present } from '../../../kernel/present.js';
import { type Amount, amountText } from '../../ledger/index.js';
import type { LimitedSubject, SubjectLevel } from '../rules/route-rules.js';
import type { CompiledRule } from '../rules/rule.js';

/** The warning that a subject has no limits and no account. */
export function noRoute({ type, id }: LimitedSubject): Warning {
  return warningOf('no_route', `${type} ${id}`);
}

/** A rule and the window of it that an instant lies in. */
export interface OpenRule {
  readonly rule: CompiledRule;
  /**
   * For a `first_use` rule, until stored windows were read: the one that would open at that instant. For a `sliding`
   * rule, it begins at that instant, whose limit applies.
   */
  readonly window: TimeWindow;
}

/** A rule, and the level of a subject at which it limits usage. */
export interface RuleAtLevel {
  readonly at: SubjectLevel;
  readonly rule: CompiledRule;
}

/** The same with the window that an instant lies in. */
export type OpenRuleAtLevel = RuleAtLevel & OpenRule;

/** The use of one window, and what leases hold of its rule. */
export interface LimitStatus extends OpenRuleAtLevel {
  /** Whether the window has begun at a certain time: not if it slides, or opens with usage and there is none. */
  readonly hasStart: boolean;
  /** Whether the window has counted the value that was asked for. */
  readonly isSeen: boolean;
  readonly used: Amount;
  readonly reserved: Amount;
  /** With its raises. */
  readonly limit: Amount;
  /** The part of the limit that raises add. */
  readonly raised: Amount;
}

/** The stored counts of a rule's window; nothing is counted without a row. */
export interface Counted {
  /** The stored window, for a rule whose windows open with usage; undefined without one. */
  readonly opened: TimeWindow | undefined;
  readonly used: Amount;
  /** Without raises; undefined until the first usage opens the window. */
  readonly limit: Amount | undefined;
  readonly reserved: Amount;
  /** Names the version of the row of the reserved amount: each change makes another one. Undefined without a row. */
  readonly reservedVersion: string | undefined;
  /** Whether the window has counted the value that was asked for. */
  readonly isSeen: boolean;
}

/** Returns for each rule the window that contains an instant (Unix seconds). */
export function openRules(rules: readonly RuleAtLevel[], atS: number): OpenRuleAtLevel[] {
  return rules.map(({ at, rule }) => ({ at, rule, window: windowOrNext(rule, at.route.settings, atS) }));
}

/** Returns the window of a rule that contains an instant (Unix seconds), or that would open with usage then. */
export function windowOrNext({ period }: CompiledRule, settings: WindowSettings, atS: number): TimeWindow {
  if (period.kind === 'sliding') return { startS: atS, endS: undefined };
  return period.kind === 'first_use'
    ? { startS: atS, endS: atS + period.durationS }
    : windowAt(period, settings, atS);
}

/** @param counted one entry for each rule, in their order */
export function limitStatusesOf(
  rules: readonly OpenRuleAtLevel[],
  counted: readonly Counted[],
  nowMs: number,
): LimitStatus[] {
  return rules.map(({ at, rule, window: next }, index) => {
    const { opened, used, limit, reserved, isSeen } = present(
      counted[index],
      `the use of rule ${rule.ruleNo}`,
    );
    const { route } = at;
    const isFirstUse = rule.period.kind === 'first_use';
    const hasStart = isFirstUse ? opened !== undefined : rule.period.kind !== 'sliding';
    const window = isFirstUse && opened !== undefined ? opened : next;
    const raised = route.raiseFor(rule, window, nowMs);
    // Each active lease holds one of a limit on concurrent work: what is reserved is what is used.
    const isOfLeases = rule.measure === 'concurrency';
    return {
      at,
      rule,
      window,
      hasStart,
      used: isOfLeases ? reserved : used,
      reserved: isOfLeases ? 0n : reserved,
      isSeen,
      raised,
      limit: (limit ?? route.limitFor(rule, window)) + raised,
    };
  });
}

/**
 * Whether the limit is not reached yet, and is kept when the asked amount is added to used and reserved. A value that
 * the window has counted adds nothing, so there is always room for it. A greatest quantity may equal its limit.
 */
export function hasRoomFor({ rule, isSeen, used, reserved, limit }: LimitStatus, asked: Amount): boolean {
  if (rule.measure === 'unique' && isSeen) return true;
  if (rule.measure === 'max') return used <= limit && asked <= limit;
  const taken = used + reserved;
  return taken < limit && taken + asked <= limit;
}

/** The limit status as the API shows it. */
export function toRealtimeLimit(status: LimitStatus): RealtimeLimit {
  const { at, rule, used, reserved, limit, raised } = status;
  const { level, subject, route } = at;
  return {
    id: rule.id,
    limit_key: rule.limitKey,
    plan_id: rule.planId,
    rule_account_id: route.routeId,
    account_id: route.account.id,
    account_external_id: route.account.externalId,
    level,
    subject_type: subject.type,
    subject_id: subject.id,
    ...dimensionFields(rule),
    currency: rule.currency,
    metric_scope: metricScopeOf(rule),
    selector_type: rule.selectorType,
    selector_value: rule.selectorValue,
    ...(rule.selectorType === 'metrics' ? { selector_values: [...rule.selectorValues] } : {}),
    measure: rule.measure,
    ...(rule.of === undefined ? {} : { of: rule.of }),
    ...windowFields(status),
    used_amount: amountText(used),
    reserved_amount: amountText(reserved),
    limit_amount: amountText(limit),
    ...(raised === 0n ? {} : { raised_amount: amountText(raised) }),
    remaining_amount: amountText(limit - used),
    exceeded: rule.measure === 'max' ? used > limit : used >= limit,
    action: rule.action,
    ...(rule.webhookEvent === undefined ? {} : { webhook_event: rule.webhookEvent }),
  };
}

function windowFields({
  rule: { measure, periodText: period },
  window,
  hasStart,
}: LimitStatus): Pick<RealtimeLimit, 'period' | 'window_id' | 'next_reset_at'> {
  if (measure === 'concurrency') return { window_id: measure };
  const window_id = windowIdOf(period, hasStart ? window : undefined);
  if (!hasStart) return { period, window_id };
  const end = window.endS === undefined ? {} : { next_reset_at: window.endS };
  return { period, window_id, ...end };
}

/** @param window undefined if it slides, or opens with usage and there is none */
export function windowIdOf(periodText: string, window: TimeWindow | undefined): string {
  return window === undefined ? periodText : `${periodText}:${window.startS}`;
}

function dimensionFields({
  dimension,
}: CompiledRule): Pick<RealtimeLimit, 'dimension_key' | 'dimension_value' | 'dimension_values'> {
  if (dimension === undefined) return {};
  const { key, value, values } = dimension;
  return {
    dimension_key: key,
    ...(value === undefined ? {} : { dimension_value: value }),
    ...(values === undefined ? {} : { dimension_values: [...values] }),
  };
}

function metricScopeOf({ selectorType, selectorValue, selectorValues }: CompiledRule): string {
  if (selectorType === 'metrics') return selectorValues.join();
  return selectorType === 'metric' ? selectorValue : `${selectorValue}*`;
}

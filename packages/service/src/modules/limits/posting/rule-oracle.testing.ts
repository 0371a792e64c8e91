import { parseLimitPeriod, windowAt } from '../../../kernel/period.js';
import { stored } from '../../../testing/index.js';
import type { UsageItemRow } from '../../usage/index.js';
import type { TestRoute } from './posting.testing.js';
import type { TestRule } from './rule-values.testing.js';

/** A rule with the number under which it counts, and the amounts that it has allowed over time. */
export interface KnownRule {
  readonly rule: TestRule;
  readonly ruleNo: number;
  readonly isDirect: boolean;
  readonly amounts: { readonly atMs: number; readonly limit: bigint }[];
}

/** Returns what a charge item adds to a sum. */
export function addedTo({ measure = 'amount' }: TestRule, item: UsageItemRow, isReversal: boolean): bigint {
  if (measure === 'unique' || measure === 'max' || measure === 'concurrency') return 0n;
  return measure === 'count' ? signed(stored('1'), isReversal) : item[measure];
}

/** Returns the usage of a rule that counts values: how many are in force, or the greatest of them, at least 0. */
export function measuredOf({ measure }: TestRule, values: ReadonlyMap<string, number>): bigint {
  const inForce = [...values].flatMap(([value, count]) => (count > 0 ? value : []));
  if (measure === 'unique') return BigInt(inForce.length) * stored('1');
  if (measure !== 'max') return 0n;
  let greatest = 0n;
  for (const value of inForce) if (stored(value) > greatest) greatest = stored(value);
  return greatest;
}

/** Returns an amount as it was before it was taken back. */
export const signed = (amount: bigint, isReversal: boolean) => (isReversal ? -amount : amount);

/** Whether the dimension has one of the values that the rule lists; `*` at the end of one stands for any text. */
export function hasListedValue(
  { dimensionValues }: TestRule,
  dimensions: ReadonlyMap<string, string>,
): boolean {
  if (dimensionValues === undefined) return true;
  const value = dimensions.get(dimensionValues[0]);
  const fits = (listed: string) =>
    listed.endsWith('*') ? value?.startsWith(listed.slice(0, -1)) : value === listed;
  return value !== undefined && dimensionValues[1].some(fits);
}

/** Whether the rule selects the metric. */
export function isSelected({ selector = ['all', ''], metrics }: TestRule, metric: string): boolean {
  if (metrics !== undefined) return metrics.includes(metric);
  const [type, value] = selector;
  return type === 'all' || (type === 'metric' ? metric === value : metric.startsWith(value));
}

/** Returns a rule without amounts. */
export function knownRule(rule: TestRule, ruleNo: number, isDirect: boolean): KnownRule {
  return { rule: { currency: 'USD', ...rule }, ruleNo, isDirect, amounts: [] };
}

/**
 * Returns the window of an instant; for a `first_use` rule, the second. Its limit is the amount of the newest revision
 * when the window opened or, if the rule came to the subject later, at that time.
 */
export function windowOfRule(
  { rule, isDirect, amounts }: KnownRule,
  route: Pick<Required<TestRoute>, 'timezone' | 'anchorS'> & { readonly boundAtMs: number },
  atS: number,
) {
  const period = parseLimitPeriod(rule.period ?? 'day');
  if (period === undefined) throw new Error(`no period: ${rule.period}`);
  const { timezone, anchorS } = route;
  const { startS, endS = Number.POSITIVE_INFINITY } =
    period.kind === 'first_use' || period.kind === 'sliding'
      ? { startS: atS, endS: atS + 1 }
      : windowAt(period, { timezone, anchorS, weekStart: 'monday' }, atS);
  const openMs = Math.max(startS * 1_000, isDirect ? 0 : route.boundAtMs);
  const amountNow = amounts.findLast(({ atMs }) => atMs <= openMs || (isDirect && atMs < endS * 1_000));
  return { startS, endS, limit: (amountNow ?? amounts[0])?.limit ?? 0n };
}

import { parseLimitPeriod } from '../../../kernel/period.js';
import { amountFromText } from '../../ledger/index.js';
import { type AmountChange, AmountTimeline } from './amounts.js';
import type { CompiledRule, SelectedDimension } from './rule.js';
import type { RuleRow } from './rule-row.js';

/** One stored change of the amount that a rule allows. */
export interface StoredAmount {
  readonly atMs: number;
  /** Null while the rule does not exist. */
  readonly amount: string | null;
  readonly opensNow: boolean;
}

/**
 * @param amounts in ascending time
 * @param planId null for a direct limit
 */
export function compileRule(
  row: RuleRow,
  amounts: readonly StoredAmount[],
  planId: string | null,
): CompiledRule {
  const period = parseLimitPeriod(row.period);
  if (period === undefined) throw new Error(`limit ${row.id} was stored with the period ${row.period}`);
  return {
    ruleNo: row.rule_no,
    id: row.id,
    planId,
    limitKey: row.limit_key,
    measure: row.measure,
    of: row.of ?? undefined,
    selectorType: row.selector_type,
    selectorValue: row.selector_value,
    selectorValues: row.selector_values ?? [],
    dimension: dimensionOf(row),
    currency: row.currency,
    period,
    periodText: row.period,
    action: row.action,
    webhookEvent: row.webhook_event ?? undefined,
    notifyAt: row.notify_at.filter((percent) => percent < 100),
    amounts: new AmountTimeline(amounts.map(compileAmount)),
  };
}

function dimensionOf(row: RuleRow): SelectedDimension | undefined {
  const { dimension_key: key, dimension_value: value, dimension_values: values } = row;
  return key === null ? undefined : { key, value: value ?? undefined, values: values ?? undefined };
}

function compileAmount({ atMs, amount, opensNow }: StoredAmount): AmountChange {
  return { atMs, amount: amount === null ? undefined : amountFromText(amount), opensNow };
}

/** Returns the amounts of a plan's rule, from the revisions at which they changed. */
export function planAmounts(
  changes: readonly {
    readonly published_at_ms: number;
    readonly limit_amount: string;
    /** When the previous revision that had the rule was replaced; null when there was none. */
    readonly succeeded_at_ms: number | null;
  }[],
): StoredAmount[] {
  return changes.flatMap(
    ({ published_at_ms: atMs, limit_amount: amount, succeeded_at_ms: succeededAtMs }) => {
      const change = { atMs, amount, opensNow: false };
      return succeededAtMs === null || succeededAtMs === atMs
        ? [change]
        : [{ atMs: succeededAtMs, amount: null, opensNow: false }, change];
    },
  );
}

/** Returns the amounts of a direct limit under its present rule number, from all its amounts. */
export function directAmounts(
  ruleNo: number,
  changes: readonly {
    readonly changed_at_ms: number;
    readonly rule_no: number;
    readonly limit_amount: string;
    readonly effective: string;
  }[],
): StoredAmount[] {
  return changes.map((change) =>
    change.rule_no === ruleNo
      ? { atMs: change.changed_at_ms, amount: change.limit_amount, opensNow: change.effective === 'now' }
      : { atMs: change.changed_at_ms, amount: null, opensNow: false },
  );
}

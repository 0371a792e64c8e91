import type { UsageLimitPlanVersion } from '@tollgate/contract';
import { decimalExact } from '../../../format.js';
import { RULE_FIELDS, type RuleDraft, ruleDraft } from '../rules/rule-draft.js';

/** The part of a plan version in which versions can differ. */
export type PlanContent = Pick<UsageLimitPlanVersion, 'title' | 'description' | 'rules'>;

export interface FieldChange {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

export type RuleChange =
  | { readonly kind: 'added' | 'removed'; readonly rule: RuleDraft }
  | {
      readonly kind: 'changed';
      readonly rule: RuleDraft;
      readonly fields: readonly FieldChange[];
      /** When the change applies, and whether the counter restarts. */
      readonly effect: string;
    };

export interface PlanDiff {
  readonly texts: readonly FieldChange[];
  readonly rules: readonly RuleChange[];
  /** Whether the order of the rules that both versions have is different. */
  readonly isReordered: boolean;
}

const LABELS: Readonly<Record<keyof RuleDraft, string>> = {
  limit_key: 'Name',
  measure: 'Measure',
  of: 'Values of',
  selector_type: 'Applies to',
  selector_value: 'Metric',
  selector_values: 'Metrics',
  dimension_key: 'Dimension',
  dimension_value: 'Dimension value',
  dimension_values: 'Dimension values',
  currency: 'Currency',
  period: 'Period',
  limit_amount: 'Limit',
  action: 'When reached',
  webhook_event: 'Webhook event',
  notify_at: 'Alert thresholds',
};

/**
 * The differences between two versions of a plan. `before` is undefined if there is no earlier version. Rules
 * are matched by name.
 */
export function diffOf(before: PlanContent | undefined, after: PlanContent): PlanDiff {
  const old = new Map(before?.rules.map((rule) => [rule.limit_key, ruleDraft(rule)]));
  const next = after.rules.map(ruleDraft);
  const keys = new Set(next.map(({ limit_key }) => limit_key));
  const common = [...old.values()].filter(({ limit_key }) => keys.has(limit_key));
  const kept = next.filter(({ limit_key }) => old.has(limit_key));
  return {
    texts: textChanges(before, after),
    rules: [
      ...next.flatMap((rule) => changeOf(old.get(rule.limit_key), rule)),
      ...[...old.values()]
        .filter(({ limit_key }) => !keys.has(limit_key))
        .map((rule) => ({ kind: 'removed' as const, rule })),
    ],
    isReordered: common.some(({ limit_key }, index) => kept[index]?.limit_key !== limit_key),
  };
}

export function isSame({ texts, rules, isReordered }: PlanDiff): boolean {
  return texts.length === 0 && rules.length === 0 && !isReordered;
}

function textChanges(before: PlanContent | undefined, after: PlanContent): FieldChange[] {
  if (before === undefined) return [];
  return (
    [
      ['title', 'Title'],
      ['description', 'Description'],
    ] as const
  )
    .filter(([field]) => before[field] !== after[field])
    .map(([field, label]) => ({ label, before: before[field], after: after[field] }));
}

function changeOf(before: RuleDraft | undefined, rule: RuleDraft): RuleChange[] {
  if (before === undefined) return [{ kind: 'added', rule }];
  const changed = RULE_FIELDS.filter((field) => before[field] !== rule[field]);
  if (changed.length === 0) return [];
  const fields = changed.map((field) => ({
    label: LABELS[field],
    before: shown(field, before[field]),
    after: shown(field, rule[field]),
  }));
  return [{ kind: 'changed', rule, fields, effect: effectOf(changed, rule) }];
}

function shown(field: keyof RuleDraft, value: string): string {
  return field === 'limit_amount' ? decimalExact(value) : value;
}

function effectOf(changed: readonly (keyof RuleDraft)[], { measure }: RuleDraft): string {
  const isReset =
    changed.includes('period') ||
    changed.includes('measure') ||
    changed.includes('of') ||
    (changed.includes('currency') && measure === 'amount');
  if (isReset) return 'The counter restarts from zero.';
  const isLimit = changed.includes('limit_amount');
  if (isLimit && changed.length === 1) return 'The new limit applies from the next window.';
  return isLimit
    ? 'The new limit applies from the next window, other changes immediately.'
    : 'Applies immediately.';
}

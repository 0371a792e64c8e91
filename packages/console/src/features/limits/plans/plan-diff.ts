import type { UsageLimitPlanVersion } from '@tollgate/contract';
import { decimalExact } from '../../../format.js';
import { RULE_FIELDS, type RuleDraft, ruleDraft } from '../rules/rule-draft.js';

/** What a version of a plan says, as far as versions differ. */
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
      /** When it counts, and what becomes of what was counted. */
      readonly effect: string;
    };

export interface PlanDiff {
  readonly texts: readonly FieldChange[];
  readonly rules: readonly RuleChange[];
  /** Whether rules that are in both stand in another order. */
  readonly isReordered: boolean;
}

const LABELS: Readonly<Record<keyof RuleDraft, string>> = {
  limit_key: 'Name',
  measure: 'Counts',
  selector_type: 'Of',
  selector_value: 'Metric',
  dimension_key: 'Only where',
  dimension_value: 'Is',
  currency: 'Currency',
  period: 'Period',
  limit_amount: 'Limit',
  action: 'When reached',
  webhook_event: 'Webhook event',
  notify_at: 'Alerts at',
};

/**
 * What changes from one version of a plan to another; `before` is undefined where there is none. Rules are
 * the same by their name.
 */
export function diffOf(before: PlanContent | undefined, after: PlanContent): PlanDiff {
  const old = new Map(before?.rules.map((rule) => [rule.limit_key, ruleDraft(rule)]));
  const next = after.rules.map(ruleDraft);
  const keys = new Set(next.map(({ limit_key }) => limit_key));
  const stays = [...old.values()].filter(({ limit_key }) => keys.has(limit_key));
  const kept = next.filter(({ limit_key }) => old.has(limit_key));
  return {
    texts: textChanges(before, after),
    rules: [
      ...next.flatMap((rule) => changeOf(old.get(rule.limit_key), rule)),
      ...[...old.values()]
        .filter(({ limit_key }) => !keys.has(limit_key))
        .map((rule) => ({ kind: 'removed' as const, rule })),
    ],
    isReordered: stays.some(({ limit_key }, index) => kept[index]?.limit_key !== limit_key),
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
  const isNewCounter =
    changed.includes('period') ||
    changed.includes('measure') ||
    (changed.includes('currency') && measure === 'amount');
  if (isNewCounter) return 'It begins to count anew.';
  const isLimit = changed.includes('limit_amount');
  if (isLimit && changed.length === 1) return 'The limit counts from the next window on.';
  return isLimit ? 'The limit counts from the next window on, the rest at once.' : 'It counts at once.';
}

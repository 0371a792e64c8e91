import type {
  LimitAction,
  LimitMeasure,
  LimitRuleInput,
  LimitSelectorType,
  UsageLimitPlanRule,
} from '@tollgate/contract';
import { plainNumber } from '../../../plain-number.js';

/** The state of the form of a limit rule: every field as text. */
export interface RuleDraft {
  readonly limit_key: string;
  readonly measure: LimitMeasure;
  /** The dimension whose different values are counted; empty for other measures. */
  readonly of: string;
  readonly selector_type: LimitSelectorType;
  readonly selector_value: string;
  /** Metrics, separated by commas or spaces. */
  readonly selector_values: string;
  readonly dimension_key: string;
  readonly dimension_value: string;
  /** Values and prefixes, one on each line. */
  readonly dimension_values: string;
  readonly currency: string;
  readonly period: string;
  readonly limit_amount: string;
  readonly action: LimitAction;
  readonly webhook_event: string;
  /** Percentages, separated by commas or spaces. */
  readonly notify_at: string;
}

export const NEW_RULE: RuleDraft = {
  limit_key: '',
  measure: 'amount',
  of: '',
  selector_type: 'all',
  selector_value: '',
  selector_values: '',
  dimension_key: '',
  dimension_value: '',
  dimension_values: '',
  currency: 'USD',
  period: 'month',
  limit_amount: '',
  action: 'block',
  webhook_event: '',
  notify_at: '50, 80',
};

/** The fields of a rule, by their names in requests and errors. */
export const RULE_FIELDS = Object.keys(NEW_RULE) as readonly (keyof RuleDraft)[];

type StoredRule = Omit<UsageLimitPlanRule, 'id' | 'plan_version_id' | 'created_at' | 'updated_at'>;

export function ruleDraft(rule: StoredRule): RuleDraft {
  return {
    limit_key: rule.limit_key,
    measure: rule.measure,
    of: rule.of ?? '',
    selector_type: rule.selector_type,
    selector_value: rule.selector_value,
    selector_values: (rule.selector_values ?? []).join(', '),
    dimension_key: rule.dimension_key ?? '',
    dimension_value: rule.dimension_value ?? '',
    dimension_values: (rule.dimension_values ?? []).join('\n'),
    currency: rule.currency,
    period: rule.period ?? NEW_RULE.period,
    limit_amount: rule.limit_amount,
    action: rule.action,
    webhook_event: rule.webhook_event ?? '',
    notify_at: rule.notify_at.join(', '),
  };
}

/** The request body. Empty fields become null, which removes an earlier value. */
export function ruleInput(draft: RuleDraft): LimitRuleInput {
  const { limit_key, measure, selector_type, selector_value, action, limit_amount } = draft;
  if (measure === 'concurrency') return concurrencyInput(draft);
  return {
    limit_key: limit_key.trim(),
    measure,
    of: measure === 'unique' ? textOrNull(draft.of.trim()) : null,
    selector_type,
    selector_value: selector_type === 'all' || selector_type === 'metrics' ? '' : selector_value.trim(),
    selector_values: selector_type === 'metrics' ? listedMetrics(draft) : null,
    dimension_key: textOrNull(draft.dimension_key.trim()),
    dimension_value: textOrNull(draft.dimension_value),
    dimension_values: listOrNull(listedValues(draft)),
    currency: draft.currency.trim(),
    period: draft.period.trim(),
    limit_amount: plainNumber(limit_amount),
    action,
    webhook_event: textOrNull(draft.webhook_event.trim()),
    notify_at: percentages(draft.notify_at),
  };
}

/** A limit on concurrent work counts leases: it has no period, selects no usage, and sends no alerts. */
function concurrencyInput({ limit_key, limit_amount, currency }: RuleDraft): LimitRuleInput {
  return {
    limit_key: limit_key.trim(),
    measure: 'concurrency',
    selector_type: 'all',
    currency: currency.trim(),
    limit_amount: plainNumber(limit_amount),
    action: 'block',
  };
}

/** The metrics of a draft that lists them, in their order. */
export function listedMetrics({ selector_values }: RuleDraft): string[] {
  return selector_values.split(/[\s,;]+/).filter((part) => part !== '');
}

/** The values and prefixes of a draft that lists them, in their order. */
export function listedValues({ dimension_values }: RuleDraft): string[] {
  return dimension_values.split('\n').filter((line) => line !== '');
}

/** The distinct numbers of a text in ascending order. Other words become NaN, which the service rejects. */
export function percentages(text: string): number[] {
  const numbers = text
    .split(/[\s,;%]+/)
    .filter((part) => part !== '')
    .map(Number);
  return [...new Set(numbers)].sort((a, b) => a - b);
}

const listOrNull = (list: string[]) => (list.length === 0 ? null : list);

const textOrNull = (text: string) => (text === '' ? null : text);

/** Copies a rule under a name that is not taken. */
export function copyRule(draft: RuleDraft, taken: readonly string[]): RuleDraft {
  const base = draft.limit_key.replace(/_\d+$/, '');
  let number = 2;
  while (taken.includes(`${base}_${number}`)) number += 1;
  return { ...draft, limit_key: `${base}_${number}` };
}

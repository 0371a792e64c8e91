import type { LimitRuleInput } from '@tollgate/contract';
import { isolated } from '../../../bidi.js';

/** The usage that a rule selects, as a rule or a limit states it. */
export type SelectedUsage = Pick<
  LimitRuleInput,
  | 'selector_type'
  | 'selector_value'
  | 'selector_values'
  | 'dimension_key'
  | 'dimension_value'
  | 'dimension_values'
>;

/** The selected metrics in words: `all usage`, `llm.*`, `llm.input_tokens or llm.output_tokens`. */
export function metricWords({ selector_type, selector_value, selector_values }: SelectedUsage): string {
  if (selector_type === 'all') return 'all usage';
  if (selector_type === 'metrics') return (selector_values ?? []).join(' or ') || '…';
  return selector_type === 'metric_prefix' ? `${selector_value}*` : selector_value || '…';
}

/** The condition on a dimension: ` where model is gpt-5* or o3`; empty without one. */
export function dimensionWords({ dimension_key, dimension_value, dimension_values }: SelectedUsage): string {
  if (!dimension_key) return '';
  const values = dimension_values ?? [dimension_value ?? ''];
  return ` where ${dimension_key} is ${values.map(isolated).join(' or ')}`;
}

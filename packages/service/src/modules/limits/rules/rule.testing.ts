import { AmountTimeline } from './amounts.js';
import type { CompiledRule } from './rule.js';

/** A monthly limit of 1 on all amounts in USD, with the given changes. */
export function compiledRule(change: Partial<CompiledRule> = {}): CompiledRule {
  return {
    ruleNo: 1,
    id: 'ulpr_1',
    planId: 'ulp_1',
    limitKey: 'spend',
    measure: 'amount',
    of: undefined,
    selectorType: 'all',
    selectorValue: '',
    selectorValues: [],
    dimension: undefined,
    currency: 'USD',
    period: { kind: 'calendar', unit: 'month' },
    periodText: 'month',
    action: 'block',
    webhookEvent: undefined,
    notifyAt: [],
    amounts: new AmountTimeline([{ atMs: 0, amount: 10n ** 18n, opensNow: false }]),
    ...change,
  };
}

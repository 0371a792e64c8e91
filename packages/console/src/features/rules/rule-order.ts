import type { PricingRule } from '@tollgate/contract';

const priorityOf = ({ priority = 0 }: PricingRule) => priority;

/** The order in which rules are tried: by priority, then by position. */
export function inOrder(rules: readonly PricingRule[]): PricingRule[] {
  return rules.toSorted((a, b) => priorityOf(a) - priorityOf(b));
}

export function isInOrder(rules: readonly PricingRule[]): boolean {
  return rules.every((rule, index) => {
    const next = rules[index + 1];
    return next === undefined || priorityOf(rule) <= priorityOf(next);
  });
}

/**
 * Moves a rule to another position. If its priority does not fit there, it takes that of a neighbour, so that it
 * is also tried at that position.
 */
export function moveRule(rules: readonly PricingRule[], from: number, to: number): PricingRule[] {
  const rule = rules[from];
  if (rule === undefined) return [...rules];
  const rest = rules.filter((_, index) => index !== from);
  const before = rest[to - 1];
  const after = rest[to];
  const low = before === undefined ? Number.NEGATIVE_INFINITY : priorityOf(before);
  const high = after === undefined ? Number.POSITIVE_INFINITY : priorityOf(after);
  const priority = Math.max(low, Math.min(high, priorityOf(rule)));
  const moved = priority === priorityOf(rule) ? rule : { ...rule, priority };
  return rest.toSpliced(to, 0, moved);
}

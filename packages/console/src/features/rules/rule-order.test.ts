import { describe, expect, it } from 'vitest';
import { inOrder, isInOrder, moveRule } from './rule-order.js';

const rules = (...priorities: (number | undefined)[]) =>
  priorities.map((priority, index) => ({
    metric: `m${index}`,
    ...(priority === undefined ? {} : { priority }),
  }));
const listed = (list: readonly { metric: string; priority?: number }[]) =>
  list.map(({ metric, priority }) => `${metric}:${priority ?? '-'}`);

describe('the order of pricing rules', () => {
  it('goes by priority, which is 0 where none is given, and keeps equal ones as they stand', () => {
    expect(listed(inOrder(rules(5, undefined, -1, 0)))).toEqual(['m2:-1', 'm1:-', 'm3:0', 'm0:5']);
    expect(isInOrder(rules(-1, undefined, 0, 5))).toBe(true);
    expect(isInOrder(rules(5, undefined))).toBe(false);
    expect(isInOrder([])).toBe(true);
  });

  it('keeps the priority of a rule that is moved among its equals', () => {
    expect(listed(moveRule(rules(0, undefined, 0), 2, 0))).toEqual(['m2:0', 'm0:0', 'm1:-']);
  });

  it('gives a rule that is moved past others the priority that it needs there', () => {
    expect(listed(moveRule(rules(1, 2, 3), 2, 0))).toEqual(['m2:1', 'm0:1', 'm1:2']);
    expect(listed(moveRule(rules(1, 2, 3), 0, 2))).toEqual(['m1:2', 'm2:3', 'm0:3']);
    expect(listed(moveRule(rules(1, 2, 3), 0, 1))).toEqual(['m1:2', 'm0:2', 'm2:3']);
  });

  it('leaves rules in order as they are after any move', () => {
    for (let from = 0; from < 4; from += 1)
      for (let to = 0; to < 4; to += 1) expect(isInOrder(moveRule(rules(1, 4, 4, 9), from, to))).toBe(true);
  });
});

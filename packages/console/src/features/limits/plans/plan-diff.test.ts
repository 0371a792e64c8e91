import type { UsageLimitPlanRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { diffOf, isSame } from './plan-diff.js';

const rule = (limit_key: string, change: Partial<UsageLimitPlanRule> = {}): UsageLimitPlanRule => ({
  id: `ulpr_${limit_key}`,
  plan_version_id: 'ulpv_1',
  limit_key,
  measure: 'amount',
  selector_type: 'all',
  selector_value: '',
  currency: 'USD',
  period: 'month',
  limit_amount: '1000',
  action: 'block',
  notify_at: [],
  created_at: 0,
  updated_at: 0,
  ...change,
});
const plan = (...rules: UsageLimitPlanRule[]) => ({ title: 'Starter', description: '', rules });

describe('what changes between two versions', () => {
  it('is nothing when they say the same', () => {
    const before = plan(rule('a'), rule('b'));
    const after = plan(rule('a', { id: 'ulpr_2', updated_at: 9 }), rule('b'));
    expect(isSame(diffOf(before, after))).toBe(true);
  });

  it('is every rule where there was none', () => {
    const diff = diffOf(undefined, plan(rule('a')));
    expect(diff.rules).toMatchObject([{ kind: 'added', rule: { limit_key: 'a' } }]);
    expect(diff.texts).toEqual([]);
  });

  it('names rules that come and go, another order, and other texts', () => {
    const after = { ...plan(rule('c'), rule('b'), rule('a')), title: 'Basic' };
    const diff = diffOf(plan(rule('a'), rule('b'), rule('gone')), after);
    expect(diff.rules.map(({ kind, rule: { limit_key } }) => `${kind} ${limit_key}`)).toEqual([
      'added c',
      'removed gone',
    ]);
    expect(diff.isReordered).toBe(true);
    expect(diff.texts).toEqual([{ label: 'Title', before: 'Starter', after: 'Basic' }]);
  });

  it.each([
    [{ limit_amount: '2000' }, 'The new limit applies from the next window.'],
    [
      { limit_amount: '2000', action: 'notify' },
      'The new limit applies from the next window, other changes immediately.',
    ],
    [{ notify_at: [50] }, 'Applies immediately.'],
    [{ currency: 'EUR' }, 'The counter restarts from zero.'],
    [{ period: 'day', limit_amount: '5' }, 'The counter restarts from zero.'],
  ] as const)('says of %j what it does', (change, effect) => {
    const changed = rule('a', change as Partial<UsageLimitPlanRule>);
    expect(diffOf(plan(rule('a')), plan(changed)).rules).toMatchObject([{ kind: 'changed', effect }]);
  });

  it('shows fields before and after', () => {
    const [change] = diffOf(plan(rule('a')), plan(rule('a', { limit_amount: '2000' }))).rules;
    expect(change).toMatchObject({ fields: [{ label: 'Limit', before: '1,000', after: '2,000' }] });
  });
});

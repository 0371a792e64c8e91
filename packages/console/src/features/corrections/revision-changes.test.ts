import type { UsageChargeItem } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { isRevert, itemChanges } from './revision-changes.js';

const item = (fields: Partial<UsageChargeItem>) =>
  ({
    metric: 'tokens',
    unit: 'token',
    currency: 'USD',
    quantity: '1000',
    amount: '0.5',
    ...fields,
  }) as UsageChargeItem;

it('shows which quantities and amounts have changed', () => {
  expect(itemChanges([item({})], [item({ quantity: '1200', amount: '0.6' })])).toEqual([
    { metric: 'tokens', text: '1,000 → 1,200 token' },
    { metric: 'tokens', text: '0.5 → 0.6 USD' },
  ]);
});

it('shows what a void takes back, and that a price was added', () => {
  expect(itemChanges([item({})], [])).toEqual([
    { metric: 'tokens', text: '1,000 → 0 token' },
    { metric: 'tokens', text: '0.5 → 0 USD' },
  ]);
  expect(itemChanges([item({ currency: null, amount: '0' })], [item({})])).toEqual([
    { metric: 'tokens', text: '0 → 0.5 USD' },
  ]);
});

it('shows nothing where nothing has changed', () => {
  expect(itemChanges([item({})], [item({})])).toEqual([]);
});

it('shows which costs have changed, by their own currency', () => {
  const cost = (amount: string) => ({
    cost: { amount, currency: 'EUR', pricing_rule_set_id: null, version: null, rule: 'a' },
  });
  expect(itemChanges([item(cost('0.2'))], [item(cost('0.3'))])).toEqual([
    { metric: 'tokens', text: 'cost 0.2 → 0.3 EUR' },
  ]);
});

it('tells a revert from the correction that it reverts', () => {
  const [first, applied, reverted] = [null, 'cor_1', 'cor_1'].map((correction_id, index) => ({
    revision: index + 1,
    correction_id,
  }));
  const all = [first, applied, reverted].flatMap((each) => each ?? []);
  expect(all.map((each) => isRevert(all, each))).toEqual([false, false, true]);
});

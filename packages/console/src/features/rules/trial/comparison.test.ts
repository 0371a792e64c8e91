import type { UsageChargeItem } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { totalsOf } from '../../../exact-sum.js';
import { changeOf, compareItems, isChanged, signed } from './comparison.js';

function item(metric: string, quantity: string, amount: string, currency: string | null = 'USD') {
  const item: UsageChargeItem = {
    extractor_name: metric,
    metric,
    unit: 'token',
    quantity,
    unit_price: null,
    amount,
    discount: '0',
    currency,
    source: 'extractor',
    pricing_source: 'unpriced',
    rule_set_id: null,
    rule_set_version: null,
    rule_name: null,
    cumulative: null,
    cost: null,
  };
  return item;
}

describe('changeOf', () => {
  it.each([
    ['1', '1.000000000000000001', '0.000000000000000001'],
    ['3', '-1', '-4'],
    ['-2', '5', '7'],
    ['2', '2.0', '0'],
  ])('from %s to %s: %s', (before, after, difference) => {
    expect(changeOf(before, after).difference).toBe(difference);
  });

  it('shows what changed', () => {
    expect([isChanged(changeOf('1', '1.0')), isChanged(changeOf('1', '2'))]).toEqual([false, true]);
  });
});

it.each([
  ['0', '0'],
  ['1.5', '+1.5'],
  ['-3', '-3'],
])('signs %s as %s', (difference, expected) => {
  expect(signed(difference)).toBe(expected);
});

describe('compareItems', () => {
  it('sums what is alike, and shows what came and what is gone', () => {
    const before = [item('in', '1', '0.1'), item('in', '2', '0.2'), item('gone', '1', '1')];
    const after = [item('in', '3', '0.6'), item('new', '5', '0', null)];
    expect(
      compareItems(before, after).map(({ metric, quantity, amount }) => [
        metric,
        quantity.difference,
        amount.difference,
      ]),
    ).toEqual([
      ['in', '0', '0.3'],
      ['new', '5', '0'],
      ['gone', '-1', '-1'],
    ]);
  });

  it('adds up no two currencies', () => {
    expect(compareItems([item('in', '1', '1', 'USD')], [item('in', '1', '1', 'EUR')])).toHaveLength(2);
  });
});

it('totals by currency, exactly, and leaves out what has no price', () => {
  const items = [
    item('a', '1', '0.1'),
    item('b', '1', '0.2'),
    item('c', '1', '4', 'EUR'),
    item('d', '1', '0', null),
  ];
  expect(totalsOf(items)).toEqual([
    { currency: 'USD', amount: '0.3' },
    { currency: 'EUR', amount: '4' },
  ]);
});

import type { BudgetLease } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { remainingOf, treeRows } from './tree-rows.js';

function lease(id: string, parentId: string | null, remaining: string, quantity?: string): BudgetLease {
  const holds = [{ amount: '10', currency: 'USD', used: '0', remaining }];
  const tokens = { quantity: '100', metric: 'tokens', used: '0', remaining: quantity ?? '0' };
  return {
    ...{ id, parent_lease_id: parentId, holds: quantity === undefined ? holds : [...holds, tokens] },
    ...{ tenant_id: 't', project_id: 'p', subject_type: 'user', subject_id: 'u', account_id: null },
    ...{ currency: null, amount: null, used_amount: null, remaining_amount: null, metric: null },
    ...{ dimensions: {}, status: 'active', expires_at: 2, created_at: 1, closed_at: null },
  };
}

const LEASES = [
  lease('top', null, '1', '7'),
  lease('a', 'top', '2', '5'),
  lease('b', 'top', '0.5'),
  lease('a1', 'a', '0.25'),
];

it('puts each lease before its parts, with what these have remaining', () => {
  const rows = treeRows(LEASES).map(({ lease: { id }, depth, inParts }) => [id, depth, [...inParts]]);
  expect(rows).toEqual([
    [
      'top',
      0,
      [
        ['USD', '2.75'],
        ['tokens', '5'],
      ],
    ],
    ['a', 1, [['USD', '0.25']]],
    ['a1', 2, []],
    ['b', 1, []],
  ]);
});

it('shows a lease whose parent is not among them', () => {
  expect(treeRows(LEASES.slice(1)).map(({ lease: { id }, depth }) => [id, depth])).toEqual([
    ['a', 0],
    ['a1', 1],
    ['b', 0],
  ]);
});

it('adds up what a tree still reserves', () => {
  expect([...remainingOf(LEASES)]).toEqual([
    ['USD', '3.75'],
    ['tokens', '12'],
  ]);
});

import type { CorrectionTotal } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { changesOf } from './changes-of.js';

const change = (before: string, after: string, delta: string): CorrectionTotal => ({
  ...{ metric: 'tokens', unit: 'token', currency: 'USD', account_id: null },
  quantity: { before: '16', after: '0', delta: '-16' },
  amount: { before, after, delta },
  cost: { before: '0', after: '0', delta: '0' },
});
const planned = [change('26', '0', '-26')];
const posted = [change('26', '10', '-16')];
const correction = { totals: planned, totals_count: 1, events_changed: 2 };
const nothing = { events: 0, totals: [] };

it('shows what was posted, once it is applied, not what was planned', () => {
  expect(changesOf({ ...correction, status: 'applied', applied: { events: 2, totals: posted } })).toEqual([
    { label: 'Changes', totals: posted, totalsCount: 1 },
  ]);
});

it.each(['applying', 'stale'] as const)('shows what is in force, and the plan: %s', (status) => {
  expect(changesOf({ ...correction, status, applied: { events: 1, totals: posted } })).toEqual([
    { label: 'Changes in force', totals: posted },
    { label: 'Planned changes', totals: planned, totalsCount: 1 },
  ]);
});

it.each([
  ['planned', 'Planned changes'],
  ['expired', 'Planned changes'],
  ['reverted', 'Changes'],
] as const)('shows the plan where nothing is in force: %s', (status, label) => {
  const expected = [{ label, totals: planned, totalsCount: 1 }];
  expect(changesOf({ ...correction, status, applied: nothing })).toEqual(expected);
});

it('shows no table without changes', () => {
  const empty = { totals: [], totals_count: 0, events_changed: 0, applied: nothing };
  expect(changesOf({ ...empty, status: 'applied' })).toEqual([]);
  expect(changesOf({ ...empty, status: 'planned' })).toEqual([]);
});

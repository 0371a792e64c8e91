import { expect, it } from 'vitest';
import { BacktestSlots } from './backtest-slots.js';

const BOUNDS = { perTenantMax: 2, totalMax: 3 };

it('a tenant has so many places, whatever others have', () => {
  const places = new BacktestSlots(BOUNDS);
  const giveBack = places.take('ten_a');
  places.take('ten_a');
  expect(() => places.take('ten_a')).toThrow('2 backtests of this tenant run or wait');
  places.take('ten_b');
  giveBack();
  places.take('ten_a');
});

it('all have so many together', () => {
  const places = new BacktestSlots(BOUNDS);
  const taken = ['ten_a', 'ten_b', 'ten_c'].map((tenantId) => places.take(tenantId));
  expect(() => places.take('ten_d')).toThrow('3 backtests run or wait on this node');
  for (const giveBack of taken) giveBack();
  places.take('ten_d');
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '../../testing/index.js';
import { type BacktestFixture, openBacktestFixture } from './backtest.testing.js';

let fixture: BacktestFixture;
beforeAll(async () => {
  fixture = await openBacktestFixture({ atOnceMsMax: 1 });
});
afterAll(() => fixture.close());

it('a small backtest that does not end soon returns 202, and continues', async () => {
  fixture.closeGate();
  const { httpStatus, answer } = await fixture.backtest({});
  expect([httpStatus, answer.status]).toEqual([202, 'running']);
  fixture.openGate();
  await waitFor(async () => (await fixture.read(answer.id)).status === 'succeeded');
});

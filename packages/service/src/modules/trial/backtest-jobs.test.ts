import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import { waitFor } from '../../testing/index.js';
import { type BacktestFixture, JOB_EVENTS, openBacktestFixture } from './backtest.testing.js';

let fixture: BacktestFixture;
beforeAll(async () => {
  fixture = await openBacktestFixture();
});
afterAll(() => fixture.close());

afterEach(() => fixture.openGate());

describe('a large backtest', () => {
  it('returns 202, shows its progress, then its result', async () => {
    const id = await fixture.startJob();
    expect(await fixture.read(id)).toMatchObject({
      status: 'running',
      progress: { events_done: 0, events_total: JOB_EVENTS },
      result: null,
      finished_at: null,
    });
    expect(fixture.trial.jobs.runningCount).toBe(1);
    fixture.openGate();
    await waitFor(async () => (await fixture.read(id)).status !== 'running');
    expect(await fixture.read(id)).toMatchObject({
      status: 'succeeded',
      progress: { events_done: JOB_EVENTS, events_total: JOB_EVENTS },
      result: { event_count: JOB_EVENTS },
      finished_at: TEST_NOW_S,
    });
    expect(fixture.trial.jobs.runningCount).toBe(0);
  });

  it('is the only one of its project, on every node; and few run on one node', async () => {
    const id = await fixture.startJob();
    const again = { extractor_rule_set_id: fixture.extractorId, time_range: fixture.timeRange };
    await expect(fixture.trial.otherNode().backtests.start(fixture.project, again)).rejects.toMatchObject({
      code: 'backtest_running',
    });
    const here = await fixture.trial.post('/rules/backtest', again);
    expect([here.status, here.json().code]).toEqual([503, 'server_busy']);
    fixture.openGate();
    await waitFor(async () => (await fixture.read(id)).status === 'succeeded');
    expect((await fixture.backtest({})).answer.status).toBe('succeeded');
  });

  it('is cancelled on request, and stays so', async () => {
    const id = await fixture.startJob();
    const cancelled = await fixture.trial.call('DELETE', fixture.url(id));
    expect([cancelled.status, cancelled.json().status]).toEqual([200, 'cancelled']);
    fixture.openGate();
    await waitFor(() => fixture.trial.jobs.runningCount === 0);
    expect(await fixture.read(id)).toMatchObject({ status: 'cancelled', result: null, failure: null });
    expect((await fixture.trial.call('DELETE', fixture.url(id))).json().status).toBe('cancelled');
  });

  it('is cancelled through another node', async () => {
    const id = await fixture.startJob();
    const node = fixture.trial.otherNode();
    expect((await node.backtests.cancel(fixture.project, id)).status).toBe('cancelled');
    fixture.trial.clock.advanceMs(2_000); // it checks at intervals
    fixture.openGate();
    await waitFor(() => fixture.trial.jobs.runningCount === 0);
    expect((await fixture.read(id)).status).toBe('cancelled');
  });

  it('fails as interrupted, for all to see, when its node is killed', async () => {
    const id = await fixture.startJob();
    // The node is gone: its job has stopped, and reports nothing more.
    fixture.trial.clock.advanceMs(59_000);
    expect((await fixture.read(id)).status).toBe('running');
    fixture.trial.clock.advanceMs(2_000);
    expect(await fixture.trial.otherNode().backtests.read(fixture.project, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'interrupted' },
    });
    // If the node was only slow, its result comes too late.
    fixture.openGate();
    await waitFor(() => fixture.trial.jobs.runningCount === 0);
    expect((await fixture.read(id)).status).toBe('failed');
  });

  it('fails as interrupted when its node stops', async () => {
    fixture.closeGate();
    const node = fixture.trial.otherNode();
    const { id } = await node.backtests.start(fixture.project, {
      extractor_rule_set_id: fixture.jobExtractorId,
      time_range: fixture.timeRange,
    });
    const closing = node.jobs.close();
    fixture.openGate();
    await closing;
    expect(await fixture.read(id)).toMatchObject({ status: 'failed', failure: { code: 'interrupted' } });
    await expect(
      node.backtests.start(fixture.project, {
        extractor_rule_set_id: fixture.jobExtractorId,
        time_range: fixture.timeRange,
      }),
    ).rejects.toMatchObject({ code: 'shutting_down' });
  });
});

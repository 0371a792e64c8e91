import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../kernel/clock.js';
import { createProjector } from '../modules/pipeline/index.js';
import { createMetrics } from '../platform/metrics/index.js';
import type { EndedWork, Tracing } from '../platform/tracing/index.js';
import {
  batchRecord,
  createTestClickHouse,
  PipelineFixture,
  type TestClickHouse,
  testEvent,
} from '../testing/index.js';
import { memoryGroups } from '../testing/memory-groups.js';
import { observeProjection } from './pipeline-metrics.js';

let pipeline: PipelineFixture;
let house: TestClickHouse;
beforeEach(async () => {
  [pipeline, house] = await Promise.all([PipelineFixture.create(), createTestClickHouse()]);
});
afterEach(() => Promise.all([pipeline.drop(), house.drop()]));

/** Rates one event that was received ten seconds before `PipelineFixture.nowMs`. */
async function rateOne(): Promise<void> {
  const record = batchRecord(pipeline.project, [testEvent('k1')]);
  await pipeline.accept({ ...record, receivedAtMs: PipelineFixture.nowMs - 10_000 });
  await pipeline.worker().drain();
}

/** Returns a projector, the text of its metrics and its traces. */
function observed(clickhouse: Parameters<typeof createProjector>[0]['clickhouse'] = house.clickhouse) {
  const traces: [string, EndedWork][] = [];
  const tracing: Tracing = {
    beginRequest: () => undefined,
    record: (name, work) => traces.push([name, work]),
    close: async () => {},
  };
  const metrics = createMetrics();
  const { postgres, spool } = pipeline;
  const projector = createProjector({
    postgres,
    clickhouse,
    spool,
    clock: new ManualClock(PipelineFixture.nowMs + 15_000),
    observer: observeProjection(metrics, pino({ level: 'silent' }), tracing),
  });
  return { projector, traces, textOf: (name: string) => metrics.getSingleMetricAsString(name) };
}

describe('a projector', () => {
  it('measures how long its events could not be queried, and its stages', async () => {
    await rateOne();
    const { projector, traces, textOf } = observed();
    await projector.drain();
    const age = await textOf('tollgate_event_queryable_seconds');
    expect(age).toContain('tollgate_event_queryable_seconds_sum 25\n');
    expect(age).toContain('tollgate_event_queryable_seconds_count 1');
    const stages = ['group', 'read', 'record', 'insert', 'delete', 'unlink'];
    const seconds = await textOf('tollgate_projector_stage_seconds_total');
    for (const stage of stages) expect(seconds).toContain(`{stage="${stage}"}`);
    expect(traces).toEqual([
      ['project group', expect.objectContaining({ counts: { events: 1, batches: 1 } })],
    ]);
    expect(traces[0]?.[1].stages.map(({ stage }) => stage)).toEqual(stages);
  });

  it('traces a group that failed until its last stage', async () => {
    await rateOne();
    const insertRows = async () => {
      throw new TypeError('no ClickHouse');
    };
    const { projector, traces } = observed({ ...memoryGroups(), insertRows });
    await expect(projector.drain()).rejects.toThrow('no ClickHouse');
    expect(traces).toMatchObject([['project group', { errorType: 'TypeError', counts: {} }]]);
    expect(traces[0]?.[1].stages.map(({ stage }) => stage)).toEqual(['group', 'read', 'record']);
  });
});

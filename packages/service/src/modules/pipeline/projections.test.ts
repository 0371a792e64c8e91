import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { createMetrics } from '../../platform/metrics/index.js';
import { connectPostgres } from '../../platform/postgres/index.js';
import {
  batchRecord,
  createProject,
  dueAtMs,
  PipelineFixture,
  RECEIVED_AT_MS,
  TEST_DAY,
  testEvent,
} from '../../testing/index.js';
import type { ProjectionStage } from './observer.js';
import { measureProjection } from './projection-metrics.js';
import { createProjector } from './projector.js';
import { waitingBatch } from './projector-store.js';

const DAY_START_S = TEST_DAY * 86_400;
/** For how long changed ranges are kept. */
const KEPT_MS = 10 * 60_000;

let fixture: PipelineFixture;
let clock: ManualClock;
let keys: number;
beforeEach(async () => {
  fixture = await PipelineFixture.create();
  clock = new ManualClock(PipelineFixture.nowMs);
  keys = 0;
});
afterEach(() => fixture.drop());

/** Rates one batch with an event at each of these times. */
async function rate(times: readonly number[], project = fixture.project, fields: object = {}): Promise<void> {
  const events = times.map((time) => testEvent(`k${keys++}`, { occurred_at: time, ...fields }));
  await fixture.accept(batchRecord(project, events));
  await fixture.worker().drain();
}

async function project(killAfter?: ProjectionStage): Promise<void> {
  const observer = {
    stage: (stage: ProjectionStage) => {
      if (stage === killAfter) throw new Error(`killed after ${stage}`);
    },
    group: () => {},
    groupFailed: () => {},
    spoolCorrupt: () => {},
  };
  const { postgres, spool } = fixture;
  const clickhouse = { ...fixture.recordedGroups, insertRows: async () => {} };
  await createProjector({ postgres, clickhouse, spool, clock, observer }).drain();
}

const projections = () => fixture.rows('select project_id, spans, at_ms from projections order by position');

describe('the end of a group', () => {
  it('reports the minutes of its charge items, per project', async () => {
    const other = await createProject(fixture.postgres, 'ten_a', 'prj_b');
    await rate([DAY_START_S + 5, DAY_START_S + 61, DAY_START_S + 600]);
    await rate([DAY_START_S + 130]);
    await rate([DAY_START_S], other);
    await project();
    const atMs = clock.nowMs();
    expect(await projections()).toEqual(
      expect.arrayContaining([
        {
          project_id: 'prj_a',
          spans: `{[${DAY_START_S},${DAY_START_S + 180}),[${DAY_START_S + 600},${DAY_START_S + 660})}`,
          at_ms: atMs,
        },
        { project_id: 'prj_b', spans: `{[${DAY_START_S},${DAY_START_S + 60})}`, at_ms: atMs },
      ]),
    );
    expect(await projections()).toHaveLength(2);
  });

  it('reports one span where there would be too many', async () => {
    for (let batch = 0; batch < 5; batch++) {
      await rate(Array.from({ length: 16 }, (_, n) => DAY_START_S + (16 * batch + n) * 600));
    }
    await project();
    expect(await projections()).toEqual([
      {
        project_id: 'prj_a',
        spans: `{[${DAY_START_S},${DAY_START_S + 79 * 600 + 60})}`,
        at_ms: clock.nowMs(),
      },
    ]);
  });

  it('reports no failed event, which has no charge items', async () => {
    await rate([DAY_START_S], fixture.project, { raw_json: {} });
    await project();
    expect(await projections()).toEqual([]);
  });

  it('reports once, with the end, whatever it dies after', async () => {
    await rate([DAY_START_S]);
    await expect(project('insert')).rejects.toThrow('killed');
    expect(await projections()).toEqual([]);
    await expect(project('delete')).rejects.toThrow('killed');
    expect(await projections()).toHaveLength(1);
    await project();
    expect(await projections()).toHaveLength(1);
  });

  it('deletes old reports except the last, which says from where on nothing is missing', async () => {
    const times: number[] = [];
    for (let n = 0; n < 3; n++) {
      times.push(clock.nowMs());
      await rate([DAY_START_S]);
      await project();
      clock.advanceMs(KEPT_MS);
    }
    const kept = (await projections()) as { at_ms: number }[];
    expect(kept.map(({ at_ms }) => at_ms)).toEqual(times.slice(1));
  });
});

it('a projector has work while a batch waits', async () => {
  const due = () => dueAtMs(fixture.postgres, waitingBatch);
  expect(await due()).toBeNull();
  await rate([DAY_START_S]);
  expect(await due()).toBe(0);
  await project();
  expect(await due()).toBeNull();
});

describe('the metric of the lag', () => {
  const NAME = 'tollgate_projection_oldest_seconds';

  it('is the age of the oldest event that waits, and 0 when none waits', async () => {
    const metrics = createMetrics();
    measureProjection(metrics, { postgres: fixture.postgres, clock });
    const lag = async () => (await metrics.getSingleMetricAsString(NAME)).split('\n').at(-1);
    expect(await lag()).toBe(`${NAME} 0`);
    await rate([DAY_START_S]);
    clock.advanceMs(60_000);
    expect(await lag()).toBe(`${NAME} ${(clock.nowMs() - RECEIVED_AT_MS) / 1_000}`);
    await project();
    expect(await lag()).toBe(`${NAME} 0`);
  });

  it('does not prevent the other metrics from being read while PostgreSQL is away', async () => {
    const metrics = createMetrics();
    const connection = { host: '/nowhere', port: 1, user: 'a', password: 'b', database: 'c' };
    const log = { warn: () => {} };
    const absent = connectPostgres({ connection, applicationName: 'test', poolMax: 1, log });
    measureProjection(metrics, { postgres: absent, clock });
    expect(await metrics.metrics()).toContain('process_cpu_seconds_total');
    await absent.close();
  });
});

import { USAGE_ALERTS_PER_HOUR_MAX } from '@tollgate/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  batchRecord,
  createProject,
  idHexOf,
  PipelineFixture,
  reprocessRecord,
  TEST_DAY,
  testEvent,
} from '../../testing/index.js';

const HOUR_MS = 3_600_000;
const HOUR = Math.floor(PipelineFixture.nowMs / HOUR_MS) * 3_600;

describe('alerts of a batch', () => {
  let fixture: PipelineFixture;

  beforeEach(async () => {
    fixture = await PipelineFixture.create();
  });

  afterEach(() => fixture.drop());

  const unpriced = (key: string, metric = 'llm.images') =>
    testEvent(key, { raw_json: { tokens: 1, unpriced: metric } });
  const failing = (key: string) => testEvent(key, { raw_json: {} });

  /** Returns the messages, ordered by type and name. */
  async function sent(): Promise<{ project_id: string; type: string; data: Record<string, unknown> }[]> {
    const rows = await fixture.rows(
      `select project_id, type, payload::json -> 'data' as data from webhook_messages
       order by project_id, type, payload::json -> 'data' ->> 'metric', id`,
    );
    return rows as Awaited<ReturnType<typeof sent>>;
  }

  it('sends one message for the unpriced items of a metric, and one for the events of a failure code', async () => {
    const [first, second, failed] = [unpriced('a'), unpriced('b'), failing('c')];
    await fixture.accept(batchRecord(fixture.project, [testEvent('priced'), first, second, failed]));
    await fixture.worker().drain();
    const about = { project_id: 'prj_a', hour: HOUR, extractor_rule_set_id: 'ers_1' };
    expect(await sent()).toEqual([
      {
        project_id: 'prj_a',
        type: 'usage.failed',
        data: {
          ...about,
          raw_event_id: `evt_${idHexOf(fixture.project, failed)}`,
          occurred_at: failed.occurred_at,
          code: 'dimension_missing',
          message: 'no tokens',
          path: 'x[0]',
          event_count: 1,
        },
      },
      {
        project_id: 'prj_a',
        type: 'usage.unpriced',
        data: {
          ...about,
          raw_event_id: `evt_${idHexOf(fixture.project, first)}`,
          occurred_at: first.occurred_at,
          metric: 'llm.images',
          item_count: 2,
        },
      },
    ]);
    expect(await fixture.rows('select day, processed_count, unpriced_count from usage_event_totals')).toEqual(
      [{ day: TEST_DAY, processed_count: 3, unpriced_count: 2 }],
    );
  });

  it('sends nothing, and writes nothing, for usage that is priced', async () => {
    await fixture.accept(batchRecord(fixture.project, [testEvent('a')]));
    await fixture.worker().drain();
    expect(await sent()).toEqual([]);
    expect(await fixture.rows('select from usage_alerts')).toEqual([]);
  });

  it('sends the same again in the next hour, for another metric and for another project only', async () => {
    const other = await createProject(fixture.postgres, 'ten_b', 'prj_b');
    const send = async (
      key: string,
      nowMs = PipelineFixture.nowMs,
      project = fixture.project,
      metric?: string,
    ) => {
      await fixture.accept(batchRecord(project, [unpriced(key, metric)]));
      await fixture.worker({}, nowMs).drain();
      return (await sent()).map(({ project_id, data }) => [project_id, data.hour, data.metric]);
    };
    const first = ['prj_a', HOUR, 'llm.images'];
    expect(await send('a')).toEqual([first]);
    expect(await send('b')).toEqual([first]);
    // A duplicate sends no alert.
    expect(await send('a')).toEqual([first]);
    expect(await send('c', PipelineFixture.nowMs, other)).toHaveLength(2);
    expect(await send('d', PipelineFixture.nowMs, fixture.project, 'llm.audio')).toHaveLength(3);
    expect(await send('e', PipelineFixture.nowMs + HOUR_MS)).toContainEqual([
      'prj_a',
      HOUR + 3_600,
      'llm.images',
    ]);
    expect(await sent()).toHaveLength(4);
  });

  it('sends a failure once though the event is rated again and fails again', async () => {
    const event = failing('a');
    await fixture.accept(batchRecord(fixture.project, [event]));
    await fixture.worker().drain();
    await fixture.accept(reprocessRecord(fixture.project, [idHexOf(fixture.project, event)]));
    await fixture.worker().drain();
    expect(await sent()).toHaveLength(1);
  });

  it('sends with the commit of its batch: nothing when that dies, once when it is done again', async () => {
    await fixture.accept(batchRecord(fixture.project, [unpriced('a'), failing('b')]));
    fixture.killAfter = 'totals';
    await expect(fixture.worker().drain()).rejects.toThrow('killed');
    expect(await sent()).toEqual([]);
    fixture.killAfter = undefined;
    await fixture.worker().drain();
    expect((await sent()).map(({ type }) => type)).toEqual(['usage.failed', 'usage.unpriced']);
  });

  it('sends each once though workers compete', async () => {
    const events = Array.from({ length: 60 }, (_, n) =>
      n % 2 === 0 ? unpriced(`u${n}`, `m${n % 3}`) : failing(`f${n}`),
    );
    await fixture.rateCompeting(events, 6);
    expect((await sent()).map(({ type, data }) => [type, data.metric ?? data.code])).toEqual([
      ['usage.failed', 'dimension_missing'],
      ['usage.unpriced', 'm0'],
      ['usage.unpriced', 'm1'],
      ['usage.unpriced', 'm2'],
    ]);
  });

  it('names so many metrics of a project in an hour, and forgets earlier hours', async () => {
    const events = Array.from({ length: USAGE_ALERTS_PER_HOUR_MAX - 1 }, (_, n) =>
      unpriced(`a${n}`, `a${n}`),
    );
    await fixture.accept(batchRecord(fixture.project, events));
    await fixture.worker().drain();
    const more = Array.from({ length: USAGE_ALERTS_PER_HOUR_MAX + 1 }, (_, n) => unpriced(`b${n}`, `b${n}`));
    await fixture.accept(batchRecord(fixture.project, more));
    await fixture.worker().drain();
    expect(await sent()).toHaveLength(USAGE_ALERTS_PER_HOUR_MAX);
    await fixture.accept(batchRecord(fixture.project, [unpriced('late')]));
    await fixture.worker({}, PipelineFixture.nowMs + 48 * HOUR_MS).drain();
    expect(await sent()).toHaveLength(USAGE_ALERTS_PER_HOUR_MAX + 1);
    expect(await fixture.rows('select from usage_alerts')).toHaveLength(1);
  });
});

import { BOARD_CHARTS_MAX, CHART_BODY_BYTES_MAX, CHARTS_BYTES_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHART, createTestBoards, type TestBoards } from './boards.testing.js';
import { createBoards } from './index.js';

let api: TestBoards;
let boardId: string;
beforeAll(async () => {
  api = await createTestBoards();
  boardId = (await api.makeBoard({ timezone: 'America/New_York' })).report_id;
});
afterAll(() => api.close());

const create = (body: object, status = 201) =>
  api.must(status, 'POST', `/boards/${boardId}/charts`, { ...CHART, board_id: boardId, ...body });
const replace = (chartId: string, body: object, status = 200) =>
  api.must(status, 'PUT', `/charts/${chartId}`, { ...CHART, board_id: boardId, ...body });

describe('a chart', () => {
  it('sends a valid query for every range', async () => {
    const { query } = await create({
      subject_type: 'user',
      bucket_size: '1m',
      filters: { model: { in: ['a'] }, subject_type: { exists: true } },
      group_by: ['model'],
      measures: ['amount'],
      limit: 10,
    });
    expect(query).toMatchObject({ limit: 10, subject_type: 'user', bucket_size: '1m' });
    for (const last_seconds of [300, 2_592_000]) {
      const result = await api.must(200, 'POST', '/query', { ...query, time_range: { last_seconds } });
      expect(result).toMatchObject({ timezone: 'America/New_York', group_by: ['bucket', 'model'], rows: [] });
      expect(result.bucket_size).toBe(last_seconds === 300 ? '1m' : '30m');
    }
  });

  it('of the cost of all metrics sends a query that adds them up', async () => {
    const { report_id } = await api.makeBoard();
    const { metrics: _, ...chart } = CHART;
    const body = { ...chart, board_id: report_id, split_by: [], measures: ['amount'] };
    const { query } = await api.must(201, 'POST', `/boards/${report_id}/charts`, body);
    expect(query).not.toHaveProperty('metrics');
    const time_range = { last_seconds: 86_400 };
    const answer = await api.must(200, 'POST', '/query', { ...query, time_range });
    expect(answer).toMatchObject({ split_by: [], measures: ['amount'], rows: [] });
  });

  it('asks in the timezone that its board has now', async () => {
    const { report_id } = await api.makeBoard();
    const chart = await api.makeChart(report_id);
    expect(chart.query.timezone).toBe('UTC');
    await api.must(200, 'PUT', `/boards/${report_id}`, { timezone: 'Asia/Tokyo' });
    const [moved] = (await api.shown(report_id)).charts;
    expect(moved).toEqual({ ...chart, query: { ...chart.query, timezone: 'Asia/Tokyo' } });
  });

  it('shows followers its query and the range of its board, within its project only', async () => {
    const { report_id } = await api.makeBoard({
      timezone: 'Asia/Tokyo',
      default_time_range_seconds: 604_800,
    });
    const chart = await api.makeChart(report_id, {
      filters: { ['__proto__']: { in: ['a'] } },
      group_by: ['b'],
    });
    const { charts } = createBoards(api);
    const owner = { tenantId: api.tenantId, projectId: api.projectId };
    const found = await charts.queriesOf(owner, [chart.chart_id, 'chr_absent', chart.chart_id]);
    expect([...found]).toEqual([[chart.chart_id, { query: chart.query, defaultRangeS: 604_800 }]]);
    const projectId = await api.makeProject(api.tenantId);
    expect(await charts.queriesOf({ ...owner, projectId }, [chart.chart_id])).toEqual(new Map());
    const tenantId = await api.makeTenant();
    expect(await charts.queriesOf({ ...owner, tenantId }, [chart.chart_id])).toEqual(new Map());
  });

  it('never changes its id or its board', async () => {
    const { chart_id } = await create({});
    const { report_id } = await api.makeBoard();
    const refused = await replace(chart_id, { board_id: report_id }, 400);
    expect(refused.details).toEqual([{ path: 'board_id', message: 'must be the board of the chart' }]);
    const renamed = await replace(chart_id, { chart_id: 'chr_other' }, 400);
    expect(renamed.details).toEqual([{ path: 'chart_id', message: 'must be the chart of the path' }]);
    expect((await api.shown(report_id)).charts).toEqual([]);
  });

  it('is gone once it is deleted; the others stay where they are', async () => {
    const { report_id } = await api.makeBoard();
    const charts = [
      await api.makeChart(report_id),
      await api.makeChart(report_id),
      await api.makeChart(report_id),
    ];
    const path = `/charts/${charts[1]?.chart_id}`;
    expect(await api.must(204, 'DELETE', path)).toBeUndefined();
    for (const method of ['DELETE', 'PUT'] as const) {
      await api.must(404, method, path, method === 'PUT' ? { ...CHART, board_id: report_id } : undefined);
    }
    expect((await api.shown(report_id)).charts).toEqual([charts[0], charts[2]]);
    expect((await api.shown(report_id)).charts.map(({ position }) => position)).toEqual([0, 2]);
  });

  it('is in the audit log with each change', async () => {
    const { chart_id } = await create({});
    await replace(chart_id, { title: 'New' });
    await replace(chart_id, { title: '' }, 400);
    await api.must(204, 'DELETE', `/charts/${chart_id}`);
    const input = { ...CHART, board_id: boardId };
    expect(await api.audited(chart_id)).toEqual([
      ['chart.create', input],
      ['chart.update', { ...input, title: 'New' }],
      ['chart.delete', { board_id: boardId, title: 'New' }],
    ]);
  });
});

describe('an id that the client chooses', () => {
  it('is kept, and taken once in the project', async () => {
    const { report_id } = await api.makeBoard();
    for (const chart_id of ['chr_mine', 'Requests-by_model', 'x'.repeat(64), '__proto__', 'constructor']) {
      expect(await api.makeChart(report_id, { chart_id })).toMatchObject({ chart_id });
      expect(await create({ chart_id }, 409)).toMatchObject({ code: 'chart_id_taken' });
      expect(await replace(chart_id, { board_id: report_id, title: 'New' })).toMatchObject({ chart_id });
    }
    await api.must(204, 'DELETE', '/charts/chr_mine');
    await create({ chart_id: 'chr_mine' });
  });

  it('says nothing about other projects', async () => {
    await create({ chart_id: 'chr_shared' });
    const url = `/v1/projects/${await api.makeProject(await api.makeTenant())}/analysis/boards`;
    const { report_id } = (await api.call('POST', url, { name: 'x' })).json();
    const body = { ...CHART, board_id: report_id, chart_id: 'chr_shared' };
    expect((await api.call('POST', `${url}/${report_id}/charts`, body)).status).toBe(201);
  });

  it('is taken once, however many ask at a time', async () => {
    const body = { ...CHART, board_id: boardId, chart_id: 'chr_raced' };
    const ask = () => api.call('POST', `${api.url}/boards/${boardId}/charts`, body);
    const answers = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });
});

describe('how many and how large', () => {
  it('a body is refused past its bound', async () => {
    const filters = { model: { in: Array.from({ length: 5 }, () => 'x'.repeat(4_000)) } };
    expect(await create({ filters }, 413)).toMatchObject({ code: 'payload_too_large' });
    expect((await create({ filters }, 413)).error).toContain(String(CHART_BODY_BYTES_MAX));
  });

  it('a board takes no more charts than it may have', async () => {
    const { report_id } = await api.makeBoard();
    for (let count = 0; count < BOARD_CHARTS_MAX; count += 1) await api.makeChart(report_id);
    const body = { ...CHART, board_id: report_id };
    const refusal = await api.must(409, 'POST', `/boards/${report_id}/charts`, body);
    expect(refusal).toMatchObject({
      code: 'chart_limit_reached',
      error: `The board has ${BOARD_CHARTS_MAX} charts, which is the maximum.`,
    });
    const { charts } = await api.shown(report_id);
    expect(charts.map(({ position }) => position)).toEqual(
      Array.from({ length: BOARD_CHARTS_MAX }, (_, i) => i),
    );
  });

  it('a project takes no larger charts than a list can show', async () => {
    const other = await createTestBoards();
    try {
      const filters = { model: { in: ['a', 'b', 'c'].map((text) => text.repeat(4_096)) } };
      const boards = [];
      for (let count = 0; count < 4; count += 1) boards.push((await other.makeBoard()).report_id);
      const { bytes } = await filled(other, boards, { filters });
      expect(bytes).toBeGreaterThan(CHARTS_BYTES_MAX - 2 * CHART_BODY_BYTES_MAX);
      const small = await other.makeChart(boards[3] as string);
      const body = { ...CHART, board_id: boards[3], filters };
      const refusal = await other.must(409, 'PUT', `/charts/${small.chart_id}`, body);
      expect(refusal.error).toContain(String(CHARTS_BYTES_MAX));
      const list = await other.call('GET', `${other.url}/boards`);
      expect(list.status).toBe(200);
      expect(list.text.length).toBeLessThan(2.5 * CHARTS_BYTES_MAX);
    } finally {
      await other.close();
    }
  });
});

/** Adds charts to the boards until one is refused. */
async function filled(
  target: TestBoards,
  boards: readonly string[],
  chart: object,
): Promise<{ bytes: number }> {
  for (const board_id of boards) {
    for (let count = 0; count < BOARD_CHARTS_MAX; count += 1) {
      const body = { ...CHART, board_id, ...chart };
      const answer = await target.call('POST', `${target.url}/boards/${board_id}/charts`, body);
      if (answer.status === 409) {
        expect(answer.json().code).toBe('chart_limit_reached');
        const { rows } = await target.postgres.pool.query('select sum(bytes)::int as bytes from charts');
        return rows[0];
      }
      expect(answer.status).toBe(201);
    }
  }
  throw new Error('nothing was refused');
}

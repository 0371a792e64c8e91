import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHART, createTestBoards, type TestBoards } from './boards.testing.js';

let api: TestBoards;
let boardId: string;
beforeAll(async () => {
  api = await createTestBoards();
  boardId = (await api.makeBoard({ timezone: 'America/New_York' })).report_id;
});
afterAll(() => api.close());

const nowS = () => Math.floor(api.clock.nowMs() / 1000);
const create = (body: object, status = 201) =>
  api.must(status, 'POST', `/boards/${boardId}/charts`, { ...CHART, board_id: boardId, ...body });
const replace = (chartId: string, body: object, status = 200) =>
  api.must(status, 'PUT', `/charts/${chartId}`, { ...CHART, board_id: boardId, ...body });
const listed = async (id: string) => (await api.shown(boardId)).charts.find((chart) => chart.chart_id === id);

/** A sent value may be long; its beginning names the test. */
const LABEL_CHARS = 60;

const MEASURES = ['item_count', 'quantity', 'amount'];

/** Other fields that are sent, with the values that the response shows. */
const TAKEN: readonly (readonly [sent: object, shown?: object])[] = [
  [{ title: '🦜'.repeat(120) }],
  [{ description: 'ü'.repeat(500) }],
  [{ description: '' }, { description: null }],
  [{ chart_type: 'line' }],
  [{ chart_type: 'bar' }, { comparison: null }],
  [{ chart_type: 'big_number' }, { chart_type: 'big_number', bucket_size: 'none', limit: null }],
  [{ chart_type: 'big_number', bucket_size: 'none', comparison: 'previous_period' }],
  [
    { chart_type: 'table', group_by: ['model'] },
    { bucket_size: 'none', group_by: ['bucket', 'model'], limit: null },
  ],
  [{ chart_type: 'table', comparison: 'previous_period' }],
  [
    { chart_type: 'top_n', group_by: ['model'] },
    { bucket_size: 'none', limit: 10 },
  ],
  [
    { chart_type: 'top_n', group_by: ['model'], limit: 3, comparison: 'previous_period' },
    { limit: 3, comparison: 'previous_period' },
  ],
  [{ position: 0 }],
  [{ position: 1_000_000 }],
  [{ size: 'full' }],
  [{ size: 'half' }],
  [{ subject_type: 'api_key' }],
  [{ bucket_size: 'auto' }],
  [{ bucket_size: '1m' }],
  [{ bucket_size: '3d' }],
  [{ bucket_size: '1mo' }],
  [{ bucket_size: '30s' }],
  [{ filters: {} }],
  [{ filters: { model: { in: ['a', 'b'] }, region: { exists: false }, subject_id: { not_in: ['c'] } } }],
  [{ filters: JSON.parse('{"b": {"in": ["x"]}, "__proto__": {"in": ["y"]}, "a": {"exists": true}}') }],
  [{ group_by: [] }, { group_by: ['bucket'] }],
  [{ group_by: ['bucket'] }],
  [{ group_by: ['model', 'region'] }, { group_by: ['bucket', 'model', 'region'] }],
  [{ group_by: ['model', 'bucket', 'model'] }, { group_by: ['bucket', 'model'] }],
  [{ group_by: ['a', 'b', 'c', 'd'] }, { group_by: ['bucket', 'a', 'b', 'c', 'd'] }],
  [{ group_by: ['bucket', 'a', 'b', 'c', 'd'] }],
  [{ measures: ['amount'] }],
  [{ measures: ['amount', 'item_count'] }],
  [{ measures: MEASURES }],
  [{ measures: ['p95', 'unique:@subject_id', 'average'] }],
  [{ measures: ['p95', 'p95'] }, { measures: ['p95'] }],
  [{ group_by: ['bucket', 'model'], limit: 1 }],
  [{ group_by: ['bucket', 'model'], limit: 100 }],
  [{ metrics: ['a'] }],
  [{ metrics: Array.from({ length: 32 }, (_, index) => `m${index}`) }],
  [{ metrics: ['a', 'b', 'a'] }, { metrics: ['a', 'b'] }],
  [{ metrics: undefined }, { metrics: null, split_by: ['metric'] }],
  [{ split_by: ['metric'] }],
  [{ split_by: [] }, { split_by: [], measures: ['item_count', 'amount'], metrics: CHART.metrics }],
  [
    { split_by: [], metrics: undefined },
    { split_by: [], metrics: null },
  ],
  [{ split_by: [], measures: ['quantity'] }],
];

/** The path in the refusal, and the sent fields. */
const REFUSED: readonly (readonly [path: string, sent: object])[] = [
  ['title', { title: '' }],
  ['measures', { measures: ['unique:@model'] }],
  ['measures[0]', { measures: ['unique:'] }],
  ['title', { title: ' ' }],
  ['title', { title: '🦜'.repeat(121) }],
  ['title', { title: undefined }],
  ['description', { description: 'x'.repeat(501) }],
  ['description', { description: null }],
  ['chart_type', { chart_type: 'pie' }],
  ['chart_type', { chart_type: undefined }],
  ['bucket_size', { chart_type: 'table', bucket_size: '1h' }],
  ['bucket_size', { chart_type: 'big_number', bucket_size: 'auto' }],
  ['group_by', { chart_type: 'big_number', group_by: ['model'] }],
  ['group_by', { chart_type: 'top_n' }],
  ['comparison', { chart_type: 'line', comparison: 'previous_period' }],
  ['comparison', { chart_type: 'table', comparison: 'previous_year' }],
  ['comparison', { chart_type: 'table', comparison: null }],
  ['position', { position: -1 }],
  ['position', { position: 1.5 }],
  ['position', { position: '1' }],
  ['position', { position: 1_000_001 }],
  ['size', { size: 'third' }],
  ['subject_type', { subject_type: 'Key' }],
  ['subject_type', { subject_type: '' }],
  ['bucket_size', { bucket_size: 'none' }],
  ['bucket_size', { bucket_size: '0m' }],
  ['bucket_size', { bucket_size: '0mo' }],
  ['bucket_size', { bucket_size: '121mo' }],
  ['bucket_size', { bucket_size: '-1h' }],
  ['bucket_size', { bucket_size: '1' }],
  ['bucket_size', { bucket_size: '' }],
  ['bucket_size', { bucket_size: '1h ' }],
  ['filters', { filters: [] }],
  ['filters.model', { filters: { model: {} } }],
  ['filters.model', { filters: { model: { in: ['a'], exists: true } } }],
  ['filters.model.in', { filters: { model: { in: [] } } }],
  ['filters.model.like', { filters: { model: { like: 'a' } } }],
  ['filters', { filters: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, { exists: true }])) }],
  ['group_by', { group_by: ['a', 'b', 'c', 'd', 'e'] }],
  ['group_by', { group_by: ['bucket', 'a', 'b', 'c', 'd', 'e'] }],
  ['group_by[0]', { group_by: [''] }],
  ['group_by', { group_by: 'model' }],
  ['measures', { measures: [] }],
  ['measures[0]', { measures: ['count'] }],
  ['limit', { group_by: ['model'], limit: 0 }],
  ['limit', { group_by: ['model'], limit: 101 }],
  ['limit', { group_by: ['bucket'], limit: 5 }],
  ['limit', { limit: 5 }],
  ['metrics', { metrics: [] }],
  ['split_by', { split_by: ['metric', 'metric'] }],
  ['split_by[0]', { split_by: ['currency'] }],
  ['split_by', { split_by: null }],
  ['metrics', { metrics: Array.from({ length: 33 }, (_, index) => `m${index}`) }],
  ['metrics[0]', { metrics: [''] }],
  ['board_id', { board_id: undefined }],
  ['board_id', { board_id: 'brd_other' }],
  ['chart_id', { chart_id: '' }],
  ['chart_id', { chart_id: 'chr/1' }],
  ['chart_id', { chart_id: 'x'.repeat(65) }],
  ['name', { name: 'Tokens' }],
  ['query', { query: {} }],
  ['timezone', { timezone: 'UTC' }],
];

describe('a chart', () => {
  it('is created with defaults where nothing was said', async () => {
    const chart = await create({});
    expect(chart).toEqual({
      chart_id: expect.stringMatching(/^chr_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      kind: 'chart',
      board_id: boardId,
      title: CHART.title,
      name: CHART.title,
      description: null,
      chart_type: 'area',
      position: 0,
      size: 'half',
      subject_type: null,
      comparison: null,
      bucket_size: 'auto',
      filters: {},
      group_by: ['bucket'],
      measures: MEASURES,
      metrics: CHART.metrics,
      split_by: ['metric'],
      limit: null,
      query: {
        metrics: CHART.metrics,
        split_by: ['metric'],
        measures: MEASURES,
        timezone: 'America/New_York',
        bucket_size: 'auto',
        group_by: ['bucket'],
        filters: {},
      },
      created_at: nowS(),
      updated_at: nowS(),
    });
    expect(await listed(chart.chart_id)).toEqual(chart);
  });

  it.each(
    TAKEN.map(([sent, shown = sent]) => [JSON.stringify(sent).slice(0, LABEL_CHARS), sent, shown] as const),
  )('takes %s', async (_label, sent, shown) => {
    const made = await create(sent);
    expect(made).toMatchObject(shown);
    expect(JSON.stringify(made.filters)).toBe(
      JSON.stringify('filters' in sent ? (sent.filters as object) : {}),
    );
    expect(await listed(made.chart_id)).toEqual(made);
    const { chart_id } = await create({
      description: 'd',
      size: 'full',
      subject_type: 'user',
      measures: ['amount'],
    });
    expect(await replace(chart_id, sent)).toMatchObject({ description: null, ...shown });
    await api.must(204, 'DELETE', `/charts/${chart_id}`);
    await api.must(204, 'DELETE', `/charts/${made.chart_id}`);
  });

  it.each(REFUSED.map(([path, sent]) => [path, JSON.stringify(sent).slice(0, LABEL_CHARS), sent] as const))(
    'is refused for its %s: %s',
    async (path, _label, sent) => {
      const { chart_id } = await create({});
      const before = await listed(chart_id);
      for (const refusal of [await create(sent, 400), await replace(chart_id, sent, 400)]) {
        expect(refusal.code).toBe('invalid_request');
        expect(refusal.details.map((detail: { path: string }) => detail.path)).toContain(path);
      }
      expect(await listed(chart_id)).toEqual(before);
      await api.must(204, 'DELETE', `/charts/${chart_id}`);
    },
  );

  it('is replaced where it stands', async () => {
    const made = await create({
      description: 'd',
      position: 7,
      size: 'full',
      subject_type: 'user',
      bucket_size: '1h',
      filters: { model: { exists: true } },
      group_by: ['model'],
      measures: ['amount'],
    });
    api.clock.advanceMs(2_000);
    const replaced = await replace(made.chart_id, { title: 'New', chart_id: made.chart_id });
    const plain = await create({ title: 'New' });
    expect(replaced).toEqual({
      ...plain,
      chart_id: made.chart_id,
      position: 7,
      size: 'full',
      created_at: made.created_at,
      updated_at: made.created_at + 2,
    });
    expect(await replace(made.chart_id, { position: 8, size: 'half' })).toMatchObject({
      position: 8,
      size: 'half',
    });
  });
});

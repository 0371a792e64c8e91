import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHART, createTestBoards, type TestBoards } from './boards.testing.js';

let api: TestBoards;

beforeAll(async () => {
  api = await createTestBoards();
});
afterAll(() => api.close());

const saved = async (method: 'POST' | 'PUT', path: string, body: object) =>
  (await api.call(method, api.url + path, body)).json();

const asked = {
  ...CHART,
  metrics: ['llm.input_tokens', 'typo.metric'],
  group_by: ['bucket', 'model', 'typo_group', 'subject_type'],
  filters: { typo_filter: { exists: true }, subject_id: { in: ['a'] } },
};

describe('a chart that is saved', () => {
  it('returns the metrics and dimensions that no usage has', async () => {
    const { report_id: board_id } = await api.makeBoard();
    const created = await saved('POST', `/boards/${board_id}/charts`, { ...asked, board_id });
    expect(created.warnings).toEqual([
      {
        code: 'unknown_metric',
        name: 'typo.metric',
        message: 'No usage of the project has the metric `typo.metric` yet. Check its spelling.',
      },
      expect.objectContaining({ code: 'unknown_dimension', name: 'typo_group' }),
      expect.objectContaining({ code: 'unknown_dimension', name: 'typo_filter' }),
    ]);
    const url = `/charts/${created.chart_id}`;
    const replaced = await saved('PUT', url, { ...CHART, metrics: ['typo.other'], board_id });
    expect(replaced.warnings).toMatchObject([{ code: 'unknown_metric', name: 'typo.other' }]);
    const mended = await saved('PUT', url, { ...CHART, board_id });
    expect(mended.warnings).toEqual([]);
    const { warnings: _, ...shown } = mended;
    expect((await api.shown(board_id)).charts).toEqual([shown]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHART, createTestBoards, type TestBoards } from './boards.testing.js';

let api: TestBoards;
beforeAll(async () => {
  api = await createTestBoards();
});
afterAll(() => api.close());

async function boardWith(count: number): Promise<{ boardId: string; ids: string[] }> {
  const { report_id: boardId } = await api.makeBoard();
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await api.makeChart(boardId)).chart_id);
  return { boardId, ids };
}

const order = (boardId: string, entries: readonly object[], status = 200) =>
  api.must(status, 'PUT', `/boards/${boardId}/order`, { order: entries });
const layout = async (boardId: string) =>
  (await api.shown(boardId)).charts.map(({ chart_id, position, size }) => [chart_id, position, size]);

describe('a reorder', () => {
  it('puts every chart at its place, and returns the new board', async () => {
    const { boardId, ids } = await boardWith(3);
    const [a, b, c] = ids as [string, string, string];
    api.clock.advanceMs(1_000);
    const answer = await order(boardId, [
      { chart_id: c, position: 0, size: 'full' },
      { chart_id: a, position: 1, size: 'half' },
      { chart_id: b, position: 20 },
    ]);
    expect(answer).toEqual(await api.shown(boardId));
    expect(await layout(boardId)).toEqual([
      [c, 0, 'full'],
      [a, 1, 'half'],
      [b, 20, 'half'],
    ]);
    const [first] = answer.charts;
    expect(first.updated_at).toBe(first.created_at + 1);
    expect((await api.audited(boardId)).at(-1)?.[0]).toBe('board.reorder');
  });

  it('leaves what it does not name where it is', async () => {
    const { boardId, ids } = await boardWith(3);
    const [a, b, c] = ids as [string, string, string];
    await order(boardId, [{ chart_id: a, position: 9, size: 'full' }]);
    await order(boardId, [{ chart_id: a, position: 2 }]);
    await order(boardId, []);
    expect(await layout(boardId)).toEqual([
      [b, 1, 'half'],
      [a, 2, 'full'],
      [c, 2, 'half'],
    ]);
  });

  it.each([
    ['an absent chart', async () => 'chr_absent'],
    ['a chart of another board', async () => (await boardWith(1)).ids[0]],
  ])('changes nothing when it names %s', async (_name, strangerOf) => {
    const { boardId, ids } = await boardWith(2);
    const before = await layout(boardId);
    const refusal = await order(
      boardId,
      [
        { chart_id: ids[0], position: 5 },
        { chart_id: await strangerOf(), position: 6 },
      ],
      400,
    );
    expect(refusal).toEqual({
      code: 'invalid_request',
      error: expect.stringContaining('must be a chart of this board'),
      details: [{ path: 'order[1].chart_id', message: 'must be a chart of this board' }],
    });
    expect(await layout(boardId)).toEqual(before);
  });

  it.each([
    [
      'order[1].chart_id',
      (a: string, _b: string) => [
        { chart_id: a, position: 0 },
        { chart_id: a, position: 1 },
      ],
    ],
    [
      'order[1].position',
      (a: string, b: string) => [
        { chart_id: a, position: 0 },
        { chart_id: b, position: 0 },
      ],
    ],
    ['order[0].position', (a: string, _b: string) => [{ chart_id: a }]],
    ['order[0].position', (a: string, _b: string) => [{ chart_id: a, position: -1 }]],
    ['order[0].position', (a: string, _b: string) => [{ chart_id: a, position: '1' }]],
    ['order[0].size', (a: string, _b: string) => [{ chart_id: a, position: 0, size: 'big' }]],
    ['order[0].chart_id', () => [{ position: 0 }]],
    ['order[0].title', (a: string, _b: string) => [{ chart_id: a, position: 0, title: 'x' }]],
    ['order', () => Array.from({ length: 51 }, (_, index) => ({ chart_id: `c${index}`, position: index }))],
  ])('is refused at %s', async (path, entriesOf) => {
    const { boardId, ids } = await boardWith(2);
    const before = await layout(boardId);
    const refusal = await order(boardId, entriesOf(ids[0] as string, ids[1] as string), 400);
    expect(refusal.details).toMatchObject([{ path }]);
    expect(await layout(boardId)).toEqual(before);
  });

  it('needs an order', async () => {
    const { boardId } = await boardWith(0);
    await api.must(400, 'PUT', `/boards/${boardId}/order`, {});
    await api.must(400, 'PUT', `/boards/${boardId}/order`, { order: null });
    expect(await order(boardId, [])).toEqual(await api.shown(boardId));
    await order('brd_absent', [], 404);
  });
});

describe('charts that are added', () => {
  it('at once stand one after the other', async () => {
    const { boardId } = await boardWith(0);
    const charts = await Promise.all(Array.from({ length: 8 }, () => api.makeChart(boardId)));
    const positions = charts.map(({ position }) => position).sort((a, b) => a - b);
    expect(positions).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('stand after the last, wherever that is, and at any place that is asked for', async () => {
    const { boardId, ids } = await boardWith(2);
    await order(boardId, [{ chart_id: ids[0], position: 40 }]);
    const last = await api.makeChart(boardId);
    const early = await api.makeChart(boardId, { position: 0 });
    expect(await layout(boardId)).toEqual([
      [early.chart_id, 0, 'half'],
      [ids[1], 1, 'half'],
      [ids[0], 40, 'half'],
      [last.chart_id, 41, 'half'],
    ]);
  });

  it('stand last even where positions end', async () => {
    const { boardId, ids } = await boardWith(1);
    await order(boardId, [{ chart_id: ids[0], position: 1_000_000 }]);
    api.clock.advanceMs(1_000);
    const later = await api.makeChart(boardId, { chart_id: 'a_first_in_the_alphabet' });
    expect((await layout(boardId)).map(([id]) => id)).toEqual([ids[0], later.chart_id]);
  });

  it('are not added to a board that is deleted meanwhile', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { boardId } = await boardWith(0);
      const url = `${api.url}/boards/${boardId}`;
      const [made] = await Promise.all([
        api.call('POST', `${url}/charts`, { ...CHART, board_id: boardId }),
        api.call('DELETE', url),
      ]);
      expect([201, 404]).toContain(made.status);
    }
    const { rows } = await api.postgres.pool.query(
      'select count(*)::int as orphans from charts where board_id not in (select id from boards)',
    );
    expect(rows).toEqual([{ orphans: 0 }]);
  });
});

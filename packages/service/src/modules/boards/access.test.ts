import { PERMISSIONS } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHART, createTestBoards, type TestBoards } from './boards.testing.js';

let api: TestBoards;
beforeAll(async () => {
  api = await createTestBoards();
});
afterAll(() => api.close());

interface Ids {
  readonly board: string;
  readonly chart: string;
}

/** Method, path, body, and the least permission that suffices. */
const operations = [
  ['GET', '/boards', undefined, 'read'],
  ['POST', '/boards', { name: 'x' }, 'write'],
  ['PUT', '/boards/:board', {}, 'write'],
  ['DELETE', '/boards/:board', undefined, 'write'],
  ['PUT', '/boards/:board/order', { order: [{ chart_id: ':chart', position: 3 }] }, 'write'],
  ['POST', '/boards/:board/charts', { ...CHART, board_id: ':board' }, 'write'],
  ['PUT', '/charts/:chart', { ...CHART, title: 'New', board_id: ':board' }, 'write'],
  ['DELETE', '/charts/:chart', undefined, 'write'],
] as const;

const ABSENT: Ids = { board: 'brd_none', chart: 'chr_none' };

const at = (text: string, ids: Ids) => text.replace(/:(board|chart)/g, (_, name: keyof Ids) => ids[name]);
const withIds = (body: object | undefined, ids: Ids) =>
  body === undefined ? undefined : at(JSON.stringify(body), ids);

async function make(): Promise<Ids> {
  const { report_id: board } = await api.makeBoard();
  return { board, chart: (await api.makeChart(board)).chart_id };
}

describe('who may do what', () => {
  it.each(operations)('%s %s', async (method, path, body, needed) => {
    const ids = await make();
    const url = api.url + at(path, ids);
    const others = PERMISSIONS.filter((name) => !name.startsWith('analytics') && name !== 'tenant:admin');
    const weak = await api.makeKey(api.tenantId, needed === 'read' ? others : [...others, 'analytics:read']);
    const stranger = await api.makeKey(await api.makeTenant(), ['tenant:admin']);
    const enough = await api.makeKey(api.tenantId, [`analytics:${needed}`]);
    expect((await api.call(method, url, withIds(body, ids), 'nonsense')).status).toBe(401);
    expect((await api.call(method, url, withIds(body, ids), weak)).status).toBe(403);
    expect((await api.call(method, url, withIds(body, ids), stranger)).status).toBe(404);
    expect((await api.call(method, url, withIds(body, ids), enough)).status).toBeLessThan(300);
  });
});

describe("another project's are byte for byte absent ones", () => {
  it.each(operations.filter(([, path]) => path !== '/boards'))('%s %s', async (method, path, body) => {
    const own = await make();
    const before = await api.shown(own.board);
    const other = await api.makeTenant();
    const key = await api.makeKey(other, ['tenant:admin']);
    for (const [tenant, asking] of [
      [other, key],
      [api.tenantId, api.serviceKey],
    ] as const) {
      const url = `/v1/projects/${await api.makeProject(tenant)}/analysis`;
      const foreign = await api.call(method, url + at(path, own), withIds(body, own), asking);
      const absent = await api.call(method, url + at(path, ABSENT), withIds(body, ABSENT), asking);
      expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
      expect((await api.call('GET', `${url}/boards`, undefined, asking)).json()).toEqual({ boards: [] });
    }
    expect(await api.shown(own.board)).toEqual(before);
  });

  it('charts in an order too', async () => {
    const own = await make();
    const url = `/v1/projects/${await api.makeProject(await api.makeTenant())}/analysis/boards`;
    const { report_id } = (await api.call('POST', url, { name: 'x' })).json();
    const order = (chart_id: string) =>
      api.call('PUT', `${url}/${report_id}/order`, { order: [{ chart_id, position: 0 }] });
    const [foreign, absent] = [await order(own.chart), await order(ABSENT.chart)];
    expect([foreign.status, foreign.text]).toEqual([400, absent.text]);
  });
});

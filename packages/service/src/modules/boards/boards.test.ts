import { BOARDS_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestBoards, type TestBoards } from './boards.testing.js';

let api: TestBoards;
beforeAll(async () => {
  api = await createTestBoards();
});
afterAll(() => api.close());

const nowS = () => Math.floor(api.clock.nowMs() / 1000);
const at = (id: string) => `/boards/${id}`;

/** Field, value. */
const REFUSED = [
  ['name', ''],
  ['name', ' \n'],
  ['name', 'x'.repeat(81)],
  ['name', '🦜'.repeat(81)],
  ['name', 'a\u0000'],
  ['name', 7],
  ['name', null],
  ['description', 'x'.repeat(501)],
  ['description', null],
  ['timezone', ''],
  ['timezone', 'Local'],
  ['timezone', 'Mars/Olympus'],
  ['timezone', '+02:00'],
  ['timezone', null],
  ['default_time_range_seconds', 301],
  ['default_time_range_seconds', 0],
  ['default_time_range_seconds', '300'],
  ['default_time_range_seconds', null],
  ['kind', 'board'],
  ['report_id', 'brd_mine'],
] as const;

describe('a board', () => {
  it('is created with defaults where nothing was said', async () => {
    const board = await api.must(201, 'POST', '/boards', { name: 'LLM usage' });
    expect(board).toEqual({
      report_id: expect.stringMatching(/^brd_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      kind: 'board',
      name: 'LLM usage',
      description: null,
      timezone: 'UTC',
      default_time_range_seconds: 86_400,
      created_at: nowS(),
      updated_at: nowS(),
    });
    expect(await api.shown(board.report_id)).toEqual({ board, charts: [] });
  });

  it.each([300, 900, 3_600, 86_400, 604_800, 2_592_000])('opens with %i seconds', async (seconds) => {
    const body = { name: 'x', default_time_range_seconds: seconds };
    expect(await api.must(201, 'POST', '/boards', body)).toMatchObject(body);
  });

  it('takes everything as it is sent, at its longest', async () => {
    const body = {
      name: '🦜'.repeat(80),
      description: 'ü'.repeat(500),
      timezone: 'America/Argentina/ComodRivadavia',
      default_time_range_seconds: 300,
    };
    expect(await api.must(201, 'POST', '/boards', body)).toMatchObject(body);
  });

  it.each(REFUSED)('is not created or changed with %s %j', async (field, value) => {
    const { report_id } = await api.makeBoard();
    for (const [method, path] of [
      ['POST', '/boards'],
      ['PUT', at(report_id)],
    ] as const) {
      const refusal = await api.must(400, method, path, { name: 'x', [field]: value });
      expect(refusal).toMatchObject({ code: 'invalid_request', details: [{ path: field }] });
    }
    expect((await api.shown(report_id)).board).toMatchObject({ name: 'Usage', updated_at: nowS() });
  });

  it('needs a name, and a body', async () => {
    const refusal = await api.must(400, 'POST', '/boards', {});
    expect(refusal.details).toEqual([{ path: 'name', message: 'is required' }]);
    await api.must(400, 'POST', '/boards');
    await api.must(400, 'POST', '/boards', '[]');
  });

  it('changes what is named, and nothing else', async () => {
    const settings = { description: 'd', timezone: 'Asia/Kathmandu', default_time_range_seconds: 900 };
    const before = await api.makeBoard(settings);
    api.clock.advanceMs(3_000);
    for (const change of [
      { name: 'Other' },
      { description: 'e' },
      { timezone: 'Australia/Lord_Howe' },
      { default_time_range_seconds: 300 },
      {},
    ]) {
      const own = await api.makeBoard(settings);
      api.clock.advanceMs(1_000);
      const after = await api.must(200, 'PUT', at(own.report_id), change);
      expect(after).toEqual({ ...own, ...change, updated_at: own.updated_at + 1 });
      expect((await api.shown(own.report_id)).board).toEqual(after);
    }
    expect((await api.shown(before.report_id)).board).toEqual(before);
  });

  it('loses its description by an empty one', async () => {
    const { report_id } = await api.makeBoard({ description: 'd' });
    expect(await api.must(200, 'PUT', at(report_id), { description: '' })).toMatchObject({
      description: null,
    });
    expect(await api.makeBoard({ description: '' })).toMatchObject({ description: null });
  });

  it('is gone once it is deleted, with its charts and no others', async () => {
    const { report_id: id } = await api.makeBoard();
    const { report_id: other } = await api.makeBoard();
    const { chart_id } = await api.makeChart(id);
    const kept = await api.makeChart(other);
    expect(await api.must(204, 'DELETE', at(id))).toBeUndefined();
    await api.must(404, 'DELETE', at(id));
    await api.must(404, 'PUT', at(id), {});
    await api.must(404, 'DELETE', `/charts/${chart_id}`);
    await expect(api.shown(id)).rejects.toThrow('no board');
    expect((await api.shown(other)).charts).toEqual([kept]);
    expect(await api.audited(id)).toEqual([
      ['board.create', { name: 'Usage' }],
      ['board.delete', { name: 'Usage', chart_ids: [chart_id] }],
    ]);
  });

  it('is in the audit log with each change, and only with what was done', async () => {
    const { report_id: id } = await api.makeBoard();
    await api.must(200, 'PUT', at(id), { description: '' });
    await api.must(400, 'PUT', at(id), { timezone: 'Local' });
    await api.must(400, 'PUT', `${at(id)}/order`, { order: [{ chart_id: 'chr_none', position: 0 }] });
    await api.must(200, 'PUT', `${at(id)}/order`, { order: [] });
    expect(await api.audited(id)).toEqual([
      ['board.create', { name: 'Usage' }],
      ['board.update', { description: '' }],
      ['board.reorder', { order: [] }],
    ]);
  });
});

describe('the boards of a project', () => {
  it('are listed oldest first, and take no query', async () => {
    const { boards } = await api.must(200, 'GET', '/boards');
    const ids: string[] = boards.map(({ board }: { board: { report_id: string } }) => board.report_id);
    expect(ids.length).toBeGreaterThan(3);
    expect(ids).toEqual([...ids].sort());
  });

  it('are so many at most, however many are created at a time', async () => {
    const projectId = await api.makeProject(api.tenantId);
    const url = `/v1/projects/${projectId}/analysis/boards`;
    const create = () => api.call('POST', url, { name: 'x' });
    for (let count = 0; count < BOARDS_MAX - 2; count += 1) await create();
    const answers = await Promise.all(Array.from({ length: 6 }, create));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
    const refusal = answers.find(({ status }) => status === 409)?.json();
    expect(refusal.code).toBe('board_limit_reached');
    expect(refusal.error).toContain(String(BOARDS_MAX));
    expect((await api.call('GET', url)).json().boards).toHaveLength(BOARDS_MAX);
  });
});

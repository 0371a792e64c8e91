import { LISTED_WALLETS_MAX, type Wallet } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { createLedger, registerLedgerRoutes } from './index.js';

let api: TestApi;
let accounts: string;

beforeAll(async () => {
  api = await createTestApi((app, { postgres, clock }) =>
    registerLedgerRoutes(app, createLedger({ postgres, clock })),
  );
  accounts = `/v1/projects/${api.projectId}/accounts`;
});
afterAll(() => api.close());

describe('accounts', () => {
  it('are created, read and listed, oldest first', async () => {
    const projectId = await api.makeProject(api.tenantId);
    const url = `/v1/projects/${projectId}/accounts`;
    const created = [];
    for (const body of [{ name: 'One' }, { name: 'Two', external_id: 'crm-2' }, { name: 'Three' }]) {
      const answer = await api.call('POST', url, body);
      expect(answer.status).toBe(201);
      created.push(answer.json());
    }
    expect(created[1]).toEqual({
      id: expect.stringMatching(/^acct_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: projectId,
      name: 'Two',
      external_id: 'crm-2',
      timezone: 'UTC',
      anchor: TEST_NOW_S,
      metadata: {},
      created_at: TEST_NOW_S,
    });
    expect((await api.call('GET', `${url}/${created[0].id}`)).json()).toEqual(created[0]);
    expect((await api.call('GET', url)).json()).toEqual({
      accounts: created,
      total_count: 3,
      limit: 20,
      offset: 0,
    });
    expect((await api.call('GET', `${url}?limit=1&offset=1`)).json()).toEqual({
      accounts: [created[1]],
      total_count: 3,
      limit: 1,
      offset: 1,
    });
    expect((await api.call('GET', `${url}?external_id=crm-2`)).json()).toMatchObject({
      accounts: [created[1]],
      total_count: 1,
    });
  });

  it('are listed with their wallets on request', async () => {
    const other = `/v1/projects/${await api.makeProject(api.tenantId)}/accounts`;
    const ids = [];
    for (const name of ['Many', 'Few', 'Dust', 'None'])
      ids.push((await api.call('POST', other, { name })).json().id);
    const open = (id: string, currency: string) =>
      api.call('PUT', `${other}/${id}/wallets/${currency}`, { mode: 'prepaid' });
    const currencies = Array.from(
      { length: LISTED_WALLETS_MAX + 1 },
      (_, at) => `UNIT_${'ABCDEFGHIJKL'[at]}`,
    );
    for (const currency of currencies.toReversed()) await open(ids[0], currency);
    for (const currency of currencies.slice(1)) await open(ids[1], currency);
    const change = { amount: '-0.000000000000000001', reason: 'dust' };
    await api.call('POST', `${other}/${ids[2]}/wallets/USD/adjustments`, change);
    const list = async (query: string) => (await api.call('GET', `${other}?${query}`)).json().accounts;
    const [many, few, dust, none] = await list('include=wallets');
    expect(many.wallets.map(({ currency }: Wallet) => currency)).toEqual(currencies.slice(0, -1));
    expect(many.has_more_wallets).toBe(true);
    expect(few.wallets).toEqual((await api.call('GET', `${other}/${ids[1]}/wallets`)).json().wallets);
    expect(dust.wallets).toMatchObject([{ currency: 'USD', balance: '-0.000000000000000001' }]);
    expect(few.has_more_wallets).toBe(false);
    expect(none).toMatchObject({ wallets: [], has_more_wallets: false });
    expect(await list('include=wallets&limit=1&offset=1')).toEqual([few]);
    expect((await list('limit=1'))[0]).not.toHaveProperty('wallets');
    expect((await api.call('GET', `${other}?include=all`)).status).toBe(400);
  });

  it('have an external id of their own in a project', async () => {
    const body = { name: 'Acme', external_id: 'crm-1' };
    const first = await api.call('POST', accounts, body);
    expect(first.status).toBe(201);
    const { id } = first.json();
    const again = await api.call('POST', accounts, body);
    expect(again.status).toBe(409);
    expect(again.json()).toEqual({
      error: `Another account of the project has this external_id: ${id}.`,
      code: 'external_id_taken',
      details: [{ path: 'external_id', message: `already used by the account ${id}`, account_id: id }],
    });
    const elsewhere = `/v1/projects/${await api.makeProject(api.tenantId)}/accounts`;
    expect((await api.call('POST', elsewhere, body)).status).toBe(201);
  });

  it.each([
    {},
    { name: '' },
    { name: '  ' },
    { name: 'x', external_id: '' },
    { name: 'x', external_id: 'x'.repeat(256) },
    { name: 'x', external_id: 'a\u0000' },
    { name: 'x', balance: '1' },
  ])('are refused as %j', async (body) => {
    const answer = await api.call('POST', accounts, body);
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
  });

  it('of another project are byte for byte absent ones', async () => {
    const foreign = `/v1/projects/${await api.makeProject(await api.makeTenant())}/accounts`;
    const { id } = (await api.call('POST', foreign, { name: 'x' })).json();
    const headers = { 'idempotency-key': 'k' };
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/wallets', undefined],
      ['GET', '/ledger', undefined],
      ['GET', '/wallets/USD/credits', undefined],
      ['PUT', '/wallets/USD', { mode: 'prepaid' }],
      ['POST', '/wallets/USD/credits', { amount: '1' }],
      ['POST', '/wallets/USD/adjustments', { amount: '1', reason: 'x' }],
    ] as const) {
      const answers = [];
      for (const asked of [id, 'acct_absent', '%00']) {
        const answer = await api.call(method, `${accounts}/${asked}${path}`, body, undefined, headers);
        answers.push(`${answer.status} ${answer.text}`);
      }
      expect(answers[0]).toMatch(/^404 /);
      expect(new Set(answers).size, `${method} ${path}: ${answers.join('\n')}`).toBe(1);
    }
    expect((await api.call('GET', `${foreign}/${id}/wallets`)).json().wallets).toEqual([]);
  });

  it('take a key with the permission', async () => {
    const reader = await api.makeKey(api.tenantId, ['wallets:read']);
    const writer = await api.makeKey(api.tenantId, ['wallets:write']);
    const other = await api.makeKey(api.tenantId, ['usage:read', 'usage_control:write']);
    const account = `${accounts}/${(await api.call('POST', accounts, { name: 'Acme' })).json().id}`;
    const statuses = async (key: string) => [
      (await api.call('GET', `${account}/wallets`, undefined, key)).status,
      (await api.call('PUT', `${account}/wallets/USD`, { mode: 'prepaid' }, key)).status,
    ];
    expect(await statuses(reader)).toEqual([200, 403]);
    expect(await statuses(writer)).toEqual([200, 200]);
    expect(await statuses(other)).toEqual([403, 403]);
  });
});

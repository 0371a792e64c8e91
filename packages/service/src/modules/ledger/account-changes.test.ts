import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { createLedger, registerLedgerRoutes } from './index.js';

let api: TestApi;
let accountId: string;

beforeAll(async () => {
  api = await createTestApi((app, { postgres, clock }) =>
    registerLedgerRoutes(app, createLedger({ postgres, clock })),
  );
});
afterAll(() => api.close());

const accounts = () => `/v1/projects/${api.projectId}/accounts`;
const put = (body: object, id = accountId) => api.call('PUT', `${accounts()}/${id}`, body);

beforeEach(async () => {
  const answer = await api.call('POST', accounts(), { name: 'Acme' });
  expect(answer.status).toBe(201);
  accountId = answer.json().id;
});

it('an account has settings of its own from the beginning, or defaults', async () => {
  const plain = (await api.call('GET', `${accounts()}/${accountId}`)).json();
  expect(plain).toMatchObject({ timezone: 'UTC', anchor: plain.created_at, metadata: {} });
  const settings = { timezone: 'Europe/Berlin', anchor: 1_700_000_000, metadata: { tier: ['gold'] } };
  const made = (await api.call('POST', accounts(), { name: 'B', ...settings })).json();
  expect(made).toMatchObject(settings);
  expect((await api.call('GET', `${accounts()}/${made.id}`)).json()).toEqual(made);
});

it('a change keeps what is not sent, replaces metadata, and is in the audit log', async () => {
  const change = {
    name: 'Acme 2',
    external_id: `x-${accountId}`,
    timezone: 'Asia/Tokyo',
    metadata: { a: 1 },
  };
  const changed = (await put(change)).json();
  expect(changed).toMatchObject({ ...change, id: accountId });
  expect((await put({ metadata: { b: 2 }, external_id: null, anchor: 5 })).json()).toEqual({
    ...changed,
    external_id: null,
    anchor: 5,
    metadata: { b: 2 },
  });
  const { rows } = await api.postgres.pool.query(
    `select action, change from audit_log where resource_id = $1 order by id`,
    [accountId],
  );
  expect(rows.map(({ action }) => action)).toEqual(['account.create', 'account.update', 'account.update']);
  expect(rows[1].change).toEqual(change);
});

it.each([
  [{ timezone: 'Mars/Base' }, 'timezone', 'IANA timezone'],
  [{ metadata: { text: 'x'.repeat(17_000) } }, 'metadata', '16384 bytes (METADATA_BYTES_MAX)'],
  [{ anchor: -1 }, 'anchor', ''],
])('refuses %j', async (body, path, message) => {
  const answer = await put(body);
  expect(answer.status).toBe(400);
  expect(answer.json().details).toEqual([{ path, message: expect.stringContaining(message) }]);
});

it('an external id belongs to one account, and an unknown account is not found', async () => {
  await put({ external_id: 'taken' });
  const other = (await api.call('POST', accounts(), { name: 'Other' })).json();
  const answer = await put({ external_id: 'taken' }, other.id);
  expect(answer.status).toBe(409);
  expect(answer.json()).toMatchObject({ code: 'external_id_taken', details: [{ account_id: accountId }] });
  expect((await put({ external_id: 'taken' })).status).toBe(200);
  expect((await put({ name: 'x' }, 'acct_unknown')).status).toBe(404);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CellsFixture, type TestCell } from './cells.testing.js';

let cells: CellsFixture;
let a: TestCell;
let b: TestCell;
beforeAll(async () => {
  cells = await CellsFixture.start();
  a = await cells.addCell('a');
  b = await cells.addCell('b');
});
afterAll(() => cells.stop());

/** Signs in at a cell; returns the status and the headers of further requests. */
async function signIn(at: TestCell, apiKey: string) {
  const answer = await cells.call(at, 'POST', '/api/session', { body: { api_key: apiKey } });
  const cookies = answer.headers.getSetCookie();
  const cookie = cookies.map((each) => each.split(';')[0]).join('; ');
  return {
    status: answer.status,
    cookies,
    headers: { cookie, 'x-csrf-token': answer.json().csrf_token ?? '' },
  };
}

describe('a person who signs in at another cell', () => {
  it('works from the address of every cell', async () => {
    const { tenantId, key } = await cells.makeTenant(b);
    const { status, cookies, headers } = await signIn(a, key.key);
    expect(status).toBe(201);
    expect(cookies).toHaveLength(2);
    for (const each of cookies)
      expect(each).toMatch(/; Path=\/api; HttpOnly; SameSite=Strict; Max-Age=86400$/);
    for (const at of [a, b]) {
      const session = await cells.call(at, 'GET', '/api/session', { headers });
      expect(session.json()).toMatchObject({
        csrf_token: headers['x-csrf-token'],
        me: { tenant_id: tenantId },
      });
      expect((await cells.call(at, 'GET', '/api/v1/me', { headers })).json().tenant_id).toBe(tenantId);
      const made = await cells.call(at, 'POST', `/api/admin/v1/tenants/${tenantId}/projects`, {
        headers,
        body: { name: 'New', kind: 'development' },
      });
      expect(made.status).toBe(201);
    }
  });

  it('changes nothing without the token of the session', async () => {
    const { tenantId, key } = await cells.makeTenant(b);
    const { headers } = await signIn(a, key.key);
    const refused = await cells.call(a, 'POST', `/api/admin/v1/tenants/${tenantId}/projects`, {
      headers: { cookie: headers.cookie },
      body: { name: 'New', kind: 'development' },
    });
    expect([refused.status, refused.json().code]).toEqual([401, 'unauthenticated']);
  });

  it('signs out everywhere', async () => {
    const { key } = await cells.makeTenant(b);
    const { headers } = await signIn(a, key.key);
    expect((await cells.call(a, 'DELETE', '/api/session', { headers })).status).toBe(204);
    for (const at of [a, b]) {
      expect((await cells.call(at, 'GET', '/api/session', { headers })).json().me).toBeNull();
      expect((await cells.call(at, 'GET', '/api/v1/me', { headers })).status).toBe(401);
    }
  });

  it('is not signed in without the cookie of the session, whatever the other cookie says', async () => {
    const { key } = await cells.makeTenant(b);
    const { headers } = await signIn(a, key.key);
    const route = headers.cookie.split('; ').find((each) => each.startsWith('tollgate_route=')) ?? '';
    expect((await cells.call(a, 'GET', '/api/v1/me', { headers: { cookie: route } })).status).toBe(401);
    expect((await cells.call(b, 'GET', '/api/v1/me', { headers: { cookie: route } })).status).toBe(401);
  });

  it('is refused with a key that nobody knows', async () => {
    const { key } = await cells.makeTenant(b);
    const unknown = key.key.replace(/^tg_live/, 'tg_test');
    expect((await cells.call(a, 'POST', '/api/session', { body: { api_key: unknown } })).status).toBe(401);
  });
});

describe('a session of the service key', () => {
  it('stays in its cell', async () => {
    const mine = await cells.makeTenant(a);
    const theirs = await cells.makeTenant(b);
    const { headers } = await signIn(a, cells.serviceKey);
    const statusOf = async (at: TestCell, tenantId: string) =>
      (await cells.call(at, 'GET', `/api/admin/v1/tenants/${tenantId}`, { headers })).status;
    expect(await statusOf(a, mine.tenantId)).toBe(200);
    expect(await statusOf(a, theirs.tenantId)).toBe(404);
    expect(await statusOf(b, theirs.tenantId)).toBe(401);
  });
});

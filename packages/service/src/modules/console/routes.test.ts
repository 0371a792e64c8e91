import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { ManualClock } from '../../kernel/clock.js';
import type { App } from '../../platform/http/index.js';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { createTenancyApp } from '../../testing/tenancy-app.js';
import { registerConsoleRoutes, Sessions } from './index.js';

const SERVICE_KEY = generateApiKey('live');
const DAY_S = 86_400;
const SCRIPT = `console.log('${'x'.repeat(2_000)}')`;

let store: TestPostgres;
let app: App;
let folder: string;
const clock = new ManualClock(1_790_000_000_000);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__">');
  writeFileSync(join(folder, 'assets/app.js'), SCRIPT);
  writeFileSync(join(folder, 'secret.txt'), 'not for the web');
  store = await createTestPostgres();
  app = await start(folder);
});
afterAll(async () => {
  await app.close();
  await store.drop();
  rmSync(folder, { recursive: true });
});

/** A node that serves the console from a folder. */
async function start(from: string): Promise<App> {
  const { postgres } = store;
  let sessions: Sessions | undefined;
  const { app: made } = await createTenancyApp({
    postgres,
    clock,
    serviceKey: SERVICE_KEY,
    sessionsOf: ({ authenticator }) => {
      sessions = new Sessions({ postgres, clock, authenticator });
      return sessions;
    },
  });
  if (sessions === undefined) throw new Error('no sessions were made');
  registerConsoleRoutes(made, { sessions, folder: from });
  return made;
}

type Headers = Record<string, string>;

async function call(method: 'GET' | 'POST' | 'DELETE', url: string, headers: Headers = {}, payload?: object) {
  const {
    statusCode,
    body,
    headers: answered,
  } = await app.inject({
    method,
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: statusCode, text: body, headers: answered, json: () => JSON.parse(body) };
}

interface SignedIn {
  readonly cookie: string;
  readonly 'x-csrf-token': string;
}

async function signIn(apiKey = SERVICE_KEY, headers: Headers = {}) {
  const answer = await call('POST', '/api/session', headers, { api_key: apiKey });
  const setCookie = String(answer.headers['set-cookie']);
  const signedIn: SignedIn = {
    cookie: setCookie.split(';')[0] ?? '',
    'x-csrf-token': answer.json().csrf_token ?? '',
  };
  return { answer, setCookie, headers: { ...signedIn } };
}

async function makeKey(fields: object = {}): Promise<{ key: string; tenantId: string; keyId: string }> {
  const asService = { authorization: `Bearer ${SERVICE_KEY}` };
  const tenantId = (await call('POST', '/admin/v1/tenants', asService, { name: 'Acme' })).json().id;
  const url = `/admin/v1/tenants/${tenantId}/api-keys`;
  const made = await call('POST', url, asService, { name: 'me', permissions: ['tenant:admin'], ...fields });
  return { key: made.json().key, tenantId, keyId: made.json().id };
}

describe('signing in', () => {
  it('takes a key, keeps only hashes, and gives a cookie that scripts and other sites cannot use', async () => {
    const { answer, setCookie, headers } = await signIn();
    expect(answer.status).toBe(201);
    expect(setCookie).toMatch(
      /^tollgate_session=[\w-]{43}; Path=\/api; HttpOnly; SameSite=Strict; Max-Age=86400$/,
    );
    expect(answer.headers['cache-control']).toBe('no-store');
    const { rows } = await store.postgres.pool.query('select * from console_sessions');
    expect(JSON.stringify(rows)).not.toContain(headers.cookie.split('=')[1]);
    expect(JSON.stringify(rows)).not.toContain(SERVICE_KEY);
  });

  it('asks for TLS where the request came over it', async () => {
    expect((await signIn(SERVICE_KEY, { 'x-forwarded-proto': 'https' })).setCookie).toMatch(/; Secure$/);
  });

  it.each([generateApiKey('live'), 'nonsense', 'tg_live_x'])('refuses %s', async (key) => {
    const { answer } = await signIn(key);
    expect([answer.status, answer.json().code]).toEqual([401, 'unauthenticated']);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('refuses a body with anything else', async () => {
    const answer = await call('POST', '/api/session', {}, { api_key: SERVICE_KEY, admin: true });
    expect(answer.status).toBe(400);
  });
});

describe('a session', () => {
  it('returns who is signed in, with the token of changes', async () => {
    const { key, tenantId, keyId } = await makeKey();
    const { headers } = await signIn(key);
    const { cookie } = headers;
    expect((await call('GET', '/api/session', { cookie })).json()).toEqual({
      csrf_token: headers['x-csrf-token'],
      me: {
        kind: 'key',
        key_id: keyId,
        tenant_id: tenantId,
        project_id: null,
        permissions: ['tenant:admin'],
      },
    });
  });

  it('is null where nobody is signed in', async () => {
    const answer = await call('GET', '/api/session');
    expect([answer.status, answer.json()]).toEqual([200, { csrf_token: null, me: null }]);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('reaches the API below /api, as the key it was opened with', async () => {
    const { key, tenantId } = await makeKey();
    const { headers } = await signIn(key);
    expect((await call('GET', '/api/v1/me', headers)).json().tenant_id).toBe(tenantId);
    const body = { name: 'Chat', kind: 'development' };
    const url = `/api/admin/v1/tenants/${tenantId}/projects`;
    expect((await call('POST', url, headers, body)).status).toBe(201);
    const other = await makeKey();
    expect((await call('GET', `/api/admin/v1/tenants/${other.tenantId}`, headers)).status).toBe(403);
  });

  it('changes nothing without its token, or with that of another session', async () => {
    const { headers } = await signIn();
    const another = await signIn();
    const body = { name: 'Acme' };
    for (const token of [undefined, '', 'x', another.headers['x-csrf-token']]) {
      const sent = { cookie: headers.cookie, ...(token === undefined ? {} : { 'x-csrf-token': token }) };
      expect((await call('POST', '/api/admin/v1/tenants', sent, body)).status).toBe(401);
      expect((await call('DELETE', '/api/session', sent)).status).toBe(401);
    }
    expect((await call('POST', '/api/admin/v1/tenants', headers, body)).status).toBe(201);
  });

  it('counts below /api and nowhere else', async () => {
    const { headers } = await signIn();
    expect((await call('GET', '/v1/me', headers)).status).toBe(401);
    expect((await call('GET', '/api/v1/me', headers)).status).toBe(200);
  });

  it.each([
    '',
    'tollgate_session=',
    'tollgate_session=x',
    `tollgate_session=${'a'.repeat(43)}`,
    `x_tollgate_session=${'a'.repeat(43)}`,
  ])('is none with the cookie "%s"', async (cookie) => {
    expect((await call('GET', '/api/v1/me', { cookie })).status).toBe(401);
  });

  it('is found among other cookies', async () => {
    const { headers } = await signIn();
    const cookie = `theme=dark; ${headers.cookie}; a=b`;
    expect((await call('GET', '/api/v1/me', { cookie })).status).toBe(200);
  });

  it('gives way to a key that is sent', async () => {
    const { headers } = await signIn();
    const authorization = `Bearer ${generateApiKey('live')}`;
    expect((await call('GET', '/api/v1/me', { ...headers, authorization })).status).toBe(401);
  });

  it('ends when one signs out', async () => {
    const { headers } = await signIn();
    const out = await call('DELETE', '/api/session', headers);
    expect(out.status).toBe(204);
    expect(String(out.headers['set-cookie'])).toMatch(/^tollgate_session=; .*Max-Age=0$/);
    expect((await call('GET', '/api/v1/me', headers)).status).toBe(401);
  });

  it('ends with its key', async () => {
    const { key, tenantId, keyId } = await makeKey();
    const { headers } = await signIn(key);
    expect((await call('GET', '/api/v1/me', headers)).status).toBe(200);
    const asService = { authorization: `Bearer ${SERVICE_KEY}` };
    await call('DELETE', `/admin/v1/tenants/${tenantId}/api-keys/${keyId}`, asService);
    expect((await call('GET', '/api/v1/me', headers)).status).toBe(401);
  });

  it('ends after a day, and is forgotten when the next one begins', async () => {
    const { headers } = await signIn();
    clock.advanceMs((DAY_S - 1) * 1_000);
    expect((await call('GET', '/api/v1/me', headers)).status).toBe(200);
    clock.advanceMs(1_000);
    expect((await call('GET', '/api/v1/me', headers)).status).toBe(401);
    await signIn();
    const { rows } = await store.postgres.pool.query('select count(*)::int as count from console_sessions');
    expect(rows).toEqual([{ count: 1 }]);
  });
});

describe('the page', () => {
  it.each(['/', '/sign-in', '/p/prj_1/boards', '/p/prj_1/usage/evt_1'])('is served at %s', async (url) => {
    const { status, text, headers } = await call('GET', url);
    expect(status).toBe(200);
    const nonce = /content="([^"]+)"/.exec(text)?.[1];
    expect(String(headers['content-security-policy'])).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(String(headers['content-security-policy'])).toContain("script-src 'self';");
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  it('has another nonce each time', async () => {
    const [one, other] = [await call('GET', '/'), await call('GET', '/')];
    expect(one.text).not.toBe(other.text);
  });

  it('loads its files, compressed as the browser can take them, and keeps them', async () => {
    const plain = await call('GET', '/assets/app.js');
    expect([plain.status, plain.text]).toEqual([200, SCRIPT]);
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
    ] as const) {
      const { headers, rawPayload } = await app.inject({
        url: '/assets/app.js',
        headers: { 'accept-encoding': accepted },
      });
      expect(headers['content-encoding']).toBe(encoding);
      expect(decoders[encoding](rawPayload).toString()).toBe(SCRIPT);
    }
  });

  it.each(['/assets/none.js', '/assets/../secret.txt', '/assets/%2e%2e/secret.txt', '/secret.txt'])(
    'has nothing at %s',
    async (url) => {
      expect((await call('GET', url)).status).toBe(404);
    },
  );

  it('gives way to the documentation where it was not built', async () => {
    const bare = await start(join(folder, 'nowhere'));
    const answer = await bare.inject('/');
    expect([answer.statusCode, answer.headers.location]).toEqual([302, '/docs']);
    await bare.close();
  });
});

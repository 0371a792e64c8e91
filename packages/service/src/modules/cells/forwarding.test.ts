import { PassThrough } from 'node:stream';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { type App, registerExpressRoute } from '../../platform/http/index.js';
import { waitFor } from '../../testing/index.js';
import { CellsFixture, type TestCell } from './cells.testing.js';
import { beginDraining, findTenantRoute, putCell } from './directory-store.js';
import { switchTenant } from './place-store.js';

let cells: CellsFixture;
let a: TestCell;
let b: TestCell;
beforeAll(async () => {
  cells = await CellsFixture.start();
  a = await cells.addCell('a', addTestRoutes);
  b = await cells.addCell('b', addTestRoutes);
});
afterAll(() => cells.stop());

/** Resolves when the route `/parts` may send its second part. */
let mayGoOn = Promise.resolve();
let partsClosed = 0;

/** Requests of the express route that Fastify has served instead of the express lane. */
const fastifyRequests = new Map<App, number>();

function addExpressRoute(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.url.endsWith('/express')) fastifyRequests.set(app, (fastifyRequests.get(app) ?? 0) + 1);
    done();
  });
  registerExpressRoute(app, {
    method: 'POST',
    status: 202,
    url: '/v1/projects/:project_id/test/express',
    config: { access: { kind: 'project', permission: 'usage:read' } },
    bodyLimit: 1_000,
    schema: {
      hide: true,
      params: Type.Object({ project_id: Type.String() }),
      body: Type.Object({}),
      response: { 202: Type.Object({ served: Type.Boolean() }) },
    },
    precheck: () => {},
    answer: async () => '{"served":true}',
  });
}

/** The span of requests with the field `x-traced`. */
const SPAN = { traceparent: 'from here', begin: () => ({ end() {} }), end() {} };

function addTestRoutes(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['x-traced'] !== undefined) request.span = SPAN;
    done();
  });
  addExpressRoute(app);
  const config = { access: { kind: 'any-key' } } as const;
  const schema = { hide: true };
  app.get('/v1/test/headers', { config, schema }, async ({ headers, ip }) => ({ headers, ip }));
  app.post(
    '/v1/test/size',
    { config, schema: { ...schema, body: {} as never }, bodyLimit: 1_000 },
    async (request) => ({
      bytes: request.rawBody?.length,
    }),
  );
  app.get('/v1/test/parts', { config: { ...config, isLong: true }, schema }, async (_request, reply) => {
    const body = new PassThrough();
    body.write('one\n');
    mayGoOn.then(() => body.end('two\n'));
    body.once('close', () => {
      partsClosed += 1;
    });
    return reply.type('text/event-stream').send(body);
  });
}

const me = (cell: TestCell, key: string, headers = {}) => cells.call(cell, 'GET', '/v1/me', { key, headers });

/** Makes all cached look-ups old. */
function age(): void {
  cells.monotonicMs += 120_000;
}

describe('a request with a key', () => {
  it('is served by the cell of the key as soon as the key exists, whichever cell gets the request', async () => {
    const { tenantId, key } = await cells.makeTenant(b);
    for (const cell of [a, b]) {
      const answer = await me(cell, key.key);
      expect([answer.status, answer.json().tenant_id]).toEqual([200, tenantId]);
    }
  });

  it('is forwarded unchanged, with the address of its client', async () => {
    const { key } = await cells.makeTenant(b);
    const answer = await cells.call(a, 'GET', '/v1/test/headers?x=1', {
      key: key.key,
      headers: {
        'x-request-id': 'mine',
        'x-forwarded-for': '192.0.2.7',
        te: 'trailers',
        'accept-language': 'de',
      },
    });
    expect(answer.headers.get('x-request-id')).toBe('mine');
    const { headers } = answer.json();
    expect(headers).toMatchObject({
      'x-request-id': 'mine',
      'x-forwarded-for': '192.0.2.7, 127.0.0.1',
      'x-tollgate-forwarded-by': 'a',
      'accept-language': 'de',
      host: new URL(b.url).host,
    });
    expect(headers.te).toBeUndefined();
  });

  it('continues its trace in the other cell, from its span here', async () => {
    const { key } = await cells.makeTenant(b);
    const sent = async (headers: Record<string, string>) =>
      (await cells.call(a, 'GET', '/v1/test/headers', { key: key.key, headers })).json().headers.traceparent;
    expect(await sent({ traceparent: 'mine', 'x-traced': '1' })).toBe(SPAN.traceparent);
    expect(await sent({ traceparent: 'mine' })).toBe('mine');
  });

  it('changes things in the other cell', async () => {
    const { tenantId, key } = await cells.makeTenant(b);
    const made = await cells.call(a, 'POST', `/admin/v1/tenants/${tenantId}/projects`, {
      key: key.key,
      body: { name: 'From a', kind: 'development' },
    });
    expect(made.status).toBe(201);
    const { rows } = await b.store.postgres.pool.query('select name from projects where id = $1', [
      made.json().id,
    ]);
    expect(rows).toEqual([{ name: 'From a' }]);
  });

  it('gets the errors of the other cell, also for bodies that are too large', async () => {
    const { key } = await cells.makeTenant(b);
    const large = await cells.call(a, 'POST', '/v1/test/size', { key: key.key, body: 'x'.repeat(100_000) });
    expect([large.status, large.json().code]).toEqual([413, 'payload_too_large']);
    const fits = await cells.call(a, 'POST', '/v1/test/size', { key: key.key, body: 'x'.repeat(100) });
    expect(fits.json()).toEqual({ bytes: 102 });
  });

  it('gets a refusal that comes before its body is read, and keeps its connection', async () => {
    const { tenantId, key } = await cells.makeTenant(b);
    const path = `/admin/v1/tenants/${tenantId}/api-keys/${key.id}`;
    expect((await cells.call(b, 'DELETE', path, { key: cells.serviceKey })).status).toBe(204);
    for (const bytes of [10, 10, 1_000_000]) {
      const answer = await cells.call(a, 'POST', '/v1/test/size', { key: key.key, body: 'x'.repeat(bytes) });
      expect([answer.status, answer.json().code]).toEqual([401, 'unauthenticated']);
    }
  });

  it('streams, and ends when the client leaves', async () => {
    const { key } = await cells.makeTenant(b);
    let goOn = () => {};
    mayGoOn = new Promise((resolve) => {
      goOn = resolve;
    });
    const closedBefore = partsClosed;
    const left = new AbortController();
    const response = await fetch(`${a.url}/v1/test/parts`, {
      headers: { authorization: `Bearer ${key.key}` },
      signal: left.signal,
    });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('one\n');
    left.abort();
    await waitFor(() => partsClosed > closedBefore);
    goOn();
  });

  it('takes the express lane of the cell that serves it', async () => {
    const { project, key } = await cells.makeTenant(b);
    const path = `/v1/projects/${project.id}/test/express`;
    for (const _ of ['first', 'second']) {
      const answer = await cells.call(a, 'POST', path, { key: key.key, body: {} });
      expect([answer.status, answer.text]).toEqual([202, '{"served":true}']);
    }
    expect([fastifyRequests.get(a.app), fastifyRequests.get(b.app)]).toEqual([2, undefined]);
  });

  it('is refused with the same message if no cell knows the key', async () => {
    const there = await me(a, generateApiKey('live'));
    expect([there.status, there.json().code]).toEqual([401, 'unauthenticated']);
    expect(there.headers.get('x-tollgate-not-here')).toBeNull();
  });

  it('is refused by the cell of a revoked key', async () => {
    const { tenantId, key } = await cells.makeTenant(b);
    const path = `/admin/v1/tenants/${tenantId}/api-keys/${key.id}`;
    expect((await cells.call(b, 'DELETE', path, { key: cells.serviceKey })).status).toBe(204);
    const answer = await me(a, key.key);
    expect([answer.status, answer.json().code]).toEqual([401, 'unauthenticated']);
    expect(answer.headers.get('x-tollgate-not-here')).toBeNull();
  });

  it('is not forwarded a second time', async () => {
    const { key } = await cells.makeTenant(b);
    const answer = await me(a, key.key, { 'x-tollgate-forwarded-by': 'b' });
    expect([answer.status, answer.headers.get('x-tollgate-not-here')]).toEqual([401, '1']);
  });
});

describe('the service key', () => {
  it('reaches tenants and projects of every cell', async () => {
    const { tenantId, project } = await cells.makeTenant(b);
    const key = cells.serviceKey;
    const tenant = await cells.call(a, 'GET', `/admin/v1/tenants/${tenantId}`, { key });
    expect([tenant.status, tenant.json().id]).toEqual([200, tenantId]);
    const listed = await cells.call(a, 'GET', `/admin/v1/tenants/${tenantId}/projects`, { key });
    expect(listed.json().projects).toEqual([project]);
    const none = await cells.call(a, 'GET', '/admin/v1/tenants/ten_none', { key });
    expect([none.status, none.json().code]).toEqual([404, 'not_found']);
  });

  it('creates tenants in the cell that the directory chooses', async () => {
    await cells.directory.beside(`update cells set events_per_second = 40000 where name = 'a'`);
    const made = await cells.call(a, 'POST', '/admin/v1/tenants', {
      key: cells.serviceKey,
      body: { name: 'New' },
    });
    expect(made.status).toBe(201);
    const route = await findTenantRoute(cells.directory.postgres, made.json().id);
    expect(route?.cell).toBe('b');
    const { rows } = await b.store.postgres.pool.query('select name from tenants where id = $1', [
      made.json().id,
    ]);
    expect(rows).toEqual([{ name: 'New' }]);
    await cells.directory.beside('update cells set events_per_second = 0');
  });

  it('creates no tenant if all cells are draining', async () => {
    await beginDraining(cells.directory.postgres, 'a');
    await beginDraining(cells.directory.postgres, 'b');
    const refused = await cells.call(a, 'POST', '/admin/v1/tenants', {
      key: cells.serviceKey,
      body: { name: 'New' },
    });
    expect([refused.status, refused.json().code]).toEqual([409, 'cell_draining']);
    for (const { name, url } of [a, b])
      await putCell(cells.directory.postgres, { name, url, capacity: 50_000 });
  });
});

describe('a tenant that moves', () => {
  it('is refused for a moment while it is frozen, and then served by its new cell', async () => {
    const { tenantId, project, key } = await cells.makeTenant(a);
    expect((await me(b, key.key)).status).toBe(200);
    await cells.moveTenant(tenantId, a, b);
    age();
    for (const cell of [a, b]) {
      const answer = await me(cell, key.key);
      expect([answer.status, answer.json().tenant_id]).toEqual([200, tenantId]);
      const byService = await cells.call(cell, 'GET', `/admin/v1/tenants/${tenantId}/projects`, {
        key: cells.serviceKey,
      });
      expect(byService.json().projects).toEqual([project]);
    }
  });

  it.each([
    ['is frozen', false],
    ['is switched and not yet served', true],
  ])('gets a 503 with Retry-After from every cell while it %s', async (_, isSwitched) => {
    const { tenantId, key } = await cells.makeTenant(a);
    expect((await me(b, key.key)).status).toBe(200);
    const frozen = await cells.freezeTenant(tenantId, a, b);
    if (isSwitched) await switchTenant(cells.directory.postgres, frozen, a.name, b.name);
    age();
    for (const cell of [a, b]) {
      const answer = await me(cell, key.key);
      expect([answer.status, answer.json().code]).toEqual([503, 'tenant_moving']);
      expect(answer.headers.get('retry-after')).toBe('1');
      const byService = await cells.call(cell, 'GET', `/admin/v1/tenants/${tenantId}`, {
        key: cells.serviceKey,
      });
      expect([byService.status, byService.json().code]).toEqual([503, 'tenant_moving']);
    }
  });

  it('is found again after a look-up that has become stale', async () => {
    const { tenantId, key } = await cells.makeTenant(a);
    expect((await me(b, key.key)).status).toBe(200);
    await cells.moveTenant(tenantId, a, b);
    // The cached keys of cell a are old, the cached routes of cell b are not.
    cells.monotonicMs += 600;
    const c = await cells.addCell('c');
    expect((await me(c, key.key)).json().tenant_id).toBe(tenantId);
    await cells.moveTenant(tenantId, b, a);
    cells.monotonicMs += 600;
    const stale = await me(c, key.key);
    expect([stale.status, stale.json().code]).toEqual([503, 'tenant_moving']);
    expect((await me(c, key.key)).json().tenant_id).toBe(tenantId);
  });
});

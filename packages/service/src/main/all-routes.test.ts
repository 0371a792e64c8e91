import { PERMISSIONS, permits } from '@tollgate/contract';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../config.js';
import { generateApiKey } from '../kernel/api-key-text.js';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/id.js';
import { type Access, type App, Readiness, validatorCompiler } from '../platform/http/index.js';
import { createLog } from '../platform/log/index.js';
import { createMetrics } from '../platform/metrics/index.js';
import { createTestPostgres, type TestPostgres } from '../testing/index.js';
import { createApi } from './api.js';
import { ALONE } from './cell.js';
import type { Stores } from './stores.js';

const SERVICE_KEY = generateApiKey('live');

interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly access: Access;
}

let store: TestPostgres;
let app: App;
let closeApi: () => Promise<void>;
let routes: Route[];

/** A store that no refused request may reach. */
const untouchable = new Proxy({} as Stores['clickhouse'], {
  get() {
    throw new Error('a refused request reached ClickHouse');
  },
});

beforeAll(async () => {
  store = await createTestPostgres();
  const api = await createApi({
    config: readConfig({ TOLLGATE_PAYMENT_PROVIDER: 'sandbox' }),
    stores: { postgres: store.postgres, clickhouse: untouchable } as Stores,
    serviceKey: SERVICE_KEY,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    readiness: new Readiness(),
    tracing: undefined,
    accepting: undefined,
    connectionsMax: 100,
    pipeline: { notify: () => {} },
    cell: ALONE,
  });
  app = api.app;
  closeApi = () => api.close();
  await app.ready();
  routes = app.routeTable.routes
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, url, config }) => ({ method, url, access: config?.access }) as Route);
});
afterAll(async () => {
  await app.close();
  await closeApi();
  await store.drop();
});

async function send({ method, url }: Pick<Route, 'method' | 'url'>, key?: string) {
  const { statusCode, body } = await app.inject({
    method,
    url,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    ...(method === 'POST' || method === 'PUT' ? { payload: {} } : {}),
  });
  return { status: statusCode, body };
}

async function make(url: string, payload: object) {
  const headers = { authorization: `Bearer ${SERVICE_KEY}` };
  const created = await app.inject({ method: 'POST', url, headers, payload });
  expect(created.statusCode).toBe(201);
  return created.json();
}

/** A tenant with two projects, an administrator's key and one that is bound to the first project. */
async function makeTenant() {
  const { id } = await make('/admin/v1/tenants', { name: 'Acme' });
  const project = { name: 'x', kind: 'release' };
  const first = await make(`/admin/v1/tenants/${id}/projects`, project);
  const second = await make(`/admin/v1/tenants/${id}/projects`, project);
  const keyWith = async (body: object): Promise<string> =>
    (await make(`/admin/v1/tenants/${id}/api-keys`, { name: 'x', ...body })).key;
  const all = PERMISSIONS.filter((name) => name !== 'tenant:admin');
  return {
    id,
    projectIds: [first.id, second.id] as const,
    admin: await keyWith({ permissions: ['tenant:admin'] }),
    bound: await keyWith({ permissions: all, project_id: first.id }),
    keyWithout: (access: Access) =>
      keyWith({
        permissions:
          'permission' in access
            ? all.filter((name) => ![access.permission].flat().some((needed) => permits([name], needed)))
            : all,
      }),
  };
}

/** The route with the ids filled in, and without anything else that it needs. */
const at = ({ method, url }: Route, ids: { tenant?: string; project?: string }) => ({
  method,
  url: url
    .replace(':tenant_id', ids.tenant ?? newId('ten', systemClock))
    .replace(':project_id', ids.project ?? newId('prj', systemClock))
    .replace(/:[a-z_]+/g, 'absent'),
});

const isSchema = (value: unknown): value is object => typeof value === 'object' && value !== null;

describe('over all routes', () => {
  test('there are routes of every access', () => {
    expect(new Set(routes.map(({ access }) => access.kind))).toEqual(
      new Set(['public', 'any-key', 'project', 'tenant', 'service']),
    );
  });

  // Schemas are compiled when they are first needed; a mistake in one must be found before.
  test('every schema compiles', () => {
    const parts = ['body', 'params', 'querystring', 'headers'] as const;
    const schemas = app.routeTable.routes.flatMap(({ schema }) =>
      parts.flatMap((httpPart) => {
        const found = schema?.[httpPart];
        return found === undefined ? [] : [{ schema: found as object, httpPart, method: '', url: '' }];
      }),
    );
    expect(schemas.length).toBeGreaterThan(routes.length);
    for (const one of schemas) expect(() => validatorCompiler(one)({})).not.toThrow();
  });

  // The service does not check this, because it would make every start slower.
  test('every schema is a valid one', () => {
    const ajv = new Ajv();
    const schemas = app.routeTable.routes.flatMap(
      ({ schema: { body, params, querystring, response } = {} }) =>
        [body, params, querystring, ...Object.values((response ?? {}) as object)].filter(isSchema),
    );
    expect(schemas.length).toBeGreaterThan(routes.length);
    for (const one of schemas) expect(ajv.validateSchema(one), JSON.stringify(ajv.errors)).toBe(true);
  });

  test('only these are open to everybody', () => {
    const open = routes.filter(({ access }) => access.kind === 'public').map(({ url }) => url);
    expect(open.sort()).toEqual([
      '/',
      '/api/session',
      '/api/session',
      '/assets/*',
      '/docs',
      '/docs/reference.js',
      '/healthz',
      '/metrics',
      '/openapi.json',
      '/p/*',
      '/readyz',
      '/sandbox/checkout/:session_id',
      '/sandbox/checkout/:session_id/decline',
      '/sandbox/checkout/:session_id/pay',
      '/sandbox/return/cancel',
      '/sandbox/return/success',
      '/sandbox/v1/checkout/sessions',
      '/sandbox/v1/checkout/sessions/:session_id',
      '/sign-in',
      '/v1/payments/provider/webhook',
      '/v1/plans',
    ]);
  });

  test('401 without a key or with an unknown one', async () => {
    for (const route of routes.filter(({ access }) => access.kind !== 'public')) {
      const target = at(route, {});
      const bare = await send(target);
      expect([target.url, bare.status]).toEqual([target.url, 401]);
      expect(await send(target, generateApiKey('live'))).toEqual(bare);
    }
  });

  test('403 without the permission, before anything is looked up: own, foreign or absent', async () => {
    const [own, foreign] = [await makeTenant(), await makeTenant()];
    for (const route of routes.filter(
      ({ access }) => access.kind !== 'public' && access.kind !== 'any-key',
    )) {
      const key = await own.keyWithout(route.access);
      const targets = [
        at(route, { tenant: own.id, project: own.projectIds[0] }),
        at(route, { tenant: foreign.id, project: foreign.projectIds[0] }),
        at(route, {}),
      ];
      const answers = await Promise.all(targets.map((target) => send(target, key)));
      expect([route.url, answers[0]?.status]).toEqual([route.url, 403]);
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    }
  });

  test("404: another tenant's project is byte for byte an absent one", async () => {
    const [own, foreign] = [await makeTenant(), await makeTenant()];
    for (const route of routes.filter(({ access }) => access.kind === 'project')) {
      const absent = await send(at(route, {}), own.admin);
      expect([route.url, absent.status]).toEqual([route.url, 404]);
      expect(await send(at(route, { project: foreign.projectIds[0] }), own.admin)).toEqual(absent);
      expect(await send(at(route, { project: own.projectIds[1] }), own.bound)).toEqual(absent);
    }
  });

  test("404, or 403: another tenant's administration is byte for byte an absent tenant's", async () => {
    const [own, foreign] = [await makeTenant(), await makeTenant()];
    for (const route of routes.filter(({ access }) => access.kind === 'tenant')) {
      const absent = await send(at(route, {}), own.admin);
      const isDenied = route.access.kind === 'tenant' && route.access.elsewhere === 'denied';
      expect([route.url, absent.status]).toEqual([route.url, isDenied ? 403 : 404]);
      expect(await send(at(route, { tenant: foreign.id }), own.admin)).toEqual(absent);
    }
  });

  test('the API description names each once, with its responses', async () => {
    const document = (await app.inject('/openapi.json')).json();
    const operations = Object.values<Record<string, Operation>>(document.paths).flatMap((path) =>
      Object.values(path),
    );
    const hidden = ['/', '/docs', '/docs/reference.js', '/api/session', '/assets/*', '/p/*', '/sign-in'];
    const isHidden = (url: string) => hidden.includes(url) || url.startsWith('/sandbox/');
    const shown = routes.filter(({ url }) => !isHidden(url));
    expect(operations.length).toBe(shown.length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { operationId, responses, security, tags } of operations) {
      expect([operationId, Object.keys(responses).some((status) => status.startsWith('2'))]).toEqual([
        operationId,
        true,
      ]);
      expect(responses).toHaveProperty('500');
      if (security.length > 0) expect(responses).toHaveProperty('401');
      expect(tags.length).toBe(1);
    }
  });
});

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, object>>;
}

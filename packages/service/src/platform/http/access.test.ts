import type { Permission } from '@tollgate/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { KeyPrincipal, Principal } from '../../kernel/principal.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { createLog } from '../log/index.js';
import { createMetrics } from '../metrics/index.js';
import { type Access, type App, createApp } from './index.js';

const PROJECTS: Record<string, ProjectRef> = {
  mine: { tenantId: 'ten_a', projectId: 'mine', projectNo: 1, kind: 'release', storage: 'shared' },
  sibling: { tenantId: 'ten_a', projectId: 'sibling', projectNo: 2, kind: 'release', storage: 'shared' },
  foreign: { tenantId: 'ten_b', projectId: 'foreign', projectNo: 3, kind: 'release', storage: 'shared' },
};

const keyOf = (permissions: Permission[], projectId?: string): KeyPrincipal => ({
  kind: 'key',
  keyId: 'key_1',
  tenantId: 'ten_a',
  projectId,
  permissions,
});

const PRINCIPALS: Record<string, Principal> = {
  service: { kind: 'service' },
  reader: keyOf(['rules:read']),
  writer: keyOf(['rules:write']),
  bound: keyOf(['rules:read'], 'mine'),
  admin: keyOf(['tenant:admin']),
  boundAdmin: keyOf(['tenant:admin'], 'mine'),
  other: keyOf(['usage:ingest']),
  both: keyOf(['rules:write', 'usage:read']),
};

const ROUTES: Record<string, Access> = {
  '/public/:id': { kind: 'public' },
  '/any': { kind: 'any-key' },
  '/service/:id': { kind: 'service' },
  '/read/:project_id': { kind: 'project', permission: 'rules:read' },
  '/write/:project_id': { kind: 'project', permission: 'rules:write' },
  '/both/:project_id': { kind: 'project', permission: ['rules:read', 'usage:read'] },
  '/tenant/:tenant_id': { kind: 'tenant', permission: 'tenant:admin' },
};

/** Both kinds of ports: they return at once (cached), or later. */
describe.each([
  ['cached', <T>(value: T) => value],
  ['looked up', async <T>(value: T) => value],
])('access, when key and project are %s', (_how, answer) => {
  let app: App;
  let lookedFor: string[] = [];
  beforeAll(async () => {
    app = await createApp({
      log: createLog({ level: 'silent' }),
      metrics: createMetrics(),
      authenticator: { authenticate: (token) => answer(PRINCIPALS[token]) as Principal | undefined },
      projects: {
        resolveProject: (id, tenantId) => {
          lookedFor.push(`${tenantId ?? 'any'} ${id}`);
          const found =
            tenantId === undefined || PROJECTS[id]?.tenantId === tenantId ? PROJECTS[id] : undefined;
          return answer(found) as ProjectRef | undefined;
        },
      },
    });
    for (const [url, access] of Object.entries(ROUTES)) {
      app.route({
        method: 'GET',
        url,
        config: { access },
        schema: { hide: true },
        handler: async (request) =>
          access.kind === 'project'
            ? { project: request.project }
            : { caller: request.boundPrincipal?.kind ?? 'nobody' },
      });
    }
  });

  const get = (url: string, authorization?: string) =>
    app.inject({ url, headers: authorization === undefined ? {} : { authorization } });

  test.each<[string, string | undefined, number]>([
    ['/public/1', undefined, 200],
    ['/public/1', 'nonsense', 200],
    ['/public/%00', undefined, 404],
    ['/any', undefined, 401],
    ['/any', 'reader', 401],
    ['/any', 'Basic reader', 401],
    ['/any', 'Bearer', 401],
    ['/any', 'Bearer nobody', 401],
    ['/any', `Bearer ${'x'.repeat(10_000)}`, 401],
    ['/any', 'Bearer reader', 200],
    ['/any', 'bearer  reader ', 200],
    ['/any', 'Bearer service', 200],
    ['/service/1', 'Bearer service', 200],
    ['/service/1', 'Bearer admin', 403],
    ['/service/%00', 'Bearer service', 404],
    ['/read/mine', 'Bearer reader', 200],
    ['/read/mine', 'Bearer writer', 200],
    ['/read/mine', 'Bearer bound', 200],
    ['/read/mine', 'Bearer admin', 200],
    ['/read/mine', 'Bearer service', 200],
    ['/read/mine', 'Bearer other', 403],
    ['/write/mine', 'Bearer reader', 403],
    ['/write/mine', 'Bearer writer', 200],
    ['/both/mine', 'Bearer reader', 403],
    ['/both/mine', 'Bearer other', 403],
    ['/both/mine', 'Bearer both', 200],
    ['/both/mine', 'Bearer admin', 200],
    ['/both/mine', 'Bearer service', 200],
    ['/both/foreign', 'Bearer both', 404],
    ['/read/sibling', 'Bearer reader', 200],
    ['/read/sibling', 'Bearer bound', 404],
    ['/read/foreign', 'Bearer reader', 404],
    ['/read/foreign', 'Bearer admin', 404],
    ['/read/foreign', 'Bearer other', 403],
    ['/read/foreign', 'Bearer service', 200],
    ['/read/absent', 'Bearer service', 404],
    ['/read/absent', 'Bearer other', 403],
    ['/read/absent', undefined, 401],
    ['/read/%00', 'Bearer reader', 404],
    ['/read/constructor', 'Bearer reader', 404],
    ['/tenant/ten_a', 'Bearer admin', 200],
    ['/tenant/ten_a', 'Bearer service', 200],
    ['/tenant/ten_a', 'Bearer writer', 403],
    ['/tenant/ten_a', 'Bearer boundAdmin', 403],
    ['/tenant/ten_b', 'Bearer writer', 403],
    ['/tenant/ten_b', 'Bearer admin', 404],
  ])('%s with %s: %i', async (url, authorization, status) => {
    expect((await get(url, authorization)).statusCode).toBe(status);
  });

  test.each<[string, string, string, string[] | undefined]>([
    ['/write/mine', 'reader', 'This API key lacks the permission rules:write.', ['rules:write']],
    ['/both/mine', 'reader', 'This API key lacks the permission usage:read.', ['usage:read']],
    [
      '/both/mine',
      'other',
      'This API key lacks the permissions rules:read, usage:read.',
      ['rules:read', 'usage:read'],
    ],
    ['/service/1', 'admin', 'Only the service key may do this.', undefined],
    [
      '/tenant/ten_a',
      'boundAdmin',
      'This API key is bound to one project, so it cannot administer the tenant.',
      undefined,
    ],
    ['/tenant/ten_b', 'writer', 'This API key lacks the permission tenant:admin.', ['tenant:admin']],
  ])('%s with the key %s says what is missing', async (url, key, error, missing) => {
    const details = missing?.map((permission) => ({
      path: '',
      message: 'expected an API key with this permission',
      permission,
    }));
    expect((await get(url, `Bearer ${key}`)).json()).toEqual({
      error,
      code: 'permission_denied',
      ...(details && { details }),
    });
  });

  test('a foreign project is byte for byte an absent one', async () => {
    const foreign = await get('/read/foreign', 'Bearer reader');
    expect(foreign.body).toBe((await get('/read/absent', 'Bearer reader')).body);
  });

  test('a foreign project is looked for in the same steps as an absent one', async () => {
    lookedFor = [];
    for (const id of ['foreign', 'absent']) await get(`/read/${id}`, 'Bearer reader');
    expect(lookedFor).toEqual(['ten_a foreign', 'ten_a absent']);
    lookedFor = [];
    for (const id of ['sibling', 'foreign', 'absent']) await get(`/read/${id}`, 'Bearer bound');
    expect(lookedFor).toEqual([]);
  });

  test('the handler knows the project; elsewhere asking for it is an error', async () => {
    expect((await get('/read/mine', 'Bearer reader')).json()).toEqual({ project: PROJECTS.mine });
    expect((await get('/any', 'Bearer service')).json()).toEqual({ caller: 'service' });
  });
});

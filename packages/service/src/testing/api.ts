import type { Permission } from '@tollgate/contract';
import { generateApiKey } from '../kernel/api-key-text.js';
import { ManualClock } from '../kernel/clock.js';
import type { ProjectAdmission, TenancyService } from '../modules/tenancy/index.js';
import type { App } from '../platform/http/index.js';
import type { Postgres } from '../platform/postgres/index.js';
import { everythingAdmitted } from './admission.js';
import { createTestPostgres, type TestPostgres } from './postgres.js';
import { createTenancyApp } from './tenancy-app.js';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
  json(): ReturnType<typeof JSON.parse>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The HTTP application with a database of its own, one tenant and one project. */
export interface TestApi {
  readonly app: App;
  readonly postgres: Postgres;
  readonly connectionString: string;
  readonly beside: TestPostgres['beside'];
  readonly clock: ManualClock;
  readonly serviceKey: string;
  readonly tenantId: string;
  readonly projectId: string;
  /** Sends a request with the service key, or with another one; a text body is sent as it is. */
  call(
    method: Method,
    url: string,
    body?: object | string,
    key?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  makeTenant(): Promise<string>;
  makeProject(tenantId: string): Promise<string>;
  makeKey(tenantId: string, permissions: readonly Permission[], projectId?: string): Promise<string>;
  close(): Promise<void>;
}

/** Some moment in 2026. */
export const TEST_NOW_S = 1_790_000_000;

/** The stores behind a test application. */
export interface TestStores {
  readonly postgres: Postgres;
  readonly clock: ManualClock;
}

/** The services that routes are registered with. */
export interface TestParts extends TestStores {
  readonly tenants: TenancyService;
}

/** Starts an application with the routes that `register` adds to those of tenancy. */
export async function createTestApi(
  register: (app: App, stores: TestParts) => void,
  /** Default: every project is admitted. */
  projectAdmissionOver: (stores: TestStores) => ProjectAdmission = () => everythingAdmitted,
): Promise<TestApi> {
  const store = await createTestPostgres();
  const { postgres } = store;
  const clock = new ManualClock(TEST_NOW_S * 1000);
  const serviceKey = generateApiKey('live');
  const projectAdmission = projectAdmissionOver({ postgres, clock });
  const { app, tenancy } = await createTenancyApp({ postgres, clock, serviceKey, projectAdmission });
  register(app, { postgres, clock, tenants: tenancy.service });

  const call: TestApi['call'] = async (method, url, body, key = serviceKey, headers = {}) => {
    const response = await app.inject({
      method,
      url,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: body }),
    });
    const { statusCode, body: text } = response;
    return { status: statusCode, text, headers: response.headers, json: () => JSON.parse(text) };
  };
  const make = async (url: string, body: object) => {
    const created = await call('POST', url, body);
    if (created.status !== 201) throw new Error(`${url}: ${created.status} ${created.text}`);
    return created.json();
  };
  const makeTenant = async () => (await make('/admin/v1/tenants', { name: 'Acme' })).id as string;
  const makeProject = async (tenantId: string): Promise<string> =>
    (await make(`/admin/v1/tenants/${tenantId}/projects`, { name: 'Chat', kind: 'release' })).id;
  const makeKey: TestApi['makeKey'] = async (tenantId, permissions, projectId) =>
    (
      await make(`/admin/v1/tenants/${tenantId}/api-keys`, {
        name: 'key',
        permissions,
        ...(projectId === undefined ? {} : { project_id: projectId }),
      })
    ).key;

  const tenantId = await makeTenant();
  return {
    app,
    postgres,
    connectionString: store.connectionString,
    beside: store.beside,
    clock,
    serviceKey,
    tenantId,
    projectId: await makeProject(tenantId),
    call,
    makeTenant,
    makeProject,
    makeKey,
    close: async () => {
      await app.close();
      await store.drop();
    },
  };
}

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../platform/log/index.js';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { registerVerifyRoutes } from './index.js';

let api: TestApi;
let store: TestClickHouse;

beforeAll(async () => {
  store = await createTestClickHouse();
  api = await createTestApi((app, { postgres }) =>
    registerVerifyRoutes(app, {
      postgres,
      clickhouse: store.clickhouse,
      log: createLog({ level: 'silent' }),
    }),
  );
});

afterAll(async () => {
  await api.close();
  await store.drop();
});

it('returns the report to the service key, the same for concurrent requests', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => api.call('POST', '/admin/v1/verify')));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers[0]?.json()).toMatchObject({ status: 'equal', difference_count: 0 });
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
});

it('runs again when it is asked again', async () => {
  expect((await api.call('POST', '/admin/v1/verify')).status).toBe(200);
});

it('is for the service key only', async () => {
  const admin = await api.makeKey(api.tenantId, ['tenant:admin']);
  expect((await api.call('POST', '/admin/v1/verify', undefined, admin)).status).toBe(403);
  expect((await api.call('POST', '/admin/v1/verify', undefined, 'nonsense')).status).toBe(401);
});

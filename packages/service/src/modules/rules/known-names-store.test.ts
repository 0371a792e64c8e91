import { afterAll, beforeAll, expect, it } from 'vitest';
import { ProjectDb } from '../../platform/postgres/index.js';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { createRuleSets, registerRuleSetRoutes } from './index.js';
import { defaultSubjectTypes, isDefaultSubjectType } from './known-names-store.js';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
});
afterAll(() => api.close());

it('knows the subject types that extractor rule sets of the project set, drafts and earlier versions included', async () => {
  const url = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  const body = (default_type: string) => ({ subject: { default_type, id_path: 'user' } });
  const { id } = (await api.call('POST', url, body('user'))).json();
  expect((await api.call('POST', `${url}/${id}/publish`)).status).toBe(200);
  expect((await api.call('PUT', `${url}/${id}`, body('customer'))).status).toBe(200);
  await api.call('POST', url, body('customer'));
  await api.call('POST', url, {});
  const db = new ProjectDb(api.postgres.db, api);
  expect(await defaultSubjectTypes(db)).toEqual(['customer', 'user']);
  expect(await isDefaultSubjectType(db, 'user')).toBe(true);
  expect(await isDefaultSubjectType(db, 'custmer')).toBe(false);
  const sibling = { tenantId: api.tenantId, projectId: await api.makeProject(api.tenantId) };
  expect(await defaultSubjectTypes(new ProjectDb(api.postgres.db, sibling))).toEqual([]);
  expect(await isDefaultSubjectType(new ProjectDb(api.postgres.db, sibling), 'user')).toBe(false);
});

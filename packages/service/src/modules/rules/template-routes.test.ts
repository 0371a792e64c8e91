import type { ExtractorTemplate, ExtractorTemplateList } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { createRuleSets, registerRuleSetRoutes } from './index.js';
import { TEMPLATES } from './templates/index.js';

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
  url = `/v1/projects/${api.projectId}/extractor-rule-sets`;
});
afterAll(() => api.close());

const list = (key?: string) => api.call('GET', '/v1/extractor-templates', undefined, key);

describe('the list of templates', () => {
  it('has each, with its samples and what is charged for them', async () => {
    const listed = await list();
    expect(listed.status).toBe(200);
    const { templates } = listed.json() as ExtractorTemplateList;
    expect(templates.map(({ id }) => id)).toEqual([
      'openai_chat_completions',
      'openai_responses',
      'anthropic_messages',
      'google_gemini',
      'aws_bedrock_converse',
      'http_requests',
      'object_storage',
      'compute_seconds',
    ]);
    expect(templates).toEqual(TEMPLATES);
  });

  it('is there for any key, and for no one without', async () => {
    expect((await list(await api.makeKey(api.tenantId, ['usage:ingest']))).status).toBe(200);
    expect((await list('tg_live_none')).status).toBe(401);
  });
});

describe('a rule set of a template', () => {
  const [template] = TEMPLATES as [ExtractorTemplate];
  const { subject, dimensions, charge_item_extractors } = template;

  it('is created as the template is today, and says which it was', async () => {
    const created = await api.call('POST', url, { name: 'Chat', template_id: template.id });
    expect(created.status, created.text).toBe(201);
    expect(created.json()).toMatchObject({
      name: 'Chat',
      template_id: template.id,
      subject,
      dimensions,
      charge_item_extractors,
    });
    const read = await api.call('GET', `${url}/${created.json().id}`);
    expect(read.json()).toEqual(created.json());
  });

  it.each(TEMPLATES.map(({ id }) => id))('can be published: %s', async (id) => {
    const created = await api.call('POST', url, { template_id: id });
    const published = await api.call('POST', `${url}/${created.json().id}/publish`);
    expect([published.status, published.json().status]).toEqual([200, 'published']);
  });

  it('has the fields that were sent in place of the template’s', async () => {
    const own = [{ name: 'region', path: 'region', type: 'string' }];
    const created = await api.call('POST', url, { template_id: template.id, dimensions: own, subject: {} });
    expect(created.json()).toMatchObject({ subject: {}, dimensions: own, charge_item_extractors });
  });

  it('fails events without a price where the input says so, in addition to the template', async () => {
    const own = { template_id: template.id, on_unpriced: 'fail' };
    const created = (await api.call('POST', url, own)).json();
    expect(created).toMatchObject({ on_unpriced: 'fail', charge_item_extractors });
    const updated = (await api.call('PUT', `${url}/${created.id}`, { template_id: template.id })).json();
    expect(updated).toMatchObject({ on_unpriced: 'accept', charge_item_extractors });
  });

  it('takes a template when it is updated, and lets go of it', async () => {
    const { id } = (await api.call('POST', url, { template_id: template.id })).json();
    const other = TEMPLATES[1] as ExtractorTemplate;
    const updated = await api.call('PUT', `${url}/${id}`, { template_id: other.id });
    expect(updated.json()).toMatchObject({
      template_id: other.id,
      subject: other.subject,
      charge_item_extractors: other.charge_item_extractors,
    });
    const plain = (await api.call('PUT', `${url}/${id}`, { dimensions })).json();
    expect(plain).toMatchObject({ subject: {}, dimensions, charge_item_extractors: [] });
    expect(plain).not.toHaveProperty('template_id');
  });

  it('is refused with the templates that there are, when there is no such one', async () => {
    const refused = await api.call('POST', url, { template_id: 'openai' });
    expect(refused.status).toBe(400);
    const message = `expected one of ${TEMPLATES.map(({ id }) => id).join(', ')}`;
    expect(refused.json()).toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'template_id', message }],
    });
  });

  it('is checked where it was changed', async () => {
    const [item] = charge_item_extractors;
    const refused = await api.call('POST', url, {
      template_id: template.id,
      charge_item_extractors: [{ ...item, less_paths: ['usage.cached', 'usage.*'] }],
    });
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'charge_item_extractors[0].less_paths[1]' }],
    });
  });
});

describe('less_paths', () => {
  const item = { metric: 'llm.input_tokens', path: 'total', type: 'number' };
  const create = (lessPaths: unknown) =>
    api.call('POST', url, { charge_item_extractors: [{ ...item, less_paths: lessPaths }] });

  it('are returned as they were sent', async () => {
    const created = await create(['cached', '$.audio']);
    expect(created.json().charge_item_extractors).toEqual([{ ...item, less_paths: ['cached', '$.audio'] }]);
  });

  it.each([
    ['no list', 'cached', 'charge_item_extractors[0].less_paths'],
    ['a path that is no text', ['a', 5], 'charge_item_extractors[0].less_paths[1]'],
    ['nine paths', Array.from({ length: 9 }, () => 'a'), 'charge_item_extractors[0].less_paths'],
  ])('are refused: %s', async (_, lessPaths, path) => {
    const refused = await create(lessPaths);
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });
});

import { SINGLE_BODY_BYTES_MAX } from '@tollgate/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { type BothWays, listenBothWays, postBytes, sameAnswer } from '../../testing/both-ways.js';
import { createTestIngest, type TestIngest } from '../../testing/ingest-api.js';

let api: TestIngest;
let ways: BothWays;
let isStoreAway = false;
let isBacklogFull = false;

beforeAll(async () => {
  api = await createTestIngest((queue) => ({
    appendWithinQuota: (records) =>
      isStoreAway ? Promise.reject(new Error('away')) : queue.appendWithinQuota(records),
    backlog: async () => ({ ...(await queue.backlog()), ...(isBacklogFull && { events: 1e9 }) }),
    tenantsHolding: (size) => queue.tenantsHolding(size),
  }));
  ways = await listenBothWays(api.app);
});
afterEach(async () => {
  isStoreAway = false;
  isBacklogFull = false;
  await api.measureBacklog();
  await api.postgres.pool.query('delete from segments');
});
afterAll(async () => {
  await ways.close();
  await api.close();
});

interface Sent {
  readonly body?: object | string | Buffer;
  readonly key?: string;
  readonly projectId?: string;
}

const bytesOf = (body: object | string | Buffer) =>
  typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);

/** Sends an event by itself and in a batch, each through both ways. */
async function send({ body, key = api.serviceKey, projectId = api.projectId }: Sent) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const project = `/v1/projects/${projectId}`;
  const singlePath = `${project}/extractor-rule-sets/${api.ruleSetId}/events/ingest`;
  const batch = body ?? { events: [api.item(), api.item({ idempotency_key: 'k-2' })] };
  return [
    await sameAnswer(ways, postBytes(singlePath, headers, bytesOf(body ?? api.event))),
    await sameAnswer(ways, postBytes(`${project}/events/batch-ingest`, headers, bytesOf(batch))),
  ];
}

const codesOf = (answers: Awaited<ReturnType<typeof send>>) =>
  answers.map(({ status, body }) => `${status} ${JSON.parse(body).code}`);

describe('both ways into ingest', () => {
  it('accept the same, and queue each request once', async () => {
    const [single, batch] = await send({});
    expect([single?.status, batch?.status]).toEqual([202, 202]);
    const [twice, again] = await send({});
    expect([twice?.body, again?.body]).toEqual([single?.body, batch?.body]);
    const queued = await api.takeQueued();
    expect(queued.map(({ eventCount }) => eventCount)).toEqual([1, 1, 2, 2, 1, 1, 2, 2]);
    expect(new Set(queued.map(({ body }) => body.toString())).size).toBe(2);
  });

  it.each<[string, Sent, string]>([
    ['broken JSON', { body: '{"source":' }, '400 invalid_json'],
    ['what is not UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }, '400 invalid_json'],
    ['deep JSON', { body: `${'['.repeat(5_000)}${']'.repeat(5_000)}` }, '400 json_too_deep'],
    ['wrong types', { body: { source: 1, occurred_at: '2' } }, '400 invalid_request'],
    ['no body', { body: '' }, '400 invalid_request'],
    ['an unknown key', { key: generateApiKey('live') }, '401 unauthenticated'],
    ['a malformed key', { key: 'x' }, '401 unauthenticated'],
    ['an absent project', { projectId: 'prj_none' }, '404 not_found'],
  ])('refuse %s alike, and queue nothing', async (_what, sent, expected) => {
    expect(codesOf(await send(sent))).toEqual([expected, expected]);
    expect(await api.takeQueued()).toEqual([]);
  });

  it('refuse a body that is too large alike', async () => {
    const text = 'x'.repeat(SINGLE_BODY_BYTES_MAX);
    const [single] = codesOf(await send({ body: { ...api.event, raw_json: { text } } }));
    expect(single).toBe('413 payload_too_large');
  });

  it('refuse what there is no room for before they parse it', async () => {
    isBacklogFull = true;
    await api.measureBacklog();
    for (const sent of [{}, { body: '{"source":' }, { body: '' }]) {
      expect(codesOf(await send(sent))).toEqual(['503 ingest_backlog_full', '503 ingest_backlog_full']);
    }
    expect(codesOf(await send({ projectId: 'prj_none' }))).toEqual(['404 not_found', '404 not_found']);
  });

  it('refuse a key at once when it is revoked', async () => {
    const keysUrl = `/admin/v1/tenants/${api.tenantId}/api-keys`;
    const made = await api.call('POST', keysUrl, { name: 'x', permissions: ['usage:ingest'] });
    const { id, key } = made.json();
    expect((await send({ key })).map(({ status }) => status)).toEqual([202, 202]);
    await api.call('DELETE', `${keysUrl}/${id}`);
    expect(codesOf(await send({ key }))).toEqual(['401 unauthenticated', '401 unauthenticated']);
  });

  it("refuse a key without the permission, and one of another tenant's", async () => {
    const reader = await api.makeKey(api.tenantId, ['usage:read']);
    const stranger = await api.makeKey(await api.makeTenant(), ['usage:ingest']);
    for (const [key, expected] of [
      [reader, '403 permission_denied'],
      [stranger, '404 not_found'],
    ] as const) {
      // The first request looks the key up; the second finds it in the cache.
      expect(codesOf(await send({ key }))).toEqual([expected, expected]);
      expect(codesOf(await send({ key }))).toEqual([expected, expected]);
    }
  });

  it('let the service itself refuse alike', async () => {
    const old = { occurred_at: 0 };
    expect(codesOf(await send({ body: { ...api.event, ...old } }))[0]).toBe('400 occurred_at_out_of_range');
    expect(codesOf(await send({ body: { events: [api.item(old)] } }))[1]).toBe(
      '400 occurred_at_out_of_range',
    );
    isStoreAway = true;
    expect(codesOf(await send({}))).toEqual(['503 store_unavailable', '503 store_unavailable']);
    expect(await api.takeQueued()).toEqual([]);
  });
});

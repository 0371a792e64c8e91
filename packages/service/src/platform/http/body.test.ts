import { BATCH_BODY_BYTES_MAX, JSON_DEPTH_MAX, SINGLE_BODY_BYTES_MAX } from '@tollgate/contract';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../log/index.js';
import { createMetrics } from '../metrics/index.js';
import { type App, createApp } from './index.js';

let app: App;
const received: unknown[] = [];

beforeAll(async () => {
  app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    authenticator: { authenticate: () => undefined },
    projects: { resolveProject: () => undefined },
  });
  const config = { access: { kind: 'public' } } as const;
  const any = Type.Object({}, { additionalProperties: true });
  const schema = { hide: true, body: any };
  app.route({
    method: 'POST',
    url: '/any',
    config,
    schema,
    handler: async (request) => {
      received.push(request.body);
      return { bytes: request.rawBody?.length };
    },
  });
  app.route({
    method: 'POST',
    url: '/arbitrary',
    config: { ...config, arbitraryText: true },
    schema,
    handler: async (request) => request.body,
  });
  app.route({
    method: 'POST',
    url: '/large',
    config,
    bodyLimit: BATCH_BODY_BYTES_MAX,
    schema,
    handler: async (request) => ({ bytes: request.rawBody?.length }),
  });
  app.route({
    method: 'POST',
    url: '/bare',
    config,
    schema: { hide: true },
    handler: async () => ({ done: true }),
  });
});
afterAll(() => app.close());

const JSON_TYPE = { 'content-type': 'application/json' };

async function post(
  payload: string | Buffer | undefined,
  { url = '/any', headers = JSON_TYPE as object } = {},
) {
  const response = await app.inject({
    method: 'POST',
    url,
    headers: headers as Record<string, string>,
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: response.statusCode, text: response.body, json: response.json() };
}

const nested = (depth: number) => '['.repeat(depth - 1) + ']'.repeat(depth - 1);

describe('bodies', () => {
  test('are parsed, and their bytes kept', async () => {
    const answer = await post('{"a": 1}');
    expect(answer).toMatchObject({ status: 200, json: { bytes: 8 } });
    expect(received.pop()).toEqual({ a: 1 });
  });

  test('duplicate keys: the last wins; __proto__ and constructor are ordinary data', async () => {
    const text = '{"a":1,"a":2,"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}';
    expect((await post(text)).status).toBe(200);
    const body = received.pop() as Record<string, unknown>;
    expect(body.a).toBe(2);
    expect(Object.getOwnPropertyDescriptor(body, '__proto__')?.value).toEqual({ x: 1 });
    expect(Object.hasOwn(body, 'constructor')).toBe(true);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  test.each<[string, string, string]>([
    ['{', 'it ends too early', 'line 1, column 2 (position 1)'],
    ['{"a":\n  tru}', 'unexpected character', 'line 2'],
    ['{"a":1,}', 'unexpected character', 'line 1, column 8 (position 7)'],
    ['abc', 'unexpected character', 'position'],
    ["{'a':1}", 'unexpected character', 'line 1, column 2 (position 1)'],
    ['\ufeff{}', 'unexpected character', 'line 1, column 1 (position 0)'],
    ['{"a":01}', 'unexpected character', 'position'],
    ['{} {}', 'unexpected character', 'line 1, column 4 (position 3)'],
    ['{"a":"\u0001"}', 'unexpected character', 'position'],
  ])('400 invalid_json with the position: %j', async (text, what, where) => {
    const { status, json } = await post(text);
    expect([status, json.code]).toEqual([400, 'invalid_json']);
    expect(json.error).toContain(what);
    expect(json.error).toContain(where);
  });

  test('400: bytes that are not UTF-8', async () => {
    const { status, json } = await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    expect([status, json.code]).toEqual([400, 'invalid_json']);
  });

  test('400 json_too_deep past the bound, however deep', async () => {
    expect((await post(`{"a":${nested(JSON_DEPTH_MAX)}}`)).status).toBe(200);
    for (const depth of [JSON_DEPTH_MAX + 1, 400_000]) {
      const { status, json } = await post(`{"a":${nested(depth)}}`);
      expect([status, json.code]).toEqual([400, 'json_too_deep']);
      expect(json.error).toContain(String(JSON_DEPTH_MAX));
    }
    expect((await post('['.repeat(1_000_000))).json.code).toBe('json_too_deep');
  });

  test('400 where a body is needed and none came', async () => {
    for (const headers of [{}, JSON_TYPE]) {
      for (const payload of [undefined, '']) {
        const { status, json } = await post(payload, { headers });
        expect([status, json.error]).toEqual([400, 'A JSON body is required.']);
      }
    }
    expect((await post('null')).json.error).toBe('A JSON body is required.');
    expect((await post('[]')).json.details).toEqual([{ path: '', message: 'expected an object' }]);
  });

  test('a route without a body takes an empty one, with and without a content type', async () => {
    for (const headers of [{}, JSON_TYPE]) {
      expect((await post(undefined, { url: '/bare', headers })).json).toEqual({ done: true });
      expect((await post('', { url: '/bare', headers })).json).toEqual({ done: true });
    }
    expect((await post('{}', { url: '/bare' })).json).toEqual({ done: true });
  });

  test.each(['{"force":true}', '[1]', '1', '"text"', 'true'])(
    'a route without a body refuses %s',
    async (payload) => {
      const { status, json } = await post(payload, { url: '/bare' });
      expect([status, json.code]).toEqual([400, 'invalid_request']);
    },
  );

  test('413 names the limit of the route', async () => {
    const tooLarge = Buffer.alloc(SINGLE_BODY_BYTES_MAX + 1, ' ');
    const { status, json } = await post(tooLarge);
    expect([status, json.code]).toEqual([413, 'payload_too_large']);
    expect(json.error).toContain(String(SINGLE_BODY_BYTES_MAX));
    const padded = Buffer.concat([Buffer.from('{}'), tooLarge]);
    expect(await post(padded, { url: '/large' })).toMatchObject({
      status: 200,
      json: { bytes: padded.length },
    });
  });

  test.each<[string, Record<string, string>]>([
    ['no JSON', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no content type', {}],
    ['no content type at all', { 'content-type': 'json' }],
    ['JSON of another kind', { 'content-type': 'application/ld+json' }],
    ['another encoding', { 'content-type': 'application/json; charset=utf-16' }],
    ['a compressed body', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    ['an unknown compression', { ...JSON_TYPE, 'content-encoding': 'x' }],
  ])('415: %s', async (_what, headers) => {
    const { status, json } = await post('{}', { headers });
    expect([status, json.code]).toEqual([415, 'unsupported_media_type']);
  });

  test.each(['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON'])(
    '%s is JSON',
    async (type) => expect((await post('{}', { headers: { 'content-type': type } })).status).toBe(200),
  );

  test.each<[string, string]>([
    ['{"a":{"b":["x","\\u0000"]}}', 'a.b[1]'],
    ['{"a":"\\ud800"}', 'a'],
    ['{"a":"\\udc00\\ud800"}', 'a'],
    ['{"a":{"\\u0000":1}}', 'a'],
  ])('400: text that nothing can store: %s', async (text, path) => {
    const { status, json } = await post(text);
    expect([status, json.code]).toEqual([400, 'invalid_request']);
    const message = 'text must not contain NUL or a lone surrogate';
    expect(json).toMatchObject({
      error: `The request is not valid: ${path}: ${message}.`,
      details: [{ path, message }],
    });
    expect((await post(text, { url: '/arbitrary' })).status).toBe(200);
  });

  test('escaped and plain text of every plane is welcome', async () => {
    expect((await post('{"a":"\\ud83d\\ude00 😀 \\\\u0000"}')).status).toBe(200);
    expect(received.pop()).toEqual({ a: '😀 😀 \\u0000' });
  });
});

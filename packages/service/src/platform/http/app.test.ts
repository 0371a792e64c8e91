import { ErrorBodySchema } from '@tollgate/contract';
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DomainError } from '../../kernel/errors.js';
import { createLog } from '../log/index.js';
import { createMetrics, type Metrics } from '../metrics/index.js';
import { type App, createApp, Readiness } from './index.js';
import { PATH_PARAMETER_CHARS_MAX } from './routing.js';

let app: App;
let metrics: Metrics;
let readiness: Readiness;
let nowMs: number;
const logged: string[] = [];
const failedChecks: string[] = [];
const isErrorBody = new Ajv().compile(ErrorBodySchema);
const publicly = { config: { access: { kind: 'public' } }, schema: { hide: true } } as const;

beforeEach(async () => {
  logged.length = 0;
  failedChecks.length = 0;
  nowMs = 0;
  metrics = createMetrics();
  readiness = new Readiness({
    onFailure: (name, error) => failedChecks.push(`${name}: ${(error as Error).message}`),
    nowMs: () => nowMs,
  });
  app = await createApp({
    log: createLog({ level: 'warn', destination: { write: (line: string) => logged.push(line) } as never }),
    metrics,
    readiness,
    version: '1.2.3',
    checkResponses: true,
    authenticator: { authenticate: (token) => (token === 'service' ? { kind: 'service' } : undefined) },
    projects: { resolveProject: () => undefined },
  });
});
afterEach(() => app.close());

function failWith(error: Error): void {
  app.route({ ...publicly, method: 'GET', url: '/fail', handler: async () => Promise.reject(error) });
}

describe('errors', () => {
  test('of ours have their status, code, details and Retry-After', async () => {
    failWith(
      new DomainError('ingest_backlog_full', { retryAfterS: 7, details: [{ path: 'a', message: 'b' }] }),
    );
    const answer = await app.inject('/fail');
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('7');
    expect(answer.json()).toMatchObject({
      code: 'ingest_backlog_full',
      details: [{ path: 'a', message: 'b' }],
    });
    // A refusal under load matters to the client, not to the operator.
    expect(logged).toEqual([]);
  });

  test('that nobody foresaw leak nothing, and are logged with the request id', async () => {
    failWith(new Error('relation "secrets" does not exist'));
    const answer = await app.inject({ url: '/fail', headers: { 'x-request-id': 'abc-123' } });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).toBe('{"error":"Something went wrong on our side.","code":"internal_error"}');
    expect(logged.length).toBe(1);
    expect(logged[0]).toContain('abc-123');
    expect(logged[0]).toContain('relation');
  });

  test.each([
    Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
    new Error('timeout exceeded when trying to connect'),
  ])('503 with Retry-After while a store is away: %s', async (error) => {
    failWith(error);
    const answer = await app.inject('/fail');
    expect(answer.statusCode).toBe(503);
    expect(answer.json().code).toBe('store_unavailable');
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expect(answer.body).not.toContain('5432');
    expect(logged.length).toBe(1);
  });

  test('an answer that its schema does not describe is an error here, not a surprise there', async () => {
    app.route({
      ...publicly,
      method: 'GET',
      url: '/odd',
      schema: {
        hide: true,
        response: { 200: Type.Object({ a: Type.String() }, { additionalProperties: false }) },
      },
      handler: async () => ({ a: 'x', b: 1 }),
    });
    expect((await app.inject('/odd')).statusCode).toBe(500);
  });

  test.each<[string, string, number]>([
    ['GET', '/nowhere', 404],
    ['GET', '/healthz/', 404],
    ['POST', '/healthz', 405],
    ['DELETE', '/openapi.json', 405],
    ['GET', '/%zz', 400],
    ['GET', '/%c0%af', 400],
    ['GET', `/${'x'.repeat(5_000)}`, 404],
  ])('%s %s', async (method, url, status) => {
    const answer = await app.inject({ method: method as 'GET', url });
    expect(answer.statusCode).toBe(status);
    expect(isErrorBody(answer.json())).toBe(true);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    if (status === 405) expect(answer.headers.allow).toContain('GET');
  });

  test('an id that is longer than any of ours names nothing', async () => {
    app.route({ ...publicly, method: 'GET', url: '/things/:id', handler: async () => ({ found: true }) });
    const found = await app.inject(`/things/${'x'.repeat(PATH_PARAMETER_CHARS_MAX)}`);
    expect(found.statusCode).toBe(200);
    const answer = await app.inject(`/things/${'x'.repeat(PATH_PARAMETER_CHARS_MAX + 1)}`);
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found']);
  });

  test('OPTIONS returns the methods; HEAD responds like GET without a body', async () => {
    const options = await app.inject({ method: 'OPTIONS', url: '/healthz' });
    expect([options.statusCode, options.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const head = await app.inject({ method: 'HEAD', url: '/healthz' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });
});

describe('the request id', () => {
  test('is kept when it is plain, and replaced when it is not', async () => {
    const idFor = async (id: string) =>
      (await app.inject({ url: '/healthz', headers: { 'x-request-id': id } })).headers['x-request-id'];
    expect(await idFor('trace-1.2:3_4')).toBe('trace-1.2:3_4');
    for (const odd of ['', 'a b', 'x'.repeat(129), 'ü', '{"a":1}']) expect(await idFor(odd)).toMatch(/^req_/);
  });

  test('differs from request to request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => (await app.inject('/healthz')).headers['x-request-id']),
    );
    expect(new Set(ids).size).toBe(5);
  });
});

describe('operation', () => {
  test('/readyz follows its checks and says which failed, not why', async () => {
    let away = false;
    readiness.add('postgres', () => (away ? Promise.reject(new Error('secret reason')) : undefined));
    expect((await app.inject('/readyz')).json()).toEqual({ ready: true, checks: { postgres: 'ok' } });
    away = true;
    nowMs += 1_000;
    const answer = await app.inject('/readyz');
    expect([answer.statusCode, answer.headers['retry-after'], answer.json()]).toEqual([
      503,
      '1',
      { ready: false, checks: { postgres: 'failed' }, problems: { postgres: 'unavailable' } },
    ]);
    expect(failedChecks).toEqual(['postgres: secret reason']);
  });

  test('/readyz reports, but does not follow, what accepting does not need', async () => {
    readiness.add('clickhouse', () => Promise.reject(new Error('away')), { isNeeded: false });
    const answer = await app.inject('/readyz');
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { ready: true, checks: { clickhouse: 'failed' }, problems: { clickhouse: 'unavailable' } },
    ]);
  });

  test('/metrics counts requests by route pattern', async () => {
    app.route({ ...publicly, method: 'GET', url: '/things/:id', handler: async () => ({}) });
    await app.inject('/things/1');
    await app.inject('/things/2');
    await app.inject('/nowhere/3');
    const text = (await app.inject('/metrics')).body;
    expect(text).toContain('duration_seconds_count{method="GET",route="/things/:id",status="200"} 2');
    expect(text).toContain('duration_seconds_count{method="any",route="none",status="404"} 1');
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).toContain('process_resident_memory_bytes');
  });

  test('/docs loads nothing from elsewhere', async () => {
    const page = await app.inject('/docs');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    const urls = [...page.body.matchAll(/(?:src|href|data-url)="([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(urls.sort()).toEqual(['/docs/reference.js', '/openapi.json', '/openapi.json', 'data:,']);
    const script = await app.inject('/docs/reference.js');
    expect(script.headers['content-type']).toContain('javascript');
    expect(script.rawPayload.length).toBeGreaterThan(100_000);
  });

  test('/openapi.json describes the routes, their access and their errors', async () => {
    app.route({
      method: 'POST',
      url: '/v1/projects/:project_id/things',
      config: { access: { kind: 'project', permission: 'rules:write' } },
      schema: {
        tags: ['Things'],
        summary: 'Make a thing',
        description: 'Makes it.',
        operationId: 'makeThing',
        params: Type.Object({ project_id: Type.String() }),
        body: Type.Object({ name: Type.String() }),
        response: { 201: Type.Object({ id: Type.String() }) },
      },
      handler: async (_request, reply) => reply.code(201).send({ id: 'x' }),
    });
    await app.ready();
    const document = (await app.inject('/openapi.json')).json();
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
    const operation = document.paths['/v1/projects/{project_id}/things'].post;
    expect(operation).toMatchObject({
      operationId: 'makeThing',
      security: [{ apiKey: [] }],
      description: 'Makes it.\n\nNeeds `rules:write`.',
    });
    expect(Object.keys(operation.responses).sort()).toEqual([
      '201',
      '400',
      '401',
      '403',
      '404',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);
  });
});

describe('a route', () => {
  const handler = async () => ({});

  test('that declares no access is refused at start', () => {
    const open = { method: 'GET', url: '/open', schema: { hide: true }, handler } as const;
    expect(() => app.route(open)).toThrow('GET /open does not declare config.access');
    expect(() => app.get('/open', handler)).toThrow('does not declare config.access');
  });

  test('that does not document itself is refused at start', () => {
    const route = { method: 'GET', url: '/x', config: { access: { kind: 'public' } }, handler } as const;
    expect(() => app.route(route)).toThrow('GET /x has no schema.tags');
  });

  test('whose access needs an id that its path does not have is refused at start', () => {
    const access = { kind: 'project', permission: 'rules:read' } as const;
    const route = { method: 'GET', url: '/x', config: { access }, schema: { hide: true }, handler } as const;
    expect(() => app.route(route)).toThrow('no :project_id');
  });
});

test('requests for the metrics at the same time share one answer', async () => {
  let collected = 0;
  let release = () => {};
  const metricsText = () => {
    collected += 1;
    return new Promise<string>((resolve) => {
      release = () => resolve(`collected ${collected}`);
    });
  };
  const app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    authenticator: { authenticate: () => ({ kind: 'service' }) },
    projects: { resolveProject: () => undefined },
    metricsText,
  });
  const ask = async () => (await app.inject('/metrics')).body;
  const both = Promise.all([ask(), ask()]);
  await app.inject('/healthz');
  release();
  expect(await both).toEqual(['collected 1', 'collected 1']);
  const later = ask();
  await app.inject('/healthz');
  release();
  expect(await later).toBe('collected 2');
  await app.close();
});

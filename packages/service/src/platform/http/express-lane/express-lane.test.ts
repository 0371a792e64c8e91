import { afterEach, beforeEach, expect, test } from 'vitest';
import { DomainError } from '../../../kernel/errors.js';
import { postBytes, Wire } from '../../../testing/both-ways.js';
import { ExpressFixture } from '../../../testing/express-fixture.js';
import { KeyRates } from '../key-rates.js';

const { PATH, BODY_LIMIT, GOOD } = ExpressFixture;
const AUTHORIZATION = 'Bearer service';

let fixture: ExpressFixture;
beforeEach(async () => {
  fixture = await ExpressFixture.start();
});
afterEach(() => fixture.stop());

type Headers = Readonly<Record<string, string | undefined>>;
const post = (body: string | Buffer = GOOD, headers: Headers = {}, path = PATH): Buffer =>
  postBytes(path, { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers }, body);
const to = (path: string) => post(GOOD, {}, path);
const as = (headers: Headers) => post(GOOD, headers);

/** A request with hand-written headers. */
const raw = (line: string, ...headers: string[]): Buffer => {
  const fixed = [`Authorization: ${AUTHORIZATION}`, 'Content-Type: application/json'];
  return Buffer.from([line, ...fixed, ...headers, '', GOOD].join('\r\n'));
};

test.each<[string, Buffer, number]>([
  ['a plain request', post(), 202],
  ['JSON that says it is in UTF-8', as({ 'content-type': 'application/json; charset=UTF-8' }), 202],
  ['text of any kind', post('{"reading":"\\u0000\\ud800 ü 👩"}'), 202],
  ['__proto__, which is data', post('{"reading":{"__proto__":{"a":1}}}'), 202],
  ['a connection that is to be kept', as({ connection: 'Keep-Alive' }), 202],
  ['fields that do not matter', as({ 'user-agent': 'x (y; z)', accept: '*/*', via: '', cookie: 'a=b' }), 202],
  ['a body as large as may be', post(`{"reading":"${'x'.repeat(BODY_LIMIT - 14)}"}`), 202],
  ['an id as long as may be', to(PATH.replace('m-1', 'm'.repeat(512))), 202],
])('serves %s as Fastify does', async (_what, bytes, status) => {
  const { by, status: found } = await fixture.compare(bytes);
  expect([found, by]).toEqual([status, 'lane']);
});

test.each<[string, Buffer, number]>([
  ['a body that is too large', post(`{"reading":"${'x'.repeat(BODY_LIMIT - 13)}"}`), 413],
  [
    'chunks',
    post(`d\r\n${GOOD}\r\n0\r\n\r\n`, { 'content-length': undefined, 'transfer-encoding': 'chunked' }),
    202,
  ],
  ['a connection that is to be closed', as({ connection: 'close' }), 202],
  ['HTTP/1.0', raw(`POST ${PATH} HTTP/1.0`, 'Content-Length: 13'), 202],
  ['HTTP/1.0 kept alive', raw(`POST ${PATH} HTTP/1.0`, 'Connection: keep-alive', 'Content-Length: 13'), 202],
  ['no host', as({ host: undefined }), 400],
  ['two hosts', raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'Host: y', 'Content-Length: 13'), 400],
  [
    'two keys',
    raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'Authorization: Bearer service', 'Content-Length: 13'),
    400,
  ],
  [
    'two ids of the request',
    raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'X-Request-Id: a', 'X-Request-Id: b', 'Content-Length: 13'),
    202,
  ],
  ['a length that begins with 0', as({ 'content-length': '013' }), 202],
  [
    'a field of many lines',
    raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'Accept: a', ' b', 'Content-Length: 13'),
    400,
  ],
  [
    'a field with a blank before its colon',
    raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'Content-Length : 13'),
    400,
  ],
  [
    'a field that is not ASCII',
    raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'User-Agent: ü', 'Content-Length: 13'),
    202,
  ],
  ['a head that is long', as({ 'user-agent': 'x'.repeat(4_096) }), 202],
  ['a proxy that is to close', as({ 'proxy-connection': 'close' }), 202],
  ['a body that is announced to go on', as({ te: 'trailers', trailer: 'x' }), 202],
  ['JSON with a parameter of its own', as({ 'content-type': 'application/json; v=1' }), 202],
  ['a wish to upgrade', as({ connection: 'upgrade', upgrade: 'h2c' }), 202],
  ['a query', to(`${PATH}?a=1`), 202],
  ['an escape in an id', to(PATH.replace('m-1', 'm%2D1')), 202],
  ['a whole URL', to(`http://x${PATH}`), 202],
  ['another path', to(`${PATH}/`), 404],
  ['another method', raw(`PUT ${PATH} HTTP/1.1`, 'Host: x', 'Content-Length: 13'), 405],
  ['no key', as({ authorization: undefined }), 401],
  ['a wrong key', as({ authorization: 'Bearer x' }), 401],
  ['a project that is not there', to(PATH.replace('prj_1', 'prj_2')), 404],
  ['no type', as({ 'content-type': undefined }), 415],
  ['another type', as({ 'content-type': 'text/plain' }), 415],
  ['another encoding', as({ 'content-type': 'application/json; charset=latin1' }), 415],
  ['a compressed body', as({ 'content-encoding': 'gzip' }), 415],
  ['a body that says it is not compressed', as({ 'content-encoding': 'identity' }), 202],
  ['no body', post(''), 400],
  ['no length', post('', { 'content-length': undefined }), 400],
  ['what is not UTF-8', post(Buffer.from([0x22, 0xff, 0x22])), 400],
  ['broken JSON', post('{"reading":1,}'), 400],
  ['deep JSON', post(`${'['.repeat(500)}${']'.repeat(500)}`), 400],
  ['a field that is not known', post('{"reading":1,"speed":"ü"}'), 400],
  ['null', post('null'), 400],
])('leaves %s to Fastify', async (_what, bytes, status) => {
  const { by, status: found } = await fixture.compare(bytes);
  expect([found, by]).toEqual([status, 'fastify']);
});

test.each<[string, Buffer, number]>([
  ['a length that is no number', raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'Content-Length: 1x'), 400],
  ['two lengths', raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'Content-Length: 13', 'Content-Length: 14'), 400],
  [
    'a length and chunks',
    raw(`POST ${PATH} HTTP/1.1`, 'Host: x', 'Content-Length: 13', 'Transfer-Encoding: chunked'),
    400,
  ],
  ['an expectation that nobody meets', as({ expect: 'wonders' }), 417],
  ['an id that is too long', to(PATH.replace('m-1', 'm'.repeat(513))), 404],
])('never serves %s', async (_what, bytes, status) => {
  expect((await fixture.compare(bytes)).status).toBe(status);
  expect(fixture.answered).toEqual([]);
});

test('a client that waits for 100 Continue gets it, and is served by Fastify', async () => {
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(as({ expect: '100-continue' }));
  expect((await wire.answer())?.status).toBe(100);
  expect((await wire.answer())?.status).toBe(202);
  expect(fixture.seenByFastify).toBe(1);
  wire.socket.destroy();
});

test.each<[string, () => unknown, number]>([
  [
    'a refusal with details',
    () => new DomainError('invalid_request', { details: [{ path: 'ü', message: 'no' }] }),
    400,
  ],
  ['a refusal to wait for', () => new DomainError('ingest_backlog_full', { retryAfterS: 5 }), 503],
  ['an outage', () => new DomainError('store_unavailable', { cause: new Error('away') }), 503],
  ['what a database throws', () => Object.assign(new Error('away'), { code: 'ECONNREFUSED' }), 503],
  ['a database that hangs up', () => Object.assign(new Error('away'), { code: 'ECONNRESET' }), 503],
  ['a defect', () => new Error('secret'), 500],
  ['a defect that throws nothing', () => undefined, 500],
])('answers %s of the operation itself, and does not call it again', async (_what, error, status) => {
  fixture.answer = () => Promise.reject(error());
  expect(await fixture.compare(post())).toMatchObject({ status, by: 'lane' });
  expect(fixture.answered).toHaveLength(2);
  fixture.answer = () => {
    throw error();
  };
  expect(await fixture.compare(post())).toMatchObject({ status, by: 'lane' });
  expect(fixture.answered).toHaveLength(4);
});

test('a request that is refused regardless of its body is not parsed, and the connection continues', async () => {
  fixture.precheck = () => {
    throw new DomainError('ingest_backlog_full', { retryAfterS: 5 });
  };
  const wire = await Wire.open(fixture.ways.express);
  for (const body of [GOOD, '{"reading":', `{"reading":"${'x'.repeat(BODY_LIMIT - 14)}"}`]) {
    expect(await fixture.compare(post(body))).toMatchObject({ status: 503, by: 'lane' });
    await wire.write(post(body));
    expect((await wire.answer())?.head).toMatch(/^retry-after: 5\r$/im);
  }
  fixture.precheck = () => {};
  await wire.write(post());
  expect((await wire.answer())?.status).toBe(202);
  expect(fixture.answered).toHaveLength(1);
  wire.socket.destroy();
});

test('a key that must be looked up is waited for', async () => {
  fixture.authenticate = async () => ({ kind: 'service' });
  expect(await fixture.compare(post())).toMatchObject({ status: 202, by: 'lane' });
});

test('a key that is not found is refused by Fastify, and so is one that cannot be looked up', async () => {
  fixture.authenticate = () => Promise.resolve(undefined);
  expect(await fixture.compare(post())).toMatchObject({ status: 401, by: 'fastify' });
  fixture.authenticate = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
  expect(await fixture.compare(post())).toMatchObject({ status: 503, by: 'fastify' });
  fixture.authenticate = () => {
    throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
  };
  expect(await fixture.compare(post())).toMatchObject({ status: 503, by: 'fastify' });
});

test('a key that sends too many requests is refused by Fastify, however its requests were served', async () => {
  const limited = await ExpressFixture.start({ keyRates: new KeyRates(3, () => 0) });
  try {
    const permissions = ['usage:ingest'] as const;
    limited.authenticate = () => ({
      kind: 'key',
      keyId: 'key_1',
      tenantId: 'ten_1',
      projectId: undefined,
      permissions,
    });
    // Each comparison sends two requests. One that is not found is not counted.
    const absent = as({}).toString().replace('prj_1', 'prj_2');
    expect(await limited.compare(Buffer.from(absent))).toMatchObject({ status: 404 });
    expect(await limited.compare(post())).toMatchObject({ status: 202, by: 'lane' });
    expect((await Wire.exchange(limited.ways.express, post())).status).toBe(202);
    const refused = await limited.compare(post());
    expect(refused).toMatchObject({ status: 429, by: 'fastify' });
    expect(JSON.parse(refused.body).code).toBe('key_rate_exceeded');
    expect(refused.head).toMatch(/^retry-after: 1\r$/im);
    expect(limited.answered).toHaveLength(3);
  } finally {
    await limited.stop();
  }
});

test('in shutdown everything is left to Fastify', async () => {
  fixture.readiness.beginShutdown();
  const refused = await fixture.compare(post());
  expect(refused).toMatchObject({ status: 503, by: 'fastify' });
  expect(refused.head).toMatch(/^connection: close\r$/im);
});

test('an answer may be larger than a packet, and hold any text', async () => {
  const body = JSON.stringify('ü'.repeat(300_000));
  fixture.answer = async () => body;
  expect(await fixture.compare(post())).toMatchObject({ by: 'lane', body });
});

test('requests are counted by route and status, over the lane and over Fastify', async () => {
  for (const body of [GOOD, GOOD, '{']) await fixture.compare(post(body));
  const route = '/v1/projects/:project_id/meters/:id/readings';
  const count = (status: number) => `_count{method="POST",route="${route}",status="${status}"}`;
  const text = await fixture.metrics.metrics();
  expect(text).toContain(`${count(202)} 4\n`);
  expect(text).toContain(`${count(400)} 2\n`);
});

test('a plain request id is kept, and every other request gets one of its own', async () => {
  const idOf = async (id?: string) =>
    (await Wire.exchange(fixture.ways.express, as({ 'x-request-id': id }))).requestId;
  expect(await idOf('trace-1')).toBe('trace-1');
  const ids = [await idOf(), await idOf('{"forged"}')];
  for (const id of ids) expect(id).toMatch(/^req_/);
  expect(ids[0]).not.toBe(ids[1]);
  expect(fixture.seenByFastify).toBe(0);
});

test('is not entered when it is switched off, and the same requests get the same responses', async () => {
  const off = await ExpressFixture.start({ expressLane: false });
  try {
    for (const bytes of [post(), post('{"reading":'), to(PATH.replace('m-1', 'm-2'))]) {
      const { by, ...answer } = await off.compare(bytes);
      const { by: _by, ...usual } = await fixture.compare(bytes);
      expect([by, answer.status, answer.body]).toEqual(['fastify', usual.status, usual.body]);
    }
  } finally {
    await off.stop();
  }
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { postBytes, Wire } from '../../../testing/both-ways.js';
import { ExpressFixture } from '../../../testing/express-fixture.js';

const { PATH, READ_PATH, GOOD } = ExpressFixture;
const AUTHORIZATION = 'Bearer service';

let fixture: ExpressFixture;
beforeEach(async () => {
  fixture = await ExpressFixture.start();
});
afterEach(() => fixture.stop());

/** A GET with hand-written headers. */
const get = (target: string, ...headers: string[]): Buffer =>
  Buffer.from(
    [`GET ${target} HTTP/1.1`, 'Host: x', `Authorization: ${AUTHORIZATION}`, ...headers, '', ''].join('\r\n'),
  );

test.each<[string, Buffer]>([
  ['a query', get(`${READ_PATH}?unit=kwh`)],
  ['a number', get(`${READ_PATH}?unit=kwh&at=17`)],
  ['escapes', get(`${READ_PATH}?unit=%C3%BC+%26%zz%`)],
  ['fields that do not matter', get(`${READ_PATH}?unit=kwh`, 'Accept: */*', 'User-Agent: x')],
])('serves a GET with %s as Fastify does', async (_what, bytes) => {
  const { by, status: found } = await fixture.compare(bytes);
  expect([found, by]).toEqual([200, 'lane']);
});

test.each<[string, Buffer, number]>([
  ['without a query that must be there', get(READ_PATH), 400],
  ['with an empty query', get(`${READ_PATH}?`), 400],
  ['with a parameter twice', get(`${READ_PATH}?unit=a&unit=b`), 400],
  ['with an unknown parameter', get(`${READ_PATH}?unit=a&__proto__=b`), 400],
  ['with a number that is none', get(`${READ_PATH}?unit=a&at=1e3`), 400],
  ['with NUL', get(`${READ_PATH}?unit=%00`), 400],
  ['with characters that need escapes', get(`${READ_PATH}?unit=a"b`), 200],
  ['that closes the connection', get(`${READ_PATH}?unit=a`, 'Connection: close'), 200],
  ['with a body', Buffer.concat([get(`${READ_PATH}?unit=a`, 'Content-Length: 2'), Buffer.from('{}')]), 200],
  ['of the path of a POST', get(`${PATH}?unit=a`), 405],
  ['of a project that is not there', get(`${READ_PATH.replace('prj_1', 'prj_2')}?unit=a`), 404],
])('leaves a GET %s to Fastify', async (_what, bytes, status) => {
  const { by, status: found } = await fixture.compare(bytes);
  expect([found, by]).toEqual([status, 'fastify']);
});

test('serves GETs and POSTs in turn on one connection', async () => {
  const wire = await Wire.open(fixture.ways.express);
  for (const [bytes, status] of [
    [get(`${READ_PATH}?unit=a`), 200],
    [postBytes(PATH, { authorization: AUTHORIZATION, 'content-type': 'application/json' }, GOOD), 202],
    [get(`${READ_PATH}?unit=b`), 200],
    [get(`${READ_PATH}?unit=b`), 200],
  ] as const) {
    await wire.write(bytes);
    expect(await wire.answer()).toMatchObject({ status });
  }
  wire.socket.destroy();
  expect(fixture.answered.map(({ input }) => input)).toEqual([
    { unit: 'a' },
    JSON.parse(GOOD),
    { unit: 'b' },
    { unit: 'b' },
  ]);
  expect(fixture.seenByFastify).toBe(0);
});

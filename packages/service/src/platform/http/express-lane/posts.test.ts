import { afterEach, beforeEach, expect, test } from 'vitest';
import { postBytes, Wire } from '../../../testing/both-ways.js';
import { ExpressFixture } from '../../../testing/express-fixture.js';

const { PATH, SEAL_PATH, RESET_PATH, GOOD } = ExpressFixture;

let fixture: ExpressFixture;
beforeEach(async () => {
  fixture = await ExpressFixture.start();
});
afterEach(() => fixture.stop());

type Headers = Readonly<Record<string, string | undefined>>;
const seal = (headers: Headers = {}): Buffer => fixture.post(GOOD, headers, SEAL_PATH);
const reset = (headers: Headers = {}, body = '', path = RESET_PATH): Buffer =>
  postBytes(path, { authorization: 'Bearer service', ...headers }, body);

test.each<[string, () => Buffer, number, string | undefined]>([
  ['that creates something', () => seal(), 201, undefined],
  ['with a key', () => seal({ 'idempotency-key': 'one, two' }), 201, 'one, two'],
  ['without a body', () => reset(), 200, undefined],
  [
    'without a body and with a key that its route does not take',
    () => reset({ 'idempotency-key': 'a' }),
    200,
    undefined,
  ],
  [
    'with a key that its route does not take',
    () => fixture.post(GOOD, { 'idempotency-key': 'a' }),
    202,
    undefined,
  ],
])('serves a POST %s as Fastify does', async (_what, bytes, status, key) => {
  const { by, status: found } = await fixture.compare(bytes());
  expect([found, by]).toEqual([status, 'lane']);
  expect(fixture.answered.map(({ idempotencyKey }) => idempotencyKey)).toEqual([key, key]);
});

test.each<[string, () => Buffer, number]>([
  ['with an empty key', () => seal({ 'idempotency-key': '' }), 400],
  ['with a long key', () => seal({ 'idempotency-key': 'k'.repeat(1_000) }), 400],
  ['without the body that its route needs', () => reset({}, '', SEAL_PATH), 400],
  ['with an empty body in JSON', () => reset({ 'content-type': 'application/json' }), 200],
  ['with a body that nobody expects', () => reset({ 'content-type': 'application/json' }, GOOD), 400],
  ['without a body and a length', () => reset({ 'content-length': undefined }), 200],
  ['with a body of no type', () => reset({}, '{}', PATH), 415],
])('leaves a POST %s to Fastify', async (_what, bytes, status) => {
  const { by, status: found } = await fixture.compare(bytes());
  expect([found, by]).toEqual([status, 'fastify']);
});

test('serves POSTs with and without a body in turn on one connection', async () => {
  const wire = await Wire.open(fixture.ways.express);
  for (const [bytes, status] of [
    [reset(), 200],
    [seal(), 201],
    [reset(), 200],
    [reset(), 200],
    [fixture.post(), 202],
  ] as const) {
    await wire.write(bytes);
    expect(await wire.answer()).toMatchObject({ status });
  }
  wire.socket.destroy();
  expect(fixture.seenByFastify).toBe(0);
});

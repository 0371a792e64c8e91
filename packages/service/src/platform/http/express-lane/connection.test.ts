import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Wire } from '../../../testing/both-ways.js';
import { ExpressFixture } from '../../../testing/express-fixture.js';
import { waitFor } from '../../../testing/index.js';

const { BODY_LIMIT, BODIES_BYTES_MAX } = ExpressFixture;
const LARGEST = `{"reading":"${'x'.repeat(BODY_LIMIT - 14)}"}`;

let fixture: ExpressFixture;
beforeEach(async () => {
  fixture = await ExpressFixture.start();
});
afterEach(() => fixture.stop());

/** A request without its last byte. */
const incomplete = () => fixture.post(LARGEST).subarray(0, -1);

function connections(): Promise<number> {
  return new Promise((resolve) => fixture.app.server.getConnections((_error, count) => resolve(count)));
}

/** Returns the statuses of all responses until the connection is closed. */
async function statusesOf(wire: Wire): Promise<number[]> {
  const statuses: number[] = [];
  for (let next = await wire.answer(); next !== undefined; next = await wire.answer())
    statuses.push(next.status);
  return statuses;
}

async function hangUp(wire: Wire): Promise<void> {
  wire.socket.end();
  await wire.closed();
}

test.each([
  ['{"reading":"ü"}', 202],
  ['{"reading":"ü}', 400],
])('a request in many packets is one request: %s', async (body, status) => {
  const connection = fixture.nextConnection();
  const wire = await Wire.open(fixture.ways.express);
  const bytes = fixture.post(body);
  for (let at = 0; at < bytes.length; at += 1) {
    await wire.write(bytes.subarray(at, at + 1));
    await waitFor(() => connection()?.bytesRead === at + 1);
  }
  expect((await wire.answer())?.status).toBe(status);
  expect(fixture.answered.map(({ rawBody }) => rawBody.toString())).toEqual(status === 202 ? [body] : []);
  wire.socket.destroy();
});

test('requests that are sent ahead get their responses in order, from the lane or from Node', async () => {
  const release = fixture.holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  const requests = [fixture.post(), fixture.post('{'), fixture.post(), fixture.post()];
  await wire.write(Buffer.concat(requests));
  await waitFor(() => fixture.answered.length === 1);
  release();
  const statuses: (number | undefined)[] = [];
  for (const _ of requests) statuses.push((await wire.answer())?.status);
  expect(statuses).toEqual([202, 400, 202, 202]);
  wire.socket.destroy();
});

test('a small request is served before large ones that arrived at the same time', async () => {
  const wires: Wire[] = [];
  const bytes = fixture.post(LARGEST);
  for (let index = 0; index < 2; index += 1) {
    const connection = fixture.nextConnection();
    const wire = await Wire.open(fixture.ways.express);
    await wire.write(bytes.subarray(0, -1));
    await waitFor(() => connection()?.bytesRead === bytes.length - 1);
    wires.push(wire);
  }
  const small = await Wire.open(fixture.ways.express);
  for (const wire of wires) wire.socket.write(bytes.subarray(-1));
  small.socket.write(fixture.post());
  for (const wire of [small, ...wires]) expect((await wire.answer())?.status).toBe(202);
  const lengths = fixture.answered.map(({ rawBody }) => rawBody.length);
  expect(lengths.slice(1)).toEqual([LARGEST.length, LARGEST.length]);
  for (const wire of [small, ...wires]) wire.socket.destroy();
});

test('a connection goes on after a request that was handed back and refused unread', async () => {
  let looks = 0;
  // The key is revoked between the two checks of the request.
  fixture.authenticate = () => {
    looks += 1;
    return looks === 2 ? undefined : { kind: 'service' };
  };
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post(LARGEST.replace('}', ']')));
  expect((await wire.answer())?.status).toBe(401);
  await wire.write(fixture.post());
  expect((await wire.answer())?.status).toBe(202);
  wire.socket.destroy();
});

test.each<[string, (wire: Wire) => unknown]>([
  ['ends', hangUp],
  ['breaks off', ({ socket }) => socket.resetAndDestroy()],
])(
  'a client that %s within a body gives back its share, and nothing is done for it',
  async (_how, goAway) => {
    for (let sent = 0; sent < 2 * BODIES_BYTES_MAX; sent += BODY_LIMIT) {
      const wire = await Wire.open(fixture.ways.express);
      await wire.write(incomplete());
      await goAway(wire);
    }
    await waitFor(async () => (await connections()) === 0);
    expect(await fixture.compare(fixture.post(LARGEST))).toMatchObject({ status: 202, by: 'lane' });
    expect(fixture.answered).toHaveLength(2);
  },
);

test('bodies without room for both are refused by Fastify, and later ones find room', async () => {
  const holders = [await Wire.open(fixture.ways.express), await Wire.open(fixture.ways.fastify)];
  for (const wire of holders) await wire.write(incomplete());
  await waitFor(async () => {
    const { status } = await Wire.exchange(fixture.ways.express, fixture.post(LARGEST));
    return status === 503;
  });
  const refused = await fixture.compare(fixture.post(LARGEST));
  expect([refused.by, JSON.parse(refused.body).code]).toEqual(['fastify', 'server_busy']);
  for (const wire of holders) await hangUp(wire);
  expect(await fixture.compare(fixture.post(LARGEST))).toMatchObject({ status: 202, by: 'lane' });
});

test('bodies of one tenant leave room for those of others', async () => {
  const bytes = fixture.post(`{"reading":"${'x'.repeat(18_500)}"}`).subarray(0, -1);
  const slow: Wire[] = [];
  for (let index = 0; index < 3; index += 1) {
    const connection = fixture.nextConnection();
    const wire = await Wire.open(fixture.ways.express);
    await wire.write(bytes);
    await waitFor(() => connection()?.bytesRead === bytes.length);
    slow.push(wire);
  }
  expect((await slow[2]?.answer())?.status).toBe(503);
  const ofOther = fixture.post(`{"reading":"${'x'.repeat(4_000)}"}`, {}, ExpressFixture.OTHER_PATH);
  expect(await fixture.compare(ofOther)).toMatchObject({ status: 202, by: 'lane' });
  for (const { socket } of slow) socket.destroy();
});

test('a client that goes away before its answer harms nobody', async () => {
  const release = fixture.holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post(LARGEST));
  await waitFor(() => fixture.answered.length === 1);
  wire.socket.destroy();
  release();
  for (let sent = 0; sent < BODIES_BYTES_MAX; sent += BODY_LIMIT) {
    expect((await fixture.compare(fixture.post(LARGEST))).status).toBe(202);
  }
});

test.each([
  ['half a request', 1, 400],
  ['a whole request', 0, 202],
])('a client that ends after %s, while its key is looked up, is answered', async (_what, missing, status) => {
  const lookUp = fixture.holdLookUp();
  const connection = fixture.nextConnection();
  const wire = await Wire.open(fixture.ways.express);
  const bytes = fixture.post();
  wire.socket.end(bytes.subarray(0, bytes.length - missing));
  await waitFor(() => lookUp.isAsked && connection()?.readableEnded === true);
  lookUp.release();
  expect((await wire.answer())?.status).toBe(status);
  await wire.closed();
});

test('a client that ends while its answer is awaited gets it', async () => {
  const release = fixture.holdAnswer();
  const connection = fixture.nextConnection();
  const wire = await Wire.open(fixture.ways.express);
  wire.socket.end(fixture.post());
  await waitFor(() => fixture.answered.length === 1 && connection()?.readableEnded === true);
  release();
  expect((await wire.answer())?.status).toBe(202);
  await wire.closed();
});

test('what is sent ahead is read no further than its first piece', async () => {
  const release = fixture.holdAnswer();
  const connection = fixture.nextConnection();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  await waitFor(() => fixture.answered.length === 1);
  await wire.write('x');
  await waitFor(() => connection()?.isPaused() === true);
  release();
  expect((await wire.answer())?.status).toBe(202);
  expect((await wire.answer())?.status).toBe(400);
});

describe.each(['express', 'fastify'] as const)('bytes that are no HTTP (%s)', (way) => {
  test.each<[string, () => Buffer[], number[]]>([
    ['behind two requests', () => [fixture.post(), fixture.post()], [202, 202, 400]],
    ['behind the last request', () => [fixture.post(undefined, { connection: 'close' })], [202]],
  ])('are not refused before earlier responses: %s', async (_what, requests, statuses) => {
    const release = fixture.holdAnswer();
    const wire = await Wire.open(fixture.ways[way]);
    await wire.write(Buffer.concat([...requests(), Buffer.from('x')]));
    await waitFor(() => fixture.answered.length === 1);
    await wire.write('more of it');
    release();
    expect(await statusesOf(wire)).toEqual(statuses);
  });

  test('are refused behind the answer when a body is longer than announced', async () => {
    const wire = await Wire.open(fixture.ways[way]);
    await wire.write(fixture.post(undefined, { 'content-type': undefined, 'content-length': '12' }));
    expect(await statusesOf(wire)).toEqual([415, 400]);
  });
});

test('a client that does not read its responses is left to Node', async () => {
  const connection = fixture.nextConnection();
  const wire = await Wire.open(fixture.ways.express);
  wire.socket.pause();
  fixture.answer = async () => JSON.stringify('x'.repeat(10_000_000));
  await wire.write(fixture.post());
  await waitFor(() => connection()?.timeout === 0);
  wire.socket.destroy();
});

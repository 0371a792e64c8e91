import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Wire } from '../../testing/both-ways.js';
import { ExpressFixture } from '../../testing/express-fixture.js';
import { waitFor } from '../../testing/index.js';
import { closeGracefully } from './index.js';

const { BODY_LIMIT, BODIES_BYTES_MAX } = ExpressFixture;
const LARGEST = `{"reading":"${'x'.repeat(BODY_LIMIT - 14)}"}`;

let fixture: ExpressFixture;
beforeEach(async () => {
  fixture = await ExpressFixture.start();
});
afterEach(() => fixture.stop());

/** A request whose last byte is missing. */
const incomplete = () => fixture.post(LARGEST).subarray(0, -1);

/** Holds the operation back until the returned function is called. */
function holdAnswer(): () => void {
  let release = () => {};
  const held = new Promise<string>((resolve) => {
    release = () => resolve('{"held":true}');
  });
  fixture.answer = () => held;
  return () => release();
}

/** The server's side of the connection that is opened next. */
function nextConnection(): () => Socket | undefined {
  let connection: Socket | undefined;
  fixture.app.server.once('connection', (socket) => {
    connection = socket;
  });
  return () => connection;
}

function connections(): Promise<number> {
  return new Promise((resolve) => fixture.app.server.getConnections((_error, count) => resolve(count)));
}

async function hangUp(wire: Wire): Promise<void> {
  wire.socket.end();
  await wire.closed();
}

test.each([
  ['{"reading":"ü"}', 202],
  ['{"reading":"ü}', 400],
])('a request in many packets is one request: %s', async (body, status) => {
  const connection = nextConnection();
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

test('requests that are sent ahead are answered in their order, whoever answers them', async () => {
  const release = holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  const requests = [fixture.post(), fixture.post('{'), fixture.post(), fixture.post()];
  await wire.write(Buffer.concat(requests));
  await waitFor(() => fixture.answered.length === 3);
  release();
  const statuses: (number | undefined)[] = [];
  for (const _ of requests) statuses.push((await wire.answer())?.status);
  expect(statuses).toEqual([202, 400, 202, 202]);
  wire.socket.destroy();
});

test('a connection goes on after a request that was handed back and refused unread', async () => {
  let looks = 0;
  // The key is revoked between the two looks at the request.
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

test('bodies that have no room beside each other are refused by Fastify, and later ones find room', async () => {
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

test('a client that goes away before its answer harms nobody', async () => {
  const release = holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post(LARGEST));
  await waitFor(() => fixture.answered.length === 1);
  wire.socket.destroy();
  release();
  for (let sent = 0; sent < BODIES_BYTES_MAX; sent += BODY_LIMIT) {
    expect((await fixture.compare(fixture.post(LARGEST))).status).toBe(202);
  }
});

test('what was let in before a shutdown is answered, and the connection then closed', async () => {
  const release = holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  await waitFor(() => fixture.answered.length === 1);
  fixture.readiness.beginShutdown();
  const closed = fixture.app.close();
  release();
  expect((await wire.answer())?.status).toBe(202);
  await closed;
  await wire.closed();
});

test('at a shutdown, connections that wait for their next request are closed', async () => {
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  expect((await wire.answer())?.status).toBe(202);
  await fixture.app.close();
  await wire.closed();
  expect(fixture.seenByFastify).toBe(0);
});

test('at a shutdown, what has come in part is left to Fastify, which refuses it', async () => {
  const connection = nextConnection();
  const wire = await Wire.open(fixture.ways.express);
  const bytes = fixture.post();
  await wire.write(bytes.subarray(0, -1));
  await waitFor(() => connection()?.bytesRead === bytes.length - 1);
  fixture.readiness.beginShutdown();
  const closed = fixture.app.close();
  await wire.write(bytes.subarray(-1));
  expect((await wire.answer())?.status).toBe(503);
  await closed;
});

test('what does not end is cut at the end of a shutdown', async () => {
  holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  await waitFor(() => fixture.answered.length === 1);
  await closeGracefully(fixture.app, 20);
  expect(await wire.answer()).toBeUndefined();
});

describe('deadlines', () => {
  test.each([
    ['nothing', 0],
    ['a part of the head', 30],
    ['a part of the body', -1],
  ])('a client that is silent after %s is left to Node', async (_what, end) => {
    const hasty = await ExpressFixture.start({ patienceMs: 20 });
    try {
      const taken = once(hasty.app.server, 'connection');
      const wire = await Wire.open(hasty.ways.express);
      const [connection] = (await taken) as [Socket];
      const bytes = hasty.post();
      const sent = bytes.subarray(0, end);
      await wire.write(sent);
      await waitFor(() => connection.timeout === 0);
      expect(connection.bytesRead).toBe(sent.length);
      await wire.write(bytes.subarray(sent.length));
      expect((await wire.answer())?.status).toBe(202);
      expect(hasty.seenByFastify).toBe(1);
      wire.socket.destroy();
    } finally {
      await hasty.stop();
    }
  });

  test('a client that sends bit by bit is left to Node too', async () => {
    const hasty = await ExpressFixture.start({ patienceMs: 50 });
    try {
      const taken = once(hasty.app.server, 'connection');
      const wire = await Wire.open(hasty.ways.express);
      const [connection] = (await taken) as [Socket];
      const bytes = hasty.post(`{"reading":"${'x'.repeat(ExpressFixture.BODY_LIMIT - 14)}"}`);
      let sent = 0;
      await waitFor(async () => {
        await wire.write(bytes.subarray(sent, sent + 1));
        sent += 1;
        await waitFor(() => connection.bytesRead === sent);
        return connection.timeout === 0;
      });
      expect(sent).toBeLessThan(bytes.length);
      await wire.write(bytes.subarray(sent));
      expect((await wire.answer())?.status).toBe(202);
      expect(hasty.seenByFastify).toBe(1);
      wire.socket.destroy();
    } finally {
      await hasty.stop();
    }
  });

  test('a connection that is idle for long is closed, but not while it awaits an answer', async () => {
    const hasty = await ExpressFixture.start({ keepAliveMs: 20 });
    try {
      const idle = await Wire.open(hasty.ways.express);
      let release = () => {};
      hasty.answer = () =>
        new Promise((resolve) => {
          release = () => resolve('{}');
        });
      const waiting = await Wire.open(hasty.ways.express);
      await waiting.write(hasty.post());
      await waitFor(() => hasty.answered.length === 1);
      hasty.answer = async () => '{}';
      await idle.write(hasty.post());
      expect((await idle.answer())?.status).toBe(202);
      await idle.closed();
      release();
      expect((await waiting.answer())?.status).toBe(202);
      await waiting.closed();
    } finally {
      await hasty.stop();
    }
  });
});

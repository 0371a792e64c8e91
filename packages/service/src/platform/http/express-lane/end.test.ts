import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Wire } from '../../../testing/both-ways.js';
import { ExpressFixture } from '../../../testing/express-fixture.js';
import { waitFor } from '../../../testing/index.js';
import { closeGracefully } from '../index.js';

let fixture: ExpressFixture;
beforeEach(async () => {
  fixture = await ExpressFixture.start();
});
afterEach(() => fixture.stop());

/** Opens a connection to a fixture with other deadlines, seen from both sides. */
async function openWith(deadlines: Parameters<typeof ExpressFixture.start>[0]) {
  await fixture.stop();
  fixture = await ExpressFixture.start(deadlines);
  const taken = once(fixture.app.server, 'connection');
  const wire = await Wire.open(fixture.ways.express);
  const [connection] = (await taken) as [Socket];
  return { wire, connection };
}

test('a request admitted before a shutdown gets its response, and the connection is then closed', async () => {
  const release = fixture.holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  await waitFor(() => fixture.answered.length === 1);
  fixture.readiness.beginShutdown();
  const closed = fixture.app.close();
  await waitFor(() => !fixture.app.server.listening);
  release();
  const answer = await wire.answer();
  expect(answer?.status).toBe(202);
  expect(answer?.head).toMatch(/^connection: close\r$/im);
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

test('an idle connection that ends at a shutdown is not reset by a request on its way', async () => {
  const connection = fixture.nextConnection();
  const wire = await Wire.open(fixture.ways.express, { allowHalfOpen: true });
  const bytes = fixture.post();
  await wire.write(bytes);
  expect((await wire.answer())?.status).toBe(202);
  const ended = once(wire.socket, 'end');
  const closed = fixture.app.close();
  await ended;
  await wire.write(bytes);
  await waitFor(() => connection()?.bytesRead === 2 * bytes.length);
  wire.socket.end();
  await closed;
  await wire.closed();
  expect([wire.error, fixture.answered.length, fixture.seenByFastify]).toEqual([undefined, 1, 0]);
});

test('during a drain, a connection serves its next request and then ends', async () => {
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  expect((await wire.answer())?.head).toMatch(/^connection: keep-alive\r$/im);
  fixture.readiness.beginDrain();
  await wire.write(fixture.post());
  const last = await wire.answer();
  expect([last?.status, last?.head]).toEqual([202, expect.stringMatching(/^connection: close\r$/im)]);
  await wire.closed();
  expect([wire.error, fixture.answered.length, fixture.seenByFastify]).toEqual([undefined, 2, 0]);
});

test('during a drain, requests that were sent ahead do not reset the connection', async () => {
  const release = fixture.holdAnswer();
  const connection = fixture.nextConnection();
  const wire = await Wire.open(fixture.ways.express, { allowHalfOpen: true });
  const bytes = fixture.post();
  await wire.write(bytes);
  await waitFor(() => fixture.answered.length === 1);
  fixture.readiness.beginDrain();
  await wire.write(Buffer.concat([bytes, bytes]));
  await waitFor(() => connection()?.bytesRead === 3 * bytes.length);
  const ended = once(wire.socket, 'end');
  release();
  expect((await wire.answer())?.head).toMatch(/^connection: close\r$/im);
  await ended;
  wire.socket.end();
  await wire.closed();
  expect([wire.error, fixture.answered.length]).toEqual([undefined, 1]);
});

test('at a shutdown, what has come in part is left to Fastify, which refuses it', async () => {
  const connection = fixture.nextConnection();
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
  fixture.holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  await waitFor(() => fixture.answered.length === 1);
  await closeGracefully(fixture.app, 20);
  expect(await wire.answer()).toBeUndefined();
});

test('at a shutdown, what was sent ahead is not served', async () => {
  const release = fixture.holdAnswer();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  await waitFor(() => fixture.answered.length === 1);
  await wire.write(fixture.post().subarray(0, 50));
  const closed = fixture.app.close();
  await waitFor(() => !fixture.app.server.listening);
  release();
  expect((await wire.answer())?.status).toBe(202);
  await wire.closed();
  await closed;
  expect(fixture.seenByFastify).toBe(0);
});

test('a shutdown during a look-up is reported by Fastify', async () => {
  const lookUp = fixture.holdLookUp();
  const wire = await Wire.open(fixture.ways.express);
  await wire.write(fixture.post());
  await waitFor(() => lookUp.isAsked);
  fixture.readiness.beginShutdown();
  lookUp.release();
  expect((await wire.answer())?.status).toBe(503);
  expect(fixture.answered).toEqual([]);
});

describe('deadlines', () => {
  test.each([
    ['no HTTP', '\x16\x03\x01'],
    ['another method', 'PUT / HTTP/1.1\r\n'],
    ['lines that end otherwise', `POST / HTTP/1.1\n`],
    ['an empty line', '\r\n'],
  ])('%s is left to Node at once', async (_what, text) => {
    const { wire, connection } = await openWith({ patienceMs: 60_000 });
    await wire.write(Buffer.from(text, 'latin1'));
    await waitFor(() => connection.timeout === 0);
    wire.socket.destroy();
  });

  test('a connection outlives what was announced by a second, as with Node', async () => {
    const connection = fixture.nextConnection();
    const wire = await Wire.open(fixture.ways.express);
    await wire.write(fixture.post());
    await wire.answer();
    expect(connection()?.timeout).toBe(fixture.app.server.keepAliveTimeout + 1_000);
    wire.socket.destroy();
  });

  test.each([
    ['nothing', 0],
    ['a part of the head', 30],
    ['a part of the body', -1],
  ])('a client that is silent after %s is left to Node', async (_what, end) => {
    const { wire, connection } = await openWith({ patienceMs: 20 });
    const bytes = fixture.post();
    const sent = bytes.subarray(0, end);
    await wire.write(sent);
    await waitFor(() => connection.timeout === 0);
    expect(connection.bytesRead).toBe(sent.length);
    await wire.write(bytes.subarray(sent.length));
    expect((await wire.answer())?.status).toBe(202);
    expect(fixture.seenByFastify).toBe(1);
    wire.socket.destroy();
  });

  test('a client that sends bit by bit is left to Node too', async () => {
    const { wire, connection } = await openWith({ patienceMs: 50 });
    const bytes = fixture.post(`{"reading":"${'x'.repeat(ExpressFixture.BODY_LIMIT - 14)}"}`);
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
    expect(fixture.seenByFastify).toBe(1);
    wire.socket.destroy();
  });

  test('a connection that is idle for long is closed, but not while it awaits an answer', async () => {
    const { wire: idle } = await openWith({ keepAliveMs: 20 });
    const release = fixture.holdAnswer();
    const waiting = await Wire.open(fixture.ways.express);
    await waiting.write(fixture.post());
    await waitFor(() => fixture.answered.length === 1);
    fixture.answer = async () => '{}';
    await idle.write(fixture.post());
    expect((await idle.answer())?.status).toBe(202);
    await idle.closed();
    release();
    expect((await waiting.answer())?.status).toBe(202);
    await waiting.closed();
  });
});

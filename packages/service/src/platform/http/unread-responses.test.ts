import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitFor } from '../../testing/index.js';
import { createLog } from '../log/index.js';
import { createMetrics } from '../metrics/index.js';
import { type App, createApp } from './index.js';
import { UNREAD_BYTES_MAX, UnreadResponses } from './unread-responses.js';

const REQUEST = 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n';
const REQUESTS = 50;
/** More than the buffers of a connection hold. */
const LARGE = 'x'.repeat(16 * 1_048_576);

let app: App;
let client: Socket;
let begun = 0;
let goOn: (() => void)[] = [];

beforeEach(async () => {
  begun = 0;
  goOn = [];
  app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    authenticator: { authenticate: () => ({ kind: 'service' }) },
    projects: { resolveProject: () => undefined },
  });
  app.route({
    method: 'GET',
    url: '/large',
    config: { access: { kind: 'public' } },
    schema: { hide: true },
    handler: async () => {
      begun += 1;
      await new Promise<void>((resolve) => goOn.push(resolve));
      return LARGE;
    },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(client, 'connect');
});
afterEach(async () => {
  client.destroy();
  await app.close();
});

/** Resolves when the server has read everything that was sent so far and has begun what it begins. */
async function serverHasRead(): Promise<void> {
  const { port } = app.server.address() as AddressInfo;
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
}

test('a request begins when the client has taken the response before it', async () => {
  client.pause();
  client.write(REQUEST.repeat(REQUESTS));
  await waitFor(() => begun > 0);
  await serverHasRead();
  expect(begun).toBe(1);
  goOn.pop()?.();
  await serverHasRead();
  expect(begun).toBe(1);
  let bytes = 0;
  client.on('data', (piece) => {
    bytes += piece.length;
  });
  client.resume();
  for (let request = 2; request <= 4; request += 1) {
    await waitFor(() => begun === request);
    // The operating system may have the last bytes.
    expect(bytes).toBeGreaterThan((request - 1.5) * LARGE.length);
    goOn.pop()?.();
  }
});

test('a request whose connection closes before its turn never begins', async () => {
  client.write(REQUEST.repeat(2));
  await waitFor(() => begun === 1);
  client.destroy();
  await waitFor(async () => (await connections()) === 0);
  goOn.pop()?.();
  await serverHasRead();
  expect(begun).toBe(1);
});

function connections(): Promise<number> {
  return new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
}

/** A connection with a response whose bytes the operating system takes as the test says. */
function unread(bytes: number) {
  const socket = {
    writableLength: bytes,
    _handle: { bytesWritten: bytes, writeQueueSize: bytes },
    isOpen: true,
    destroy: () => {
      socket.isOpen = false;
    },
  };
  return socket;
}

function clientsOf(sockets: readonly ReturnType<typeof unread>[]) {
  let nowMs = 0;
  const responses = new UnreadResponses(
    new Set(sockets) as never,
    () => nowMs,
    () => {},
  );
  return (ms: number) => {
    nowMs += ms;
    responses.check();
    return sockets.map(({ isOpen }) => isOpen);
  };
}

test('a connection ends when its client has taken nothing of its response for a minute', () => {
  const [reading, still] = [unread(100), unread(100)];
  const after = clientsOf([reading, still]);
  expect(after(0)).toEqual([true, true]);
  reading._handle.writeQueueSize = 99;
  expect(after(59_999)).toEqual([true, true]);
  expect(after(1)).toEqual([true, false]);
  expect(after(59_998)).toEqual([true, false]);
  reading.writableLength = 0;
  expect(after(60_000)).toEqual([true, false]);
});

test('when responses that are not read take too much memory, those end that are unread for longest', () => {
  const sockets = Array.from({ length: 4 }, () => unread(UNREAD_BYTES_MAX / 4));
  const after = clientsOf(sockets);
  expect(after(0)).toEqual([true, true, true, true]);
  for (const reading of [sockets[0], sockets[1], sockets[3]])
    if (reading) reading._handle.writeQueueSize -= 1;
  after(1_000);
  for (const reading of [sockets[0], sockets[3]]) if (reading) reading._handle.writeQueueSize -= 1;
  for (const socket of sockets) socket.writableLength += 1;
  expect(after(1_000)).toEqual([true, true, false, true]);
});

test('a client that stops reading its response is noticed, each time it stops', () => {
  const client = unread(100);
  let stops = 0;
  const responses = new UnreadResponses(
    new Set([client]) as never,
    () => 0,
    () => {
      stops += 1;
    },
  );
  const stopsAfter = (leftBytes: number) => {
    client._handle.writeQueueSize = leftBytes;
    responses.check();
    return stops;
  };
  expect([100, 100, 100, 90, 80, 80, 80].map(stopsAfter)).toEqual([0, 1, 1, 1, 1, 2, 2]);
});

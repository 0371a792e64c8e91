import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { SINGLE_BODY_BYTES_MAX } from '@tollgate/contract';
import { Type } from 'typebox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitFor } from '../../testing/index.js';
import { createLog } from '../log/index.js';
import { createMetrics } from '../metrics/index.js';
import { type App, createApp } from './index.js';

const BYTES_MAX = 100_000;
const PIECE = '"'.padEnd(60_000, 'x');

const KEY = { kind: 'key', projectId: undefined, permissions: [] } as const;

let app: App;
let port: number;
let bytesReceived = 0;

beforeEach(async () => {
  app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    authenticator: {
      authenticate: (token) => ({ ...KEY, keyId: token, tenantId: `ten_${token.charAt(0)}` }),
    },
    projects: { resolveProject: () => undefined },
    bodiesBytesMax: BYTES_MAX,
  });
  app.addHook('preParsing', (_request, _reply, payload, done) => {
    payload.on('data', (chunk: Buffer) => {
      bytesReceived += chunk.length;
    });
    done(null, payload);
  });
  app.route({
    method: 'POST',
    url: '/any',
    config: { access: { kind: 'public' } },
    schema: { hide: true, body: Type.String() },
    handler: async () => ({}),
  });
  app.route({
    method: 'POST',
    url: '/own',
    config: { access: { kind: 'any-key' } },
    schema: { hide: true, body: Type.String() },
    handler: async () => ({}),
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  port = (app.server.address() as AddressInfo).port;
  bytesReceived = 0;
});
afterEach(() => app.close());

/** Sends a request whose body is still missing; returns it and its response. */
function post(path = '/any', key = '') {
  const headers = {
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
    authorization: `Bearer ${key}`,
  };
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', path, headers });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  return { request, answer };
}

async function statusOfWhole(): Promise<number | undefined> {
  const { request, answer } = post();
  request.end(`${PIECE}"`);
  return (await answer).resume().statusCode;
}

test('bodies that arrive at once are bounded together, and those admitted get a response', async () => {
  const first = post();
  first.request.write(PIECE);
  await waitFor(() => bytesReceived === PIECE.length);
  const second = post();
  second.request.write(PIECE);
  const refused = await second.answer;
  expect(refused.statusCode).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  expect(await json(refused)).toMatchObject({ code: 'server_busy' });
  second.request.destroy();
  first.request.end('"');
  expect((await first.answer).resume().statusCode).toBe(200);
});

test('bodies of all keys of a tenant leave room for those of others', async () => {
  const [first, second] = [post('/own', 'a1'), post('/own', 'a2')];
  first.answer.catch(() => {});
  first.request.write(PIECE.slice(0, 40_000));
  await waitFor(() => bytesReceived === 40_000);
  second.request.write(PIECE.slice(0, 40_000));
  expect((await second.answer).resume().statusCode).toBe(503);
  const other = post('/own', 'b1');
  other.request.end(`${PIECE.slice(0, 25_000)}"`);
  expect((await other.answer).resume().statusCode).toBe(200);
  for (const { request } of [first, second]) request.destroy();
});

test('a finished request makes room for the next', async () => {
  for (let round = 0; round < 3; round++) expect(await statusOfWhole()).toBe(200);
});

test('so does what was broken off', async () => {
  const broken = post();
  broken.answer.catch(() => {});
  broken.request.write(PIECE);
  await waitFor(() => bytesReceived === PIECE.length);
  broken.request.destroy();
  await waitFor(async () => (await statusOfWhole()) === 200);
});

test('so does what arrives after the answer', async () => {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const length = SINGLE_BODY_BYTES_MAX + 1;
  const head = `POST /any HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  socket.write(head + 'x'.repeat(length));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('413 Payload Too Large');
  await waitFor(() => bytesReceived > BYTES_MAX);
  socket.destroy();
  expect(await statusOfWhole()).toBe(200);
});

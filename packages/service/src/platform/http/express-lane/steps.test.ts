import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProjectRef } from '../../../kernel/scope.js';
import { waitFor } from '../../../testing/index.js';
import { BodyBudget } from '../body-budget.js';
import { LaneConnection } from './connection.js';
import type { LanePorts } from './lane-ports.js';
import { SpacedWork } from './spaced-work.js';
import type { LaneRoute } from './work.js';

/** Long enough to be read in steps. */
const BODY = `"${'x'.repeat(16 * 1_024)}"`;
const REQUEST = `POST /readings HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nauthorization: Bearer b\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

let server: Server;
let client: Socket;
let served: Socket;
/** Between two steps of reading, until the test lets it go on. */
let isBetweenSteps: boolean;
let mayGoOn: boolean;
let answered: number;
/** All bytes that Node got; undefined unless it got the connection. */
let handedOver: string | undefined;

beforeEach(async () => {
  [isBetweenSteps, mayGoOn, answered, handedOver] = [false, false, 0, undefined];
  server = createServer((socket) => {
    served = socket;
    new LaneConnection(socket, ports());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.write(REQUEST);
  await waitFor(() => isBetweenSteps, { what: 'the first step' });
});
afterEach(() => {
  client.destroy();
  served.destroy();
  server.close();
});

const route: LaneRoute = {
  method: 'POST',
  url: '/readings',
  bodyLimit: 1_000_000,
  *readInput() {
    isBetweenSteps = true;
    while (!mayGoOn) yield;
    return { value: 1 };
  },
  isKeyValid: undefined,
  operation: {
    status: 202,
    answer: async () => {
      answered += 1;
      return '{}';
    },
  },
  observe: () => {},
};

const ports = (): LanePorts => ({
  budget: new BodyBudget(1_000_000),
  failures: {} as LanePorts['failures'],
  requestId: () => 'req_1',
  tracing: undefined,
  admit: () => ({ route, project: {} as ProjectRef, params: {} }),
  handOver: (socket) => {
    handedOver = '';
    socket.on('data', (bytes) => {
      handedOver = `${handedOver}${bytes}`;
    });
    socket.resume();
  },
  isClosed: () => false,
  isDraining: () => false,
  patienceMs: 5_000,
  keepAliveMs: 5_000,
  largeBodies: new SpacedWork(),
  begun: () => {},
  answered: () => {},
  left: () => {},
});

test('a request that is read in steps is answered once', async () => {
  mayGoOn = true;
  const [answer] = await once(client, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 202 /);
  expect(answered).toBe(1);
});

test('bytes that arrive between two steps are left to Node, with the request', async () => {
  client.write('GET');
  await waitFor(() => served.isPaused(), { what: 'the bytes that were sent ahead' });
  mayGoOn = true;
  await waitFor(() => handedOver?.endsWith('GET') === true, { what: 'the connection, handed over' });
  expect(handedOver).toBe(`${REQUEST}GET`);
  expect(answered).toBe(0);
});

test('a client that goes away between two steps gets no work done', async () => {
  client.resetAndDestroy();
  await waitFor(() => served.closed, { what: 'the end of the connection' });
  mayGoOn = true;
  // Two turns: the steps end, and the operation would begin.
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
  expect(answered).toBe(0);
  expect(handedOver).toBeUndefined();
});

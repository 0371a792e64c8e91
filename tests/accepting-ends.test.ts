import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '../packages/service/src/platform/process-identity.js';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import {
  AcceptingService,
  CONNECTIONS,
  eventOf,
  ingestPath,
  PROCESSES,
  SETTLE,
  sendEvent,
} from './support/accepting.js';
import type { Connection } from './support/connections.js';
import { killNow } from './support/process-tree.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';

/** Tests that start processes under load take long where processors are few. */
const TIMEOUT_MS = 240_000;
/** Between the requests of a connection while a process starts, which leaves the processors to it. */
const PAUSE_MS = 50;

let accepting: AcceptingService;
let service: RunningService;
beforeAll(async () => {
  accepting = await AcceptingService.start();
  service = accepting.service;
});
afterAll(() => service?.stop());

/** Sends until `isOver` says so, with pauses while `isSlow`; returns the keys of acknowledged events. */
async function sendUntil(
  connection: Connection,
  project: SampleProject,
  name: string,
  isOver: () => boolean,
  isSlow = () => false,
): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let count = 0; !isOver(); count += 1) {
    const key = `${name}-${count}`;
    const status = await sendEvent(connection, project, key).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 202) acknowledged.push(key);
    if (isSlow()) await delay(PAUSE_MS);
  }
  return acknowledged;
}

/** Sends events again: none of them is new. */
async function expectAreThere(project: SampleProject, keys: readonly string[]): Promise<void> {
  const before = await accepting.rated(project);
  expect(before).toBeGreaterThanOrEqual(keys.length);
  await accepting.onConnections(async (connection, index) => {
    for (const key of keys.filter((_, place) => place % CONNECTIONS === index)) {
      expect((await sendEvent(connection, project, key)).status).toBe(202);
    }
  });
  expect(await accepting.rated(project)).toBe(before);
}

describe('an accepting process that is killed', () => {
  it(
    'takes no acknowledged event with it, no count goes down, and another takes its place',
    async () => {
      const project = await createSampleProject(service);
      const [victim] = accepting.processes();
      if (victim === undefined) throw new Error('no accepting process runs');
      const state = { isKilled: false, isOver: false };
      const sending = accepting.onConnections((connection, index) =>
        sendUntil(
          ...([connection, project, `k-${index}`] as const),
          () => state.isOver,
          () => state.isKilled,
        ),
      );
      await waitFor(async () => (await accepting.statusOf(project)).accepted > 200, SETTLE);
      const before = await accepting.acceptedByMetrics();
      killNow([victim]);
      state.isKilled = true;
      await waitFor(async () => !(await accepting.areAllReady()), SETTLE);
      expect(await accepting.acceptedByMetrics()).toBeGreaterThanOrEqual(before);
      await waitFor(() => accepting.areAllReady(), SETTLE);
      expect(await accepting.acceptedByMetrics()).toBeGreaterThanOrEqual(before);
      state.isOver = true;
      const acknowledged = (await sending).flat();
      expect(service.output).toContain('an accepting process ended; it is started again');
      expect(accepting.processes()).toHaveLength(PROCESSES);
      await expectAreThere(project, acknowledged);
      await accepting.expectEqualStores();
    },
    TIMEOUT_MS,
  );
});

describe('a service with accepting processes', () => {
  it(
    'stops in order: it responds to each request that it has, and leaves no process',
    async () => {
      const project = await createSampleProject(service);
      const processes = accepting.processes();
      let isOver = false;
      const sending = accepting.onConnections((connection, index) =>
        sendUntil(connection, project, `s-${index}`, () => isOver),
      );
      await waitFor(async () => (await accepting.statusOf(project)).accepted > 200, SETTLE);
      const half = await halfARequest(project);
      const stopped = service.terminate();
      await waitFor(() => !processes.some(isRunning));
      half.finish();
      expect(await half.response).toMatch(/^HTTP\/1\.1 503 .*"code":"shutting_down"/s);
      expect(await stopped).toBe(0);
      isOver = true;
      const acknowledged = (await sending).flat();
      await service.start();
      await expectAreThere(project, acknowledged);
      await accepting.expectEqualStores();
    },
    TIMEOUT_MS,
  );

  it(
    'leaves none when it is killed',
    async () => {
      const processes = accepting.processes();
      expect(processes).toHaveLength(PROCESSES);
      await service.crash('service');
      await waitFor(() => !processes.some(isRunning));
      await service.start();
      await waitFor(() => accepting.areAllReady(), SETTLE);
      await accepting.expectEqualStores();
    },
    TIMEOUT_MS,
  );
});

/** Sends an event, and half of the next one's request on the same connection. */
async function halfARequest(project: SampleProject) {
  const socket = connect(service.port, '127.0.0.1');
  const request = (key: string) => {
    const body = JSON.stringify({ source: 'test', ...eventOf(key) });
    const head = `POST ${ingestPath(project)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.key}`;
    return `${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  let received = '';
  socket.setEncoding('latin1').on('data', (part) => {
    received += part;
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(request('whole'));
  await waitFor(() => received.includes('"status":"received"'));
  received = '';
  const next = request('half');
  const middle = Math.floor(next.length / 2);
  await new Promise<void>((resolve) => socket.write(next.slice(0, middle), () => resolve()));
  return {
    finish: () => void socket.write(next.slice(middle)),
    response: closed.then(() => received),
  };
}

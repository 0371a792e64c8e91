import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import { SETTLE, sendEvent } from './support/accepting.js';
import { Connection } from './support/connections.js';
import { Haproxy, hasHaproxy } from './support/haproxy.js';
import { call } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const DRAIN_S = '2';
/** Clients that keep their connection, and as many that open one for each request. */
const CLIENTS_OF_A_KIND = 4;
/** Each client sends a request other than an event after so many events. */
const EVENTS_BETWEEN = 4;
/** Pause of each client after a request: hundreds of requests in each restart, and processor time for what starts. */
const PAUSE_MS = 25;
const EVENTS_BETWEEN_RESTARTS = 100;
const TIMEOUT_MS = 240_000;

/** Clients that send until they are stopped, one request after the other. */
class Clients {
  /** Number of events with a 202. */
  accepted = 0;
  /** Requests without a response, or with another status than expected. */
  readonly failures: string[] = [];
  readonly #clients: Promise<void>[] = [];
  #isStopped = false;

  constructor(
    readonly target: { readonly url: string },
    readonly project: SampleProject,
  ) {
    for (let index = 0; index < 2 * CLIENTS_OF_A_KIND; index += 1) {
      this.#clients.push(this.#send(`client-${index}`, index < CLIENTS_OF_A_KIND));
    }
  }

  /** Waits until so many more events have been accepted. */
  async goOn(events: number): Promise<void> {
    const goal = this.accepted + events;
    await waitFor(() => this.accepted >= goal, { ...SETTLE, what: `${events} accepted events` });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
  }

  async #send(name: string, keepsConnection: boolean): Promise<void> {
    let connection = new Connection(this.target);
    for (let count = 0; !this.#isStopped; count += 1) {
      if (count % (EVENTS_BETWEEN + 1) === EVENTS_BETWEEN) await this.#ask(connection);
      else if (await this.#sendEvent(connection, `${name}-${count}`)) this.accepted += 1;
      await delay(PAUSE_MS);
      if (keepsConnection) continue;
      connection.close();
      connection = new Connection(this.target);
    }
    connection.close();
  }

  async #sendEvent(connection: Connection, key: string): Promise<boolean> {
    return this.#hasStatus(202, sendEvent(connection, this.project, key));
  }

  async #ask(connection: Connection): Promise<void> {
    await this.#hasStatus(200, connection.send('GET', '/v1/me', { key: this.project.key }));
  }

  async #hasStatus(expected: number, response: ReturnType<Connection['send']>): Promise<boolean> {
    const failure = await response.then(
      ({ status, text }) => (status === expected ? undefined : `${status} ${text}`),
      (error: Error) => `no response: ${error.message}`,
    );
    if (failure !== undefined) this.failures.push(failure);
    return failure === undefined;
  }
}

const title = hasHaproxy ? '' : ', skipped because haproxy is not installed';

describe.runIf(hasHaproxy)(`a rolling restart behind a load balancer${title}`, () => {
  let postgres: TestPostgres;
  let clickhouse: TestClickHouse;
  const services: RunningService[] = [];
  let haproxy: Haproxy;
  let project: SampleProject;

  /** Starts a process with some of the roles. */
  async function start(roles: string, workers = '1'): Promise<RunningService> {
    const service = await startService({
      args: ['serve', '--roles', roles, '--workers', workers],
      env: {
        TOLLGATE_DATABASE_URL: postgres.connectionString,
        TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
        TOLLGATE_DRAIN_SECONDS: DRAIN_S,
      },
      startsEmpty: true,
    });
    services.push(service);
    return service;
  }

  beforeAll(async () => {
    [postgres, clickhouse] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
    const one = await start('api');
    // It accepts events in two processes.
    const other = await start('api', '2');
    await start('worker,projector');
    haproxy = await Haproxy.start([one, other]);
    project = await createSampleProject({ url: haproxy.url, serviceKey: one.serviceKey });
  });
  afterAll(async () => {
    await haproxy?.stop();
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all([clickhouse?.drop(), postgres?.drop()]);
  });

  async function restart(service: RunningService, env: Record<string, string> = {}): Promise<void> {
    expect(await service.terminate()).toBe(0);
    await haproxy.untilState(service.port, 'DOWN');
    await service.start(env);
    await haproxy.untilState(service.port, 'UP');
  }

  it(
    'loses no request, resets no connection, and counts every accepted event once',
    async () => {
      const [one, other] = services as [RunningService, RunningService];
      const clients = new Clients(haproxy, project);
      await clients.goOn(EVENTS_BETWEEN_RESTARTS);
      await restart(one, { TOLLGATE_EXPRESS_LANE: '0' });
      await clients.goOn(EVENTS_BETWEEN_RESTARTS);
      await restart(other);
      await clients.goOn(EVENTS_BETWEEN_RESTARTS);
      await restart(one);
      await clients.goOn(EVENTS_BETWEEN_RESTARTS);
      await clients.stop();
      expect(clients.failures).toEqual([]);
      const path = `/v1/projects/${project.projectId}/usage/ingest-status`;
      const status = async () => (await call(haproxy, 'GET', path, { key: project.key })).body;
      await waitFor(async () => (await status()).pending === 0, SETTLE);
      expect(await status()).toMatchObject({ processed: clients.accepted, failed: 0 });
    },
    TIMEOUT_MS,
  );
});

import {
  createTestClickHouse,
  S3_CREDENTIALS,
  type TestClickHouse,
  TestS3,
} from '../../packages/service/src/testing/index.js';
import {
  type PostgresHost,
  ReplicatedPostgres,
} from '../../packages/service/src/testing/replicated-postgres.js';
import { Haproxy, hasHaproxy } from './haproxy.js';
import { hasPgBouncer, PgBouncer, urlOfPoolers } from './pgbouncer.js';
import { newService, type RunningService } from './service.js';
import { TcpGate } from './tcp-gate.js';

const PROCESSES = { api: 2, worker: 4, projector: 2 } as const;
export type SplitRole = keyof typeof PROCESSES;

const CONNECTIONS_MAX = 300;
const SHARDS = 8;
/** Batches of the load are larger, so that their bytes go to the bucket; those of single events stay in PostgreSQL. */
const SEGMENT_KIB = 4;

/** A program that the installation needs, and that is not installed here. */
export const missingProgram = hasHaproxy ? (hasPgBouncer ? undefined : 'pgbouncer') : 'haproxy';

interface Parts {
  /** The processes of each role. */
  readonly services: Readonly<Record<SplitRole, readonly RunningService[]>>;
  readonly servers: ReplicatedPostgres;
  readonly clickhouse: TestClickHouse;
  /** The way of the services to ClickHouse. */
  readonly clickhouseGate: TcpGate;
  readonly haproxy: Haproxy;
}

/**
 * An installation with everything split up: several processes of each role; HAProxy in front of the API; PostgreSQL and
 * its standby, each behind a PgBouncer of its own, in a URL with both; ClickHouse over HTTP; and a bucket.
 */
export class SplitInstallation {
  readonly parts: Parts;
  readonly #stops: Stops;

  private constructor(parts: Parts, stops: Stops) {
    this.parts = parts;
    this.#stops = stops;
  }

  static async start(): Promise<SplitInstallation> {
    const stops = new Stops();
    try {
      return new SplitInstallation(await startParts(stops), stops);
    } catch (error) {
      await stops.runAll();
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#stops.runAll();
  }
}

/** Stops the parts that were started, the last one first. */
class Stops {
  readonly #stops: (() => Promise<unknown>)[] = [];

  async add<T>(started: Promise<T>, stop: (part: T) => Promise<unknown>): Promise<T> {
    const part = await started;
    this.#stops.push(() => stop(part));
    return part;
  }

  async runAll(): Promise<void> {
    for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop()) await stop();
  }
}

async function startParts(stops: Stops): Promise<Parts> {
  const settings = { max_connections: String(CONNECTIONS_MAX) };
  const [servers, clickhouse, s3] = await Promise.all([
    stops.add(ReplicatedPostgres.start(settings), (each) => each.stop()),
    stops.add(createTestClickHouse(), (each) => each.drop()),
    stops.add(TestS3.start(), (each) => each.stop()),
  ]);
  const { hostname, port, pathname } = new URL(clickhouse.url);
  const clickhouseGate = await stops.add(TcpGate.to(Number(port)), (each) => each.shut());
  const env = {
    TOLLGATE_DATABASE_URL: await startPoolers(servers, stops),
    TOLLGATE_CLICKHOUSE_URL: `http://${hostname}:${clickhouseGate.port}${pathname}`,
    TOLLGATE_OBJECT_STORE_URL: `${s3.url('split')}&segment_kib=${SEGMENT_KIB}`,
    TOLLGATE_SHARDS: String(SHARDS),
    TOLLGATE_WORKERS: '1',
    ...S3_CREDENTIALS,
  };
  const services = await startServices(env, stops);
  const haproxy = await stops.add(Haproxy.start(services.api), (each) => each.stop());
  return { services, servers, clickhouse, clickhouseGate, haproxy };
}

async function startPoolers(servers: ReplicatedPostgres, stops: Stops): Promise<string> {
  const settings = {
    pool_mode: 'session',
    default_pool_size: CONNECTIONS_MAX - 20,
    max_client_conn: 2 * CONNECTIONS_MAX,
  };
  const start = (host: PostgresHost) =>
    stops.add(PgBouncer.start({ connectionString: servers.socketUrlOf(host) }, settings), (each) =>
      each.stop(),
    );
  return urlOfPoolers(await Promise.all([start('primary'), start('standby')]));
}

async function startServices(env: Record<string, string>, stops: Stops): Promise<Parts['services']> {
  const create = (role: SplitRole) => {
    const args = ['serve', '--roles', role];
    const services = Array.from({ length: PROCESSES[role] }, () =>
      newService({ args, env, startsEmpty: true }),
    );
    return stops.add(Promise.all(services), (all) => Promise.all(all.map((each) => each.stop())));
  };
  const services = {
    api: await create('api'),
    worker: await create('worker'),
    projector: await create('projector'),
  };
  await Promise.all(Object.values(services).flatMap((all) => all.map((each) => each.start())));
  return services;
}

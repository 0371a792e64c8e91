import { randomInt } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres/index.js';
import { connectionStringOf, connectTo } from './postgres.js';
import { copyDataDir, newScratchFolder } from './scratch-folder.js';
import { startedCluster } from './started-cluster.js';

/** The name by which the primary knows its standby. */
const STANDBY = 'standby';

/** The primary and the standby have the same port, so each needs a loopback address of its own. */
export const hasLoopbackNetwork = process.platform === 'linux';

export type PostgresHost = 'primary' | 'standby';

/**
 * A PostgreSQL server and its synchronous standby: a commit returns once the standby has it on its disk too. Nothing is
 * synchronized to the disk, so a test may kill the servers, but says nothing about a power failure.
 */
export class ReplicatedPostgres {
  readonly #servers: Readonly<Record<PostgresHost, EmbeddedPostgres>>;
  readonly #addresses: Readonly<Record<PostgresHost, string>>;

  private constructor(
    servers: Readonly<Record<PostgresHost, EmbeddedPostgres>>,
    addresses: Readonly<Record<PostgresHost, string>>,
  ) {
    this.#servers = servers;
    this.#addresses = addresses;
  }

  /** @param settings of both servers */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<ReplicatedPostgres> {
    const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
    const addresses = { primary: `${network}.1`, standby: `${network}.2` };
    const folder = newScratchFolder('replicated-');
    const folders = { primary: join(folder, 'primary'), standby: join(folder, 'standby') };
    for (const path of Object.values(folders)) mkdirSync(path);
    for (const path of [folder, ...Object.values(folders)]) chmodSync(path, 0o711);
    const start = (host: PostgresHost, own: Readonly<Record<string, string>> = {}) =>
      startEmbeddedPostgres({
        dataDir: folders[host],
        log: pino({ level: 'silent' }),
        settings: { fsync: 'off', listen_addresses: addresses[host], ...settings, ...own },
      });
    const cluster = await startedCluster();
    for (const path of Object.values(folders)) copyDataDir(cluster, path);
    const primary = await start('primary', { synchronous_standby_names: STANDBY });
    try {
      becomeStandby(primary.clusterFolder.replace(folders.primary, folders.standby));
      const { user, password } = primary.connection;
      const source = `host=${addresses.primary} user=${user} password=${password} application_name=${STANDBY}`;
      const standby = await start('standby', { primary_conninfo: source });
      return new ReplicatedPostgres({ primary, standby }, addresses);
    } catch (error) {
      await primary.stop();
      throw error;
    }
  }

  /** The URL that names both hosts; the standby comes first. */
  get url(): string {
    const hosts = `${this.address('standby')},${this.address('primary')}`;
    return this.urlOf('primary').replace(this.address('primary'), hosts);
  }

  /** The URL of one host, over TCP. */
  urlOf(host: PostgresHost): string {
    const { user, password, database } = this.#servers[host].connection;
    return `postgresql://${user}:${password}@${this.address(host)}/${database}?target_session_attrs=read-write`;
  }

  /** Both hosts have PostgreSQL's usual port. */
  address(host: PostgresHost): string {
    return this.#addresses[host];
  }

  /** The URL of one host, over its socket, which only the account of PostgreSQL may use. */
  socketUrlOf(host: PostgresHost): string {
    return connectionStringOf(this.#servers[host].connection);
  }

  /** Executes a statement on one host. */
  async query<Row = object>(host: PostgresHost, sql: string): Promise<Row[]> {
    const direct = connectTo(this.#servers[host].connection);
    try {
      return (await direct.pool.query(sql)).rows;
    } finally {
      await direct.close();
    }
  }

  /** Stops the primary in order. */
  async stopPrimary(): Promise<void> {
    await this.#servers.primary.stop();
  }

  /** Ends the primary without any preparation, as `pg_ctl stop -m immediate` does. */
  crashPrimary(): void {
    process.kill(this.#servers.primary.pid, 'SIGQUIT');
  }

  /** Makes the standby the primary; it can be written to on return. */
  async promote(): Promise<void> {
    await this.query('standby', 'select pg_promote()');
  }

  async stop(): Promise<void> {
    await this.#servers.standby.stop();
    await this.#servers.primary.stop();
  }
}

function becomeStandby(clusterFolder: string): void {
  const { uid, gid } = statSync(clusterFolder);
  const signal = join(clusterFolder, 'standby.signal');
  writeFileSync(signal, '');
  chownSync(signal, uid, gid);
}

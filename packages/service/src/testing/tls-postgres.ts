import { randomInt } from 'node:crypto';
import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres/index.js';
import type { CertificateFiles, TestAuthority } from './certificates.js';
import { connectTo } from './postgres.js';
import { copyDataDir, newScratchFolder } from './scratch-folder.js';
import { startedCluster } from './started-cluster.js';

/** Whoever comes over the network needs TLS and a certificate; the socket is for the test itself. */
const HBA = `local all all scram-sha-256
hostssl all all all scram-sha-256 clientcert=verify-ca
`;

/**
 * A PostgreSQL server with TLS that requires certificates of clients. It has a loopback address of its own, because
 * every server has PostgreSQL's usual port: so it needs Linux.
 */
export class TlsPostgres {
  private constructor(
    readonly authority: TestAuthority,
    readonly address: string,
    readonly server: EmbeddedPostgres,
  ) {}

  /** @param authority signs the certificate of the server, and is trusted for those of clients */
  static async start(authority: TestAuthority): Promise<TlsPostgres> {
    const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.3`;
    const settings = { fsync: 'off', listen_addresses: address };
    const dataDir = newScratchFolder('tls-');
    // PostgreSQL runs under another account when the test runs as root. It would keep its files elsewhere, for ever.
    chmodSync(dataDir, 0o711);
    copyDataDir(await startedCluster(), dataDir);
    const server = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'silent' }), settings });
    const postgres = new TlsPostgres(authority, address, server);
    postgres.#install('root.crt', readFileSync(authority.ca));
    postgres.#install('pg_hba.conf', Buffer.from(HBA));
    await postgres.administer("alter system set ssl_ca_file = 'root.crt'");
    await postgres.administer('alter system set ssl = on');
    await postgres.serve(authority.issue('localhost', { file: 'server', address }));
    return postgres;
  }

  /** Presents this certificate on new connections. */
  async serve({ cert, key }: CertificateFiles): Promise<void> {
    this.#install('server.crt', readFileSync(cert));
    this.#install('server.key', readFileSync(key));
    await this.administer('select pg_reload_conf()');
  }

  /** Runs a statement over the socket. */
  async administer(sql: string): Promise<void> {
    const direct = connectTo(this.server.connection);
    await direct.pool.query(sql).finally(() => direct.close());
  }

  /** Returns a URL with these parameters. */
  url(parameters: Readonly<Record<string, string>>, hosts = this.address): string {
    const { user, password, database } = this.server.connection;
    return `postgresql://${user}:${password}@${hosts}/${database}?${new URLSearchParams(parameters)}`;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Writes a file that only the account of PostgreSQL may read. */
  #install(name: string, bytes: Buffer): void {
    const { clusterFolder } = this.server;
    const { uid, gid } = statSync(clusterFolder);
    writeFileSync(join(clusterFolder, name), bytes, { mode: 0o600 });
    chownSync(join(clusterFolder, name), uid, gid);
  }
}

import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CertificateFiles, hasOpenssl, TestAuthority } from '../../testing/certificates.js';
import { connectTo } from '../../testing/postgres.js';
import { TlsPostgres } from '../../testing/tls-postgres.js';
import { waitFor } from '../../testing/wait-for.js';
import { connectionProblem } from '../connection-problem.js';
import { isUnavailable } from './errors.js';

const isPossible = hasOpenssl && process.platform === 'linux';
const title = isPossible ? '' : ', skipped because openssl is not installed or this is not Linux';

describe.runIf(isPossible)(`connections to a PostgreSQL server with TLS${title}`, () => {
  let authority: TestAuthority;
  let client: CertificateFiles;
  let postgres: TlsPostgres;

  beforeAll(async () => {
    authority = new TestAuthority('trusted');
    client = authority.issue('tollgate');
    postgres = await TlsPostgres.start(authority);
  });
  afterAll(async () => {
    await postgres?.stop();
    if (authority !== undefined) rmSync(authority.folder, { recursive: true });
  });

  const parameters = (own: CertificateFiles = client, ca = authority.ca) => ({
    sslmode: 'verify-full',
    sslrootcert: ca,
    sslcert: own.cert,
    sslkey: own.key,
  });

  /** Returns the serial number of the certificate that the server gets. */
  async function clientSerial(url: string): Promise<string> {
    const { pool, close } = connectTo(url);
    try {
      const { rows } = await pool.query(
        'select ssl, client_serial::text as serial from pg_stat_ssl where pid = pg_backend_pid()',
      );
      expect(rows[0]?.ssl).toBe(true);
      return rows[0]?.serial;
    } finally {
      await close();
    }
  }

  async function problemOf(url: string): Promise<string> {
    const error = await clientSerial(url).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect([url, isUnavailable(error)]).toEqual([url, true]);
    return connectionProblem(error);
  }

  it('verify the server and present a certificate', async () => {
    expect(await clientSerial(postgres.url(parameters()))).toMatch(/^\d+$/);
    const { sslmode: _, ...files } = parameters();
    expect(await clientSerial(postgres.url(files))).toMatch(/^\d+$/);
  });

  it('pass over a host that is away', async () => {
    const hosts = `127.0.0.1:1,${postgres.address}:5432`;
    expect(await clientSerial(postgres.url(parameters(), hosts))).toMatch(/^\d+$/);
  });

  it('take a replaced certificate without a restart, while others go on', async () => {
    const used = { cert: join(authority.folder, 'used.crt'), key: join(authority.folder, 'used.key') };
    const use = ({ cert, key }: CertificateFiles) => {
      copyFileSync(cert, used.cert);
      copyFileSync(key, used.key);
    };
    use(client);
    const url = postgres.url(parameters(used));
    const { pool, close } = connectTo(url);
    try {
      const held = await pool.connect();
      const first = await clientSerial(url);
      use(authority.issue('next'));
      await postgres.serve(authority.issue('localhost', { file: 'server-next', address: postgres.address }));
      const { rows } = await pool.query(
        'select client_serial::text as serial from pg_stat_ssl where pid = pg_backend_pid()',
      );
      expect(rows[0]?.serial).not.toBe(first);
      await held.query('select 1');
      held.release();
    } finally {
      await close();
    }
  });

  it('fail in words for an operator', async () => {
    const stranger = new TestAuthority('stranger');
    try {
      expect(await problemOf(postgres.url(parameters(client, stranger.ca)))).toContain(
        'no trusted authority has signed the certificate of the server: name the file of its authority in sslrootcert',
      );
      expect(await problemOf(postgres.url({ sslmode: 'verify-full' }))).toContain('no trusted authority');
      expect(await problemOf(postgres.url(parameters(stranger.issue('tollgate'))))).toBe(
        'the server refuses the client certificate',
      );
    } finally {
      rmSync(stranger.folder, { recursive: true });
    }
  });

  it('fail when the certificate of the server is for another host, or has expired', async () => {
    const problem = () => problemOf(postgres.url(parameters()));
    const isServed = (text: string) => waitFor(async () => (await problem()) === text);
    await postgres.serve(authority.issue('elsewhere', { address: '127.0.0.9' }));
    await isServed('the certificate of the server is for another host name');
    await postgres.serve(authority.issue('localhost', { file: 'late', days: -1, address: postgres.address }));
    await isServed('the certificate of the server or of its authority has expired');
  });
});

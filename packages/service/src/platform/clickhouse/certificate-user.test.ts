import { readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CertificateFiles, hasOpenssl, TestAuthority } from '../../testing/certificates.js';
import { connectClickHouse } from './server.js';

const title = hasOpenssl ? '' : ', skipped because openssl is not installed';

describe.runIf(hasOpenssl)(`the user of a ClickHouse server with certificates${title}`, () => {
  let authority: TestAuthority;
  let client: CertificateFiles;
  let server: Server;
  let headers: IncomingHttpHeaders;

  beforeAll(async () => {
    authority = new TestAuthority('trusted');
    client = authority.issue('client');
    const { cert, key } = authority.issue('localhost');
    const own = { cert: readFileSync(cert), key: readFileSync(key) };
    server = createServer(own, (request, response) => {
      headers = request.headers;
      response.end('{"meta":[],"data":[],"rows":0}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(authority.folder, { recursive: true });
  });

  async function headersOf(
    user: string,
    files: Readonly<Record<string, string>>,
  ): Promise<IncomingHttpHeaders> {
    const { port } = server.address() as AddressInfo;
    const parameters = new URLSearchParams({ sslrootcert: authority.ca, ...files });
    const clickhouse = connectClickHouse({ url: `https://${user}localhost:${port}/usage?${parameters}` });
    try {
      await clickhouse.command('SELECT 1');
      return headers;
    } finally {
      await clickhouse.close();
    }
  }

  it('is authenticated by the certificate if there is no password', async () => {
    const sent = await headersOf('tollgate@', { sslcert: client.cert, sslkey: client.key });
    expect(sent).toMatchObject({
      'x-clickhouse-user': 'tollgate',
      'x-clickhouse-ssl-certificate-auth': 'on',
    });
    expect(sent.authorization).toBeUndefined();
  });

  it('is authenticated by the password otherwise', async () => {
    const basic = `Basic ${Buffer.from('tollgate:secret').toString('base64')}`;
    for (const files of [{ sslcert: client.cert, sslkey: client.key }, {}]) {
      const sent = await headersOf('tollgate:secret@', files);
      expect(sent.authorization).toBe(basic);
      expect(sent['x-clickhouse-ssl-certificate-auth']).toBeUndefined();
    }
  });
});

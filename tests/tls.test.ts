import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CertificateFiles,
  hasOpenssl,
  TestAuthority,
} from '../packages/service/src/testing/certificates.js';
import {
  createTestClickHouse,
  S3_CREDENTIALS,
  type TestClickHouse,
  TestS3,
} from '../packages/service/src/testing/index.js';
import { TlsPostgres } from '../packages/service/src/testing/tls-postgres.js';
import { processSampleEvents } from './support/sample-project.js';
import { newService, type RunningService } from './support/service.js';
import { TlsGate } from './support/tls-gate.js';

const EVENTS = 20;
const isPossible = hasOpenssl && process.platform === 'linux';
const title = isPossible ? '' : ', skipped because openssl is not installed or this is not Linux';

describe.runIf(isPossible)(`a service whose stores require TLS and client certificates${title}`, () => {
  let authority: TestAuthority;
  let stranger: TestAuthority;
  let client: CertificateFiles;
  let postgres: TlsPostgres;
  let clickhouse: TestClickHouse;
  let s3: TestS3;
  let gates: { readonly clickhouse: TlsGate; readonly s3: TlsGate };
  let service: RunningService;

  beforeAll(async () => {
    authority = new TestAuthority('trusted');
    stranger = new TestAuthority('stranger');
    client = authority.issue('tollgate');
    const own = authority.issue('localhost');
    [postgres, clickhouse, s3] = await Promise.all([
      TlsPostgres.start(authority),
      createTestClickHouse(),
      TestS3.start(),
    ]);
    const gateTo = (url: string) => TlsGate.start(Number(new URL(url).port), own, authority.ca);
    gates = { clickhouse: await gateTo(clickhouse.url), s3: await gateTo(s3.endpoint) };
    // The client of the bucket warns of old versions of Node.js.
    const env = { ...S3_CREDENTIALS, NODE_NO_WARNINGS: '1' };
    service = await newService({ args: ['serve', '--workers', '2'], startsEmpty: true, env });
  });
  afterAll(async () => {
    await service?.stop();
    await Promise.all([gates?.clickhouse.stop(), gates?.s3.stop()]);
    await Promise.all([s3?.stop(), clickhouse?.drop(), postgres?.stop()]);
    for (const each of [authority, stranger])
      if (each !== undefined) rmSync(each.folder, { recursive: true });
  });

  const filesOf = ({ cert, key }: CertificateFiles = client, ca = authority.ca) => ({
    sslrootcert: ca,
    sslcert: cert,
    sslkey: key,
  });
  type Files = Partial<ReturnType<typeof filesOf>>;
  const texts = (files: Files) => new URLSearchParams(files).toString();
  const clickhouseUrl = (files: Files, host = 'localhost') =>
    `https://${host}:${gates.clickhouse.port}/${clickhouse.database}?${texts(files)}`;
  const s3Url = (files: Files) =>
    `s3://tollgate-test/tls?endpoint=https://localhost:${gates.s3.port}&path_style=1&segment_kib=0&${texts(files)}`;
  const working = () => ({
    TOLLGATE_DATABASE_URL: postgres.url({ sslmode: 'verify-full', ...filesOf() }),
    TOLLGATE_CLICKHOUSE_URL: clickhouseUrl(filesOf()),
    TOLLGATE_OBJECT_STORE_URL: s3Url(filesOf()),
  });

  it('accepts, rates and projects events', async () => {
    await service.start(working());
    await processSampleEvents(service, EVENTS);
    expect(await service.terminate()).toBe(0);
    expect([gates.clickhouse, gates.s3].map(({ clients }) => [...clients])).toEqual([
      ['tollgate'],
      ['tollgate'],
    ]);
    const verified = await service.runCommand(['verify'], working());
    expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringContaining('Everything is equal')]);
  }, 300_000);

  it('trusts an authority that Node.js is given, too', async () => {
    const { sslrootcert: NODE_EXTRA_CA_CERTS, ...files } = filesOf();
    const env = {
      NODE_EXTRA_CA_CERTS,
      TOLLGATE_DATABASE_URL: postgres.url({ sslmode: 'verify-full', ...files }),
      TOLLGATE_CLICKHOUSE_URL: clickhouseUrl(files),
      TOLLGATE_OBJECT_STORE_URL: s3Url(files),
    };
    const { exitCode, stderr } = await service.runCommand(['migrate'], env);
    expect([exitCode, stderr]).toEqual([0, '']);
  });

  const untrusted =
    'no trusted authority has signed the certificate of the server: name the file of its authority in sslrootcert';
  type Case = [variable: string, problem: string | RegExp, url: () => string];
  const POSTGRES = 'TOLLGATE_DATABASE_URL';
  const CLICKHOUSE = 'TOLLGATE_CLICKHOUSE_URL';
  const OBJECTS = 'TOLLGATE_OBJECT_STORE_URL';
  const cases: Case[] = [
    [POSTGRES, untrusted, () => postgres.url({ sslmode: 'verify-full' })],
    [
      POSTGRES,
      'the file in sslrootcert cannot be read (ENOENT)',
      () => postgres.url({ sslrootcert: '/nowhere' }),
    ],
    [
      POSTGRES,
      'connection requires a valid client certificate',
      () => postgres.url({ sslrootcert: authority.ca }),
    ],
    [POSTGRES, 'the server refuses the client certificate', () => postgres.url(filesOf(stranger.issue('x')))],
    [
      POSTGRES,
      /^the certificate in sslcert expired on 20.*Z$/,
      () => postgres.url(filesOf(authority.issue('late', { days: -1 }))),
    ],
    [CLICKHOUSE, untrusted, () => clickhouseUrl(filesOf(client, stranger.ca))],
    [
      CLICKHOUSE,
      /^the server (wants a client certificate: name its file in sslcert, and that of its key in sslkey|has closed the connection)$/,
      () => clickhouseUrl({ sslrootcert: authority.ca }),
    ],
    [
      CLICKHOUSE,
      'the key in sslkey does not belong to the certificate in sslcert',
      () => clickhouseUrl({ ...filesOf(), sslkey: authority.issue('other').key }),
    ],
    [
      CLICKHOUSE,
      'the server speaks no TLS on this port',
      () => `${clickhouse.url.replace('http:', 'https:')}?${texts(filesOf())}`,
    ],
    [OBJECTS, `the object store could not get marks/store: ${untrusted}`, () => s3Url({})],
  ];

  it.each(cases)('does not start because of %s: %s', async (variable, problem, url) => {
    const { exitCode, stderr } = await service.runCommand(['serve'], { ...working(), [variable]: url() });
    const [, sentence] =
      new RegExp(`^tollgate: ${variable} cannot be used \\(.*?\\): (.*)\\.\n$`).exec(stderr) ?? [];
    const expected = typeof problem === 'string' ? problem : expect.stringMatching(problem);
    expect([exitCode, stderr, sentence]).toEqual([1, stderr, expected]);
  });

  it('does not start when the certificate of ClickHouse has expired', async () => {
    gates.clickhouse.serve(authority.issue('localhost', { file: 'late-server', days: -1 }));
    const { exitCode, stderr } = await service.runCommand(['serve'], working());
    expect([exitCode, stderr]).toEqual([
      1,
      `tollgate: TOLLGATE_CLICKHOUSE_URL cannot be used (localhost:${gates.clickhouse.port}/${clickhouse.database}): the certificate of the server or of its authority has expired.\n`,
    ]);
  });
});

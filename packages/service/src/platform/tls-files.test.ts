import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../kernel/clock.js';
import { type CertificateFiles, hasOpenssl, TestAuthority } from '../testing/certificates.js';
import { TlsFiles, type TlsPaths, takeTlsPaths } from './tls-files.js';

describe('the files of a URL', () => {
  it('are taken out, and the rest stays', () => {
    const url =
      'postgresql://u:p%40ss@one:1,two:2/db?sslmode=verify-full&sslrootcert=/etc/ca.crt&sslcert=/c&sslkey=/k';
    const one = url.replace(',two:2', '');
    expect(takeTlsPaths(one)).toEqual({
      url: 'postgresql://u:p%40ss@one:1/db?sslmode=verify-full',
      paths: { ca: '/etc/ca.crt', cert: '/c', key: '/k' },
    });
  });

  it('may be missing: then the URL stays as it is', () => {
    for (const url of ['https://one:8443/db?x=a%20b', 'no url']) {
      expect(takeTlsPaths(url)).toEqual({ url, paths: undefined });
    }
  });
});

const title = hasOpenssl ? '' : ', skipped because openssl is not installed';
describe.runIf(hasOpenssl)(`files for TLS${title}`, () => {
  let authority: TestAuthority;
  let client: CertificateFiles;
  let other: CertificateFiles;
  beforeAll(() => {
    authority = new TestAuthority('test');
    client = authority.issue('client');
    other = authority.issue('other');
  });
  afterAll(() => rmSync(authority.folder, { recursive: true }));

  const read = (paths: TlsPaths, clock = new ManualClock(Date.now())) => new TlsFiles(paths, clock).current();
  const inFolder = (name: string, text: string) => {
    const path = join(authority.folder, name);
    writeFileSync(path, text);
    return path;
  };

  it('are returned when they fit', () => {
    const { ca, cert, key } = read({ ca: authority.ca, ...client });
    expect(String(ca)).toContain('BEGIN CERTIFICATE');
    expect(String(cert)).toContain('BEGIN CERTIFICATE');
    expect(String(key)).toContain('PRIVATE KEY');
  });

  it.each<[problem: string | RegExp, paths: () => TlsPaths]>([
    ['the file in sslrootcert cannot be read (ENOENT)', () => ({ ca: '/nowhere/ca.crt' })],
    ['the file in sslrootcert has no certificate in PEM form', () => ({ ca: inFolder('text', 'x') })],
    ['sslcert and sslkey must be set together', () => ({ cert: client.cert })],
    ['the file in sslcert has no certificate in PEM form', () => ({ cert: client.key, key: client.key })],
    [
      'the key in sslkey does not belong to the certificate in sslcert',
      () => ({ ...client, key: other.key }),
    ],
    [
      'the file in sslkey has no private key in PEM form without a password',
      () => ({ ...client, key: inFolder('no-key', 'x') }),
    ],
    [/^the certificate in sslcert expired on 20\d\d-.*Z$/, () => authority.issue('late', { days: -1 })],
  ])('are refused: %s', (problem, paths) => {
    expect(() => read(paths())).toThrow(problem);
  });

  it('are refused before the certificate is valid', () => {
    expect(() => read(client, new ManualClock(0))).toThrow(
      /^the certificate in sslcert is valid from .*Z only$/,
    );
  });

  it('are read again, and unusable ones do not count until they are mended', () => {
    const paths = { cert: join(authority.folder, 'used.crt'), key: join(authority.folder, 'used.key') };
    copyFileSync(client.cert, paths.cert);
    copyFileSync(client.key, paths.key);
    const files = new TlsFiles(paths);
    const first = files.current();
    copyFileSync(other.cert, paths.cert);
    expect(files.current()).toEqual(first);
    copyFileSync(other.key, paths.key);
    expect(files.current()).not.toEqual(first);
    const second = files.current();
    rmSync(paths.key);
    expect(files.current()).toEqual(second);
  });
});

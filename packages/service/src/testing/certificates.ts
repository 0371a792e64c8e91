import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Tests that need certificates are skipped without the program that makes them. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const DAYS_VALID = 2;

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** An authority of its own, which makes certificates of servers and clients in a temporary folder. */
export class TestAuthority {
  readonly folder = mkdtempSync(join(tmpdir(), 'tollgate-certificates-'));
  /** The certificate of the authority. */
  readonly ca = join(this.folder, 'ca.crt');
  readonly #key = join(this.folder, 'ca.key');

  constructor(name: string) {
    const files = ['-keyout', this.#key, '-out', this.ca];
    openssl(['req', '-x509', ...KEY, ...files, '-days', String(DAYS_VALID), '-subj', `/CN=${name}`]);
  }

  /**
   * Makes a certificate for this host name and address, or of a client with this name.
   * @param days of its validity; a negative number makes one that has expired
   */
  issue(name: string, { file = name, days = DAYS_VALID, address = '127.0.0.1' } = {}): CertificateFiles {
    const path = (end: string) => join(this.folder, `${file}.${end}`);
    const extensions = path('ext');
    writeFileSync(extensions, `subjectAltName=DNS:${name},IP:${address}\n`);
    const request = path('csr');
    const made = { cert: path('crt'), key: path('key') };
    openssl(['req', ...KEY, '-keyout', made.key, '-out', request, '-subj', `/CN=${name}`]);
    const signer = ['-CA', this.ca, '-CAkey', this.#key, '-CAcreateserial', '-extfile', extensions];
    openssl(['x509', '-req', '-in', request, ...signer, '-out', made.cert, '-days', String(days)]);
    return made;
  }
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

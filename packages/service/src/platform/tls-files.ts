import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type Clock, systemClock } from '../kernel/clock.js';

/** The parameters of a URL that name files, with the meanings that they have for libpq. */
const PARAMETERS = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' } as const;

/** The paths of files in PEM form for the connections to one server. */
export interface TlsPaths {
  /** The authorities that are trusted, instead of those of Node.js. */
  readonly ca?: string;
  /** The certificate of this client, with the chain to its authority. */
  readonly cert?: string;
  readonly key?: string;
}

/** Bytes of the files, as `tls.connect` takes them. */
export type TlsMaterial = { readonly [Name in keyof TlsPaths]: Buffer };

/** A file for TLS cannot be used; the message is the end of a sentence for the operator. */
export class TlsFilesError extends Error {
  override readonly name = 'TlsFilesError';
  readonly code = 'TLS_FILES';
}

/** Separates the parameters that name files from a URL; a URL without them stays as it is. */
export function takeTlsPaths(url: string): { readonly url: string; readonly paths: TlsPaths | undefined } {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const paths: Record<string, string> = {};
  for (const [name, parameter] of Object.entries(PARAMETERS)) {
    const path = parsed?.searchParams.get(parameter) || undefined;
    if (path !== undefined) paths[name] = path;
    if (path !== undefined) parsed?.searchParams.delete(parameter);
  }
  if (parsed === undefined || Object.keys(paths).length === 0) return { url, paths: undefined };
  return { url: parsed.toString(), paths };
}

/**
 * The files for the connections to one server. They are read again for each new connection, so that a certificate is
 * replaced without a restart. Files that cannot be used then do not count until they are mended: a program that
 * replaces them writes one after the other.
 */
export class TlsFiles {
  readonly #paths: TlsPaths;
  readonly #clock: Clock;
  #usable: TlsMaterial | undefined;

  constructor(paths: TlsPaths, clock: Clock = systemClock) {
    this.#paths = paths;
    this.#clock = clock;
  }

  /**
   * Returns the current bytes.
   * @throws TlsFilesError if the files could never be used
   */
  current(): TlsMaterial {
    try {
      const read = this.#read();
      if (!isEqual(read, this.#usable)) this.#check(read);
      this.#usable = read;
    } catch (error) {
      if (this.#usable === undefined) throw error;
    }
    return this.#usable;
  }

  #read(): TlsMaterial {
    const { cert, key } = this.#paths;
    if ((cert === undefined) !== (key === undefined)) {
      throw new TlsFilesError(`${PARAMETERS.cert} and ${PARAMETERS.key} must be set together`);
    }
    const entries = Object.entries(this.#paths) as [keyof TlsPaths, string][];
    return Object.fromEntries(entries.map(([name, path]) => [name, readPem(PARAMETERS[name], path)]));
  }

  #check({ ca, cert, key }: TlsMaterial): void {
    if (ca !== undefined) readCertificate(PARAMETERS.ca, ca);
    if (cert === undefined || key === undefined) return;
    const { validFrom, validTo } = readCertificate(PARAMETERS.cert, cert);
    const [from, to, nowMs] = [new Date(validFrom), new Date(validTo), this.#clock.nowMs()];
    if (nowMs > to.getTime()) {
      throw new TlsFilesError(`the certificate in ${PARAMETERS.cert} expired on ${to.toISOString()}`);
    }
    if (nowMs < from.getTime()) {
      throw new TlsFilesError(
        `the certificate in ${PARAMETERS.cert} is valid from ${from.toISOString()} only`,
      );
    }
    checkKey(cert, key);
  }
}

function readPem(parameter: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new TlsFilesError(`the file in ${parameter} cannot be read (${code})`);
  }
}

function readCertificate(parameter: string, pem: Buffer): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new TlsFilesError(`the file in ${parameter} has no certificate in PEM form`);
  }
}

function checkKey(cert: Buffer, key: Buffer): void {
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const isOther = /KEY_(VALUES|TYPE)_MISMATCH/.test((error as NodeJS.ErrnoException).code ?? '');
    throw new TlsFilesError(
      isOther
        ? `the key in ${PARAMETERS.key} does not belong to the certificate in ${PARAMETERS.cert}`
        : `the file in ${PARAMETERS.key} has no private key in PEM form without a password`,
    );
  }
}

function isEqual(one: TlsMaterial, other: TlsMaterial | undefined): boolean {
  const names = Object.keys(PARAMETERS) as (keyof TlsPaths)[];
  return other !== undefined && names.every((name) => one[name]?.equals(other[name] ?? Buffer.of()) ?? true);
}

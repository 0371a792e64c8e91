import pg from 'pg';
import { TlsFiles, type TlsMaterial, takeTlsPaths } from '../tls-files.js';

type ConnectCallback = (error?: Error) => void;

/** The part of a client that its types leave out: the options for TLS, which it reads when it connects. */
interface WithTlsOptions {
  readonly connectionParameters: { readonly ssl?: TlsMaterial };
}

/**
 * Takes the files for TLS out of the URLs of a server, one for each host. The returned class gives each of its
 * connections the current files, and not only those of the start. URLs without files stay as they are, and `pg` handles
 * their other parameters.
 */
export function tlsClient(urls: readonly string[]): {
  readonly urls: readonly string[];
  readonly Client: typeof pg.Client;
} {
  const taken = urls.map(takeTlsPaths);
  const paths = taken[0]?.paths;
  if (paths === undefined) return { urls, Client: pg.Client };
  const files = new TlsFiles(paths);
  const Client = class extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: ConnectCallback): void;
    override connect(callback?: ConnectCallback): Promise<pg.Client> | undefined {
      try {
        giveFiles(this as unknown as WithTlsOptions, files.current());
      } catch (error) {
        if (callback === undefined) return Promise.reject(error);
        callback(error as Error);
        return undefined;
      }
      if (callback === undefined) return super.connect();
      super.connect(callback);
      return undefined;
    }
  };
  return { urls: taken.map(({ url }) => verifying(url)), Client };
}

/** Whoever names an authority or a certificate wants TLS with a verified server. */
function verifying(url: string): string {
  const parsed = new URL(url);
  if (!parsed.searchParams.has('sslmode')) parsed.searchParams.set('sslmode', 'verify-full');
  return parsed.toString();
}

function giveFiles({ connectionParameters: { ssl } }: WithTlsOptions, files: TlsMaterial): void {
  if (typeof ssl !== 'object') return;
  for (const [name, value] of Object.entries(files)) {
    // Not enumerable, so that a client that is printed does not show the key; `pg` copies a key that is there.
    Object.defineProperty(ssl, name, { value, configurable: true, enumerable: name !== 'key' });
  }
}

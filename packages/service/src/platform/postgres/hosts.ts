import pg from 'pg';

/** A host that does not respond to a look for this time is passed over. */
const LOOK_MS_MAX = 2_000;
/** The state of an error after which the same work may succeed later. */
const READ_ONLY = '25006';

/**
 * The hosts of a primary and its standbys. It looks for the host that can be written to, and remembers it until a
 * connection to it fails or turns out to be read-only, as after a fail-over.
 */
export class Hosts {
  readonly #urls: readonly string[];
  readonly #Client: typeof pg.Client;
  #writable: Promise<string> | undefined;
  /** The result of the look by which a client got its host. */
  readonly #lookOf = new WeakMap<object, Promise<string>>();

  /** @param Client connects to each of the hosts */
  constructor(urls: readonly string[], Client: typeof pg.Client = pg.Client) {
    this.#urls = urls;
    this.#Client = Client;
  }

  /** Returns a class for the clients of a pool, which connect to the host that can be written to. */
  clients(): typeof pg.Client {
    const hosts = this;
    return class extends this.#Client {
      override connect(): Promise<pg.Client>;
      override connect(callback: (error?: Error) => void): void;
      override connect(callback?: (error?: Error) => void): Promise<pg.Client> | undefined {
        const connected = hosts.#connect(this, async (url) => {
          const { host, port } = new pg.Client(url);
          Object.assign(this, { host, port });
          await super.connect();
        });
        if (callback === undefined) return connected.then(() => this);
        connected.then(() => callback(), callback);
        return undefined;
      }
    };
  }

  async #connect(client: pg.Client, connect: (url: string) => Promise<void>): Promise<void> {
    this.#writable ??= this.#findWritable();
    const found = this.#writable;
    this.#lookOf.set(client, found);
    try {
      await connect(await found);
    } catch (error) {
      this.forget(client);
      throw error;
    }
  }

  /** Checks a new connection. @throws Error if its server is read-only, which `isUnavailable` recognizes */
  async check(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
    if (!(await isWritable(client))) throw readOnlyError();
  }

  /** Looks for the host anew at the next connection, unless that was done since this client got its host. */
  forget(client: object): void {
    if (this.#writable === this.#lookOf.get(client)) this.#writable = undefined;
  }

  async #findWritable(): Promise<string> {
    const errors: unknown[] = [];
    for (const url of this.#urls) {
      const client = new this.#Client({
        connectionString: url,
        connectionTimeoutMillis: LOOK_MS_MAX,
        query_timeout: LOOK_MS_MAX,
      });
      // A connection that breaks between two steps would otherwise end the process.
      client.on('error', () => {});
      try {
        await client.connect();
        if (await isWritable(client)) return url;
        errors.push(readOnlyError());
      } catch (error) {
        errors.push(error);
      } finally {
        await client.end().catch(() => {});
      }
    }
    throw errors.at(-1);
  }
}

async function isWritable(client: Pick<pg.ClientBase, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  return rows[0]?.transaction_read_only === 'off';
}

function readOnlyError(): Error {
  return Object.assign(new Error('every host that responds is read-only'), { code: READ_ONLY });
}

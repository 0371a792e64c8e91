import { apiErrorOf, ConnectionError } from './errors.js';
import { Interruption } from './interruption.js';

export interface ClientOptions {
  /**
   * URL of the service, e.g. `https://usage.example.com`; a path before `/v1` is kept. In a browser it may be a path
   * alone, on the origin of the page.
   */
  readonly baseUrl: string;
  /** Omit it where `fetch` authenticates requests itself, for example with a browser's session. */
  readonly apiKey?: string;
  /** Timeout of a whole response, in milliseconds. */
  readonly timeoutMs?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Each value of a list becomes a parameter of its own. */
export type QueryValues = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The part of a list to return: `limit` entries (at most 100) after the first `offset`. */
export interface PageOptions {
  readonly limit?: number;
  readonly offset?: number;
}

export interface RequestOptions {
  readonly query?: QueryValues;
  /** JSON text of the body. */
  readonly body?: string;
  /** `Idempotency-Key`: a request that is repeated with its key is carried out once and gets the same response. */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS_DEFAULT = 30_000;
/** One slash only: two would begin with another host. */
const PATH_ALONE = /^\/(?!\/)/;

/** Sends requests as one principal and reads responses. Never retries: the caller knows whether a retry is safe. */
export class Transport {
  readonly #baseUrl: string;
  readonly #authorization: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    const { baseUrl, apiKey } = options;
    this.#baseUrl = (PATH_ALONE.test(baseUrl) ? baseUrl : new URL(baseUrl).href).replace(/\/$/, '');
    this.#authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS_DEFAULT;
    // A browser's `fetch` cannot be called as a method of another object than the window.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /**
   * @returns the parsed body of a 2xx response
   * @throws ApiError for every other response, ConnectionError when there is none, the reason of an aborted signal
   */
  async request<Answer>(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const text = await this.requestText(method, path, options);
    try {
      return (text === '' ? undefined : JSON.parse(text)) as Answer;
    } catch (error) {
      // A body that is not JSON comes from a proxy and not from the service.
      throw this.#noResponse(error);
    }
  }

  /** As `request`, with the body as text. */
  async requestText(method: string, path: string, options: RequestOptions = {}): Promise<string> {
    const interruption = new Interruption(this.#timeoutMs, options.signal);
    try {
      const response = await this.#send(method, path, options, interruption);
      const text = await this.#textOf(response, interruption);
      if (!response.ok) throw apiErrorOf(response, text);
      return text;
    } finally {
      interruption.release();
    }
  }

  /**
   * Yields the body of a 2xx response, chunk by chunk. The time until its first byte is bounded, its length is not. The
   * connection is closed when the caller stops reading.
   *
   * @throws ApiError for every other response, ConnectionError when there is none or it breaks off, the reason of an
   * aborted signal
   */
  async *stream(path: string, options: RequestOptions = {}): AsyncGenerator<Uint8Array, void> {
    const interruption = new Interruption(this.#timeoutMs, options.signal);
    try {
      const response = await this.#send('GET', path, options, interruption);
      if (!response.ok) throw apiErrorOf(response, await this.#textOf(response, interruption));
      interruption.endTimeout();
      yield* this.#chunksOf(response, interruption);
    } finally {
      interruption.release();
    }
  }

  /** Returns the URL to which a request of this path goes. */
  urlOf(path: string, query: QueryValues = {}): string {
    return `${this.#baseUrl}${path}${queryText(query)}`;
  }

  #send(
    method: string,
    path: string,
    { query, body, idempotencyKey, headers }: RequestOptions,
    interruption: Interruption,
  ): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: {
        ...this.#authorization,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      // The key must not follow a redirect to another host.
      redirect: 'error',
      signal: interruption.signal,
    };
    return this.#reading(interruption, () => this.#fetch(this.urlOf(path, query), init));
  }

  async #textOf(response: Response, interruption: Interruption): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of this.#chunksOf(response, interruption))
      text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  }

  /** Yields the body of a response, and closes the connection when it is read no further. */
  async *#chunksOf(response: Response, interruption: Interruption): AsyncGenerator<Uint8Array, void> {
    if (response.body === null) return;
    // Not every browser can iterate over a body.
    const reader = response.body.getReader();
    try {
      for (;;) {
        const { done, value } = await this.#reading(interruption, () => reader.read());
        if (done) return;
        yield value;
      }
    } finally {
      // Not awaited: it fails for a stream that broke off, and nobody reads the rest.
      void reader.cancel().catch(() => {});
    }
  }

  async #reading<T>(interruption: Interruption, read: () => Promise<T>): Promise<T> {
    try {
      return await interruption.guard(read());
    } catch (error) {
      interruption.caller?.throwIfAborted();
      throw this.#noResponse(error);
    }
  }

  #noResponse(cause: unknown): ConnectionError {
    const reason = cause instanceof Error ? reasonOf(cause) : String(cause);
    return new ConnectionError(`no response from ${this.#baseUrl}: ${reason}`, { cause });
  }
}

/**
 * Builds a path from literal segments and values; values are escaped, so that no id can change the path.
 * @throws TypeError for a value that would change it in spite of escaping
 */
export function path(literals: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: literals }, ...values.map(segmentOf));
}

/** Dots alone lead to other segments, however they are escaped. */
function segmentOf(value: string): string {
  if (value === '.' || value === '..') throw new TypeError(`${value} cannot be a segment of a path`);
  return encodeURIComponent(value);
}

function queryText(query: QueryValues): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) given.append(name, String(each));
    }
  }
  const text = given.toString();
  return text === '' ? '' : `?${text}`;
}

/** `fetch failed` alone says nothing; its cause does. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

import type { QueryValues, Transport } from './transport.js';

/** Options of every request. */
export interface CallOptions {
  /** Aborts the request: it then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a write that can be repeated safely. */
export interface WriteOptions extends CallOptions {
  /** A request that is repeated with the same key is carried out once, and every repetition gets the same response. */
  readonly idempotencyKey?: string | undefined;
}

/** Requests below one path, such as that of a project. Bodies are sent as JSON. Throws ApiError and ConnectionError. */
export class PathTransport {
  readonly #transport: Transport;
  readonly #root: string;

  constructor(transport: Transport, root: string) {
    this.#transport = transport;
    this.#root = root;
  }

  get<Answer>(rest: string, query: object = {}, options?: CallOptions): Promise<Answer> {
    return this.#transport.request('GET', this.#root + rest, { query: query as QueryValues, ...options });
  }

  /** Returns the body of the response as text, in which numbers keep every digit. */
  getText(rest: string, query: object, options?: CallOptions): Promise<string> {
    return this.#transport.requestText('GET', this.#root + rest, { query: query as QueryValues, ...options });
  }

  /** Yields the body of the response as it arrives. */
  stream(
    rest: string,
    query: object,
    options?: CallOptions & { readonly headers?: Readonly<Record<string, string>> },
  ): AsyncGenerator<Uint8Array, void> {
    return this.#transport.stream(this.#root + rest, { query: query as QueryValues, ...options });
  }

  /** Returns the URL of a request, for programs that send it themselves. */
  urlOf(rest: string, query: object): string {
    return this.#transport.urlOf(this.#root + rest, query as QueryValues);
  }

  post<Answer>(rest: string, body?: unknown, options?: WriteOptions): Promise<Answer> {
    return this.postText(rest, body === undefined ? undefined : JSON.stringify(body), options);
  }

  /** Posts a body that is JSON text already. */
  postText<Answer>(rest: string, body: string | undefined, options?: WriteOptions): Promise<Answer> {
    return this.#transport.request('POST', this.#root + rest, {
      ...(body === undefined ? {} : { body }),
      ...options,
    });
  }

  /** Posts, and returns a response of another media type than JSON. */
  postFor(mediaType: string, rest: string, body: unknown, options?: CallOptions): Promise<string> {
    return this.#transport.requestText('POST', this.#root + rest, {
      body: JSON.stringify(body),
      headers: { accept: mediaType },
      ...options,
    });
  }

  put<Answer>(rest: string, body: unknown, options?: CallOptions): Promise<Answer> {
    return this.#transport.request('PUT', this.#root + rest, { body: JSON.stringify(body), ...options });
  }

  delete<Answer = void>(rest: string, options?: WriteOptions, query: object = {}): Promise<Answer> {
    return this.#transport.request('DELETE', this.#root + rest, { query: query as QueryValues, ...options });
  }
}

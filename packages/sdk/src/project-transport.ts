import { path, type QueryValues, type Transport } from './transport.js';

/** Options of a write. */
export interface WriteOptions {
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Requests below one project. Bodies are sent as JSON. Throws ApiError and ConnectionError. */
export class ProjectTransport {
  readonly #transport: Transport;
  readonly #root: string;

  constructor(transport: Transport, projectId: string) {
    this.#transport = transport;
    this.#root = path`/v1/projects/${projectId}`;
  }

  get<Answer>(rest: string, query: object = {}): Promise<Answer> {
    return this.#transport.request('GET', this.#root + rest, { query: query as QueryValues });
  }

  /** The body of the response, chunk by chunk as it arrives. */
  stream(rest: string, query: object): AsyncGenerator<Uint8Array, void> {
    return this.#transport.stream(this.#root + rest, { query: query as QueryValues });
  }

  post<Answer>(rest: string, body?: unknown, options?: WriteOptions): Promise<Answer> {
    return this.postText(rest, body === undefined ? undefined : JSON.stringify(body), options);
  }

  /** With a body that is JSON text already. */
  postText<Answer>(rest: string, body: string | undefined, options: WriteOptions = {}): Promise<Answer> {
    return this.#transport.request('POST', this.#root + rest, {
      ...(body === undefined ? {} : { body }),
      ...options,
    });
  }

  put<Answer>(rest: string, body: unknown): Promise<Answer> {
    return this.#transport.request('PUT', this.#root + rest, { body: JSON.stringify(body) });
  }

  delete<Answer = void>(rest: string): Promise<Answer> {
    return this.#transport.request('DELETE', this.#root + rest);
  }
}

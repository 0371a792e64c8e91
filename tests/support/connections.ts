import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Request {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Whether the body is sent in chunks, without its length. */
  readonly isChunked?: boolean;
}

/** One connection to a service, which sends one request after the other; a new one when the service has closed it. */
export class Connection {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(service: { readonly url: string }) {
    this.#url = service.url;
  }

  /** Rejects when the connection breaks. */
  send(
    method: string,
    path: string,
    { key, headers = {}, body, isChunked = false }: Request = {},
  ): Promise<Response> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const fields: Record<string, string> = { ...headers };
    if (key !== undefined) fields.authorization = `Bearer ${key}`;
    if (body !== undefined) fields['content-type'] = 'application/json';
    if (isChunked) fields['transfer-encoding'] = 'chunked';
    return new Promise((resolve, reject) => {
      const sent = request(this.#url + path, { method, agent: this.#agent, headers: fields }, (response) => {
        let received = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          received += part;
        });
        response.on('error', reject).on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received });
        });
      });
      sent.on('error', reject).end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

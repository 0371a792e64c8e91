import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { App } from '../platform/http/index.js';

/** Ports of the same application. */
export interface BothWays {
  /** The application's own port, where requests may take the express lane. */
  readonly express: number;
  /** A port where every request goes to Fastify. */
  readonly fastify: number;
  close(): Promise<void>;
}

export async function listenBothWays(app: App): Promise<BothWays> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { keepAliveTimeout } = app.server;
  const around = createServer({ keepAliveTimeout, requireHostHeader: false }, (request, response) =>
    app.routing(request, response),
  );
  for (const event of ['clientError', 'checkExpectation']) {
    for (const listener of app.server.listeners(event)) around.on(event, listener as () => void);
  }
  await new Promise<void>((resolve) => around.listen(0, '127.0.0.1', resolve));
  return {
    express: (app.server.address() as AddressInfo).port,
    fastify: (around.address() as AddressInfo).port,
    async close() {
      around.closeAllConnections();
      await new Promise((resolve) => around.close(resolve));
    },
  };
}

/** A response as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** The head without the values that are always new: the date and the request's id. */
  readonly head: string;
  readonly requestId: string | undefined;
  readonly body: string;
}

/** A connection on which requests are written byte by byte. */
export class Wire {
  #received = '';
  #ended = false;
  #error: Error | undefined;
  #wake = (): void => {};

  private constructor(readonly socket: Socket) {
    socket.setEncoding('utf8').setNoDelay(true);
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#wake();
    });
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** With `allowHalfOpen`, the client does not close its side when the server has closed its own. */
  static open(port: number, { allowHalfOpen = false } = {}): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen }, () => resolve(new Wire(socket)));
      socket.once('error', reject);
    });
  }

  /** Returns the response to one request on a connection of its own. */
  static async exchange(port: number, bytes: Buffer): Promise<WireAnswer> {
    const wire = await Wire.open(port);
    await wire.write(bytes);
    const answer = await wire.answer();
    wire.socket.destroy();
    if (answer === undefined) throw new Error('the connection was closed without an answer');
    return answer;
  }

  /** The error that broke the connection, such as a reset. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Resolves once the operating system has the bytes. */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.socket.write(bytes, () => resolve()));
  }

  /** Returns the next response; undefined when the connection was closed without one. */
  async answer(): Promise<WireAnswer | undefined> {
    for (;;) {
      const answer = this.#takeAnswer();
      if (answer !== undefined || this.#ended) return answer;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Resolves when the other side has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #takeAnswer(): WireAnswer | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n') + 4;
    if (headEnd < 4) return undefined;
    const head = this.#received.slice(0, headEnd);
    const bytes = Buffer.from(this.#received.slice(headEnd));
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    if (bytes.length < length) return undefined;
    this.#received = bytes.toString('utf8', length);
    return {
      status: Number(head.slice(9, 12)),
      head: head.replaceAll(/^(date|x-request-id): .*$/gim, '$1'),
      requestId: /^x-request-id: (.*)$/im.exec(head)?.[1],
      body: bytes.toString('utf8', 0, length),
    };
  }
}

/** Sends a request both ways and returns the response. Throws unless both are the same. */
export async function sameAnswer({ express, fastify }: BothWays, bytes: Buffer): Promise<WireAnswer> {
  const answer = await Wire.exchange(express, bytes);
  const { head, body } = await Wire.exchange(fastify, bytes);
  if (answer.head !== head || answer.body !== body) {
    throw new Error(`${answer.head}${answer.body}\nis answered, but Fastify answers\n${head}${body}`);
  }
  return answer;
}

/** Returns the bytes of a POST. A header that is undefined is left out. */
export function postBytes(
  path: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: string | Buffer = '',
): Buffer {
  const all = { host: 'x', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${value}\r\n`,
  );
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), Buffer.from(body)]);
}

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';

/** A message as a receiver gets it. */
export interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** Connections that were opened, whether or not anything was sent over them. */
  readonly connections: number;
  /** Bytes received over all connections. */
  readonly bytes: number;
  /** The ids of the messages that were received, in order. */
  ids(): string[];
  close(): Promise<void>;
}

/** Responds to a message: returns a status, or responds by itself. */
export type Responder = (received: Received, response: ServerResponse) => number | undefined;

/** Starts a server on this machine that keeps the messages it receives. */
export async function startReceiver(
  answer: Responder = () => 204,
  { tls, host = '127.0.0.1' }: { tls?: { key: string; cert: string }; host?: string } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  const counts = { connections: 0, bytes: 0 };
  const listener: Parameters<typeof createServer>[1] = async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const message = { method: request.method, path: request.url, headers: request.headers, body };
    received.push(message);
    const status = answer(message, response);
    if (status !== undefined) response.writeHead(status).end();
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on('connection', (socket) => {
    counts.connections++;
    socket.on('data', (chunk: Buffer) => {
      counts.bytes += chunk.length;
    });
  });
  (server as Server).listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${shownHost}:${port}/hook`,
    port,
    received,
    get connections() {
      return counts.connections;
    },
    get bytes() {
      return counts.bytes;
    },
    ids: () => received.map(({ headers }) => String(headers['webhook-id'])),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

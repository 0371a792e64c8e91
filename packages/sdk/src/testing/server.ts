import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a test server received it. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
}

/** A real HTTP server that responds as a test decides; `destroy` cuts the connection without a response. */
export interface TestServer {
  readonly url: string;
  readonly received: Received[];
  close(): Promise<void>;
}

export async function startTestServer(
  answer: (request: Received) => Answer | 'destroy' | 'silence',
): Promise<TestServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(chunks).toString();
      received.push({ method, url, headers, body });
      const decided = answer({ method, url, headers, body });
      if (decided === 'silence') return;
      if (decided === 'destroy') {
        request.socket.destroy();
        return;
      }
      response.writeHead(decided.status, { 'content-type': 'application/json', ...decided.headers });
      response.end(typeof decided.body === 'string' ? decided.body : JSON.stringify(decided.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

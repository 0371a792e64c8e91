import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WEBHOOK_TIMEOUT_MS } from '@tollgate/contract';
import { ConnectError, type Connector, type ConnectorOptions, createConnector } from './connection.js';

/** Upper bound of the response that is read before the connection is closed; its content does not matter. */
const ANSWER_BYTES_MAX = 16 * 1_024;
const ANSWER_HEADER_BYTES_MAX = 16 * 1_024;

/** A request to post, with its destination. */
export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The result of a request: the status of the response, or why there was none. */
export type SendOutcome = { readonly status: number } | { readonly error: string };

/** Posts once; follows no redirect. Rejects only when `signal` aborts. */
export type Send = (request: PostRequest, signal: AbortSignal) => Promise<SendOutcome>;

export interface SenderOptions extends ConnectorOptions {
  /** Timeout from the look-up of the name to the end of the response. */
  readonly timeoutMs?: number;
}

/** Creates a sender that opens a connection for each attempt: see `createConnector` for the allowed addresses. */
export function createSender({ timeoutMs = WEBHOOK_TIMEOUT_MS, ...options }: SenderOptions): Send {
  const connector = createConnector(options);
  return async (request, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return { status: await post(connector, request, AbortSignal.any([signal, timeout])) };
    } catch (error) {
      signal.throwIfAborted();
      return { error: timeout.aborted ? 'timeout' : errorText(error) };
    }
  };
}

async function post(connector: Connector, request: PostRequest, signal: AbortSignal): Promise<number> {
  const url = new URL(request.url);
  const socket = await connector.open(url, signal);
  try {
    const answer = await answerTo(request, url, socket, signal);
    await readBounded(answer);
    return answer.statusCode ?? 0;
  } finally {
    socket.destroy();
  }
}

function answerTo(
  { headers, body }: PostRequest,
  url: URL,
  socket: Socket,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: {
        ...headers,
        host: url.host,
        connection: 'close',
        'content-length': Buffer.byteLength(body),
      },
      maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
      signal,
    });
    request.on('response', resolve);
    request.on('error', reject);
    // A receiver that wants another protocol has not accepted the message.
    request.on('upgrade', () => reject(new Error('upgrade')));
    request.end(body);
  });
}

/** Lets the receiver finish, within bounds. Only its status matters, so errors after it are ignored. */
async function readBounded(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      if (bytes > ANSWER_BYTES_MAX) return;
    }
  } catch {
    // The response broke off, or took too long.
  }
}

/** Returns a word for programs, and the code of the operating system or of TLS if there is one. */
function errorText(error: unknown): string {
  const [word, cause] = error instanceof ConnectError ? [error.failure, error.cause] : ['no_answer', error];
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? `${word}: ${code}` : word;
}

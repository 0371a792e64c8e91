import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WEBHOOK_TIMEOUT_MS } from '@tollgate/contract';
import { ConnectError, type Connector, type ConnectorOptions, createConnector } from './connection.js';

/** So much of an answer is read before the connection is closed; what it says does not matter. */
const ANSWER_BYTES_MAX = 16 * 1_024;
const ANSWER_HEADER_BYTES_MAX = 16 * 1_024;

/** A request to post, with its destination. */
export interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The result of posting: the status of the response, or why there was none. */
export type SendOutcome = { readonly status: number } | { readonly error: string };

/** Posts once; follows no redirect. Rejects only when `signal` aborts. */
export type Send = (posting: Posting, signal: AbortSignal) => Promise<SendOutcome>;

export interface SenderOptions extends ConnectorOptions {
  /** From the look-up of the name to the end of the answer. */
  readonly timeoutMs?: number;
}

/** Posts over connections of their own, one for each attempt: see `createConnector` for where they may lead. */
export function createSender({ timeoutMs = WEBHOOK_TIMEOUT_MS, ...options }: SenderOptions): Send {
  const connector = createConnector(options);
  return async (posting, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return { status: await post(connector, posting, AbortSignal.any([signal, timeout])) };
    } catch (error) {
      signal.throwIfAborted();
      return { error: timeout.aborted ? 'timeout' : errorText(error) };
    }
  };
}

async function post(connector: Connector, posting: Posting, signal: AbortSignal): Promise<number> {
  const url = new URL(posting.url);
  const socket = await connector.open(url, signal);
  try {
    const answer = await answerTo(posting, url, socket, signal);
    await readBounded(answer);
    return answer.statusCode ?? 0;
  } finally {
    socket.destroy();
  }
}

function answerTo(
  { headers, body }: Posting,
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
    // A receiver that wants another protocol has not taken the message.
    request.on('upgrade', () => reject(new Error('upgrade')));
    request.end(body);
  });
}

/** Lets the receiver finish, within bounds. Its status is its answer: what becomes of the rest does not matter. */
async function readBounded(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      if (bytes > ANSWER_BYTES_MAX) return;
    }
  } catch {
    // It broke off, or took too long.
  }
}

/** A word for programs, and the code of the operating system or of TLS where there is one. */
function errorText(error: unknown): string {
  const [word, cause] = error instanceof ConnectError ? [error.failure, error.cause] : ['no_answer', error];
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? `${word}: ${code}` : word;
}

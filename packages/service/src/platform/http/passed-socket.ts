import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** The process at the other end of a channel: a child, or for a child the process that started it. */
export type Peer = Partial<Pick<ChildProcess, 'send'>>;

/** The message that comes with a passed connection. */
export interface PassedConnection {
  readonly kind: 'connection';
  /** Bytes that were read from the connection and got no response. */
  readonly bytes: Uint8Array;
}

/** A client that does not read the responses that it has is not waited for any longer. */
const UNSENT_MS_MAX = 5_000;
const NOTHING = Buffer.alloc(0);

/** The part of a peer for which Node has no public name: the connection that the peer has not confirmed. */
interface Unconfirmed {
  readonly _pendingMessage?: { readonly handle: { close(): void } } | null;
}

/** The parts of a socket for which Node has no public name. */
interface Insides {
  readonly _handle: { reading: boolean; readStop(): number } | null;
  server?: unknown;
}

/**
 * Gives a connection to another process, after the responses that were written to it. The socket closes here when the
 * other process has it, and when it could not be passed, with the connection.
 */
export function passSocket(peer: Peer, socket: Socket): void {
  const bytes = stopReading(socket);
  // Node would count the connection as one of its server, which never closes if the other process ends first.
  (socket as unknown as Insides).server = undefined;
  const send = () => {
    const message: PassedConnection = { kind: 'connection', bytes };
    peer.send?.(message, socket, {}, () => socket.destroy());
  };
  socket.on('error', () => {});
  if (socket.writableLength === 0) {
    send();
    return;
  }
  socket.setTimeout(UNSENT_MS_MAX, () => socket.destroy());
  socket.write(NOTHING, (error) => {
    if (!error && !socket.destroyed) send();
  });
}

/**
 * Closes the connection that was sent to a process and never received, because the process has ended. Node would wait
 * for the confirmation for ever, with the connection open, and so would the client.
 */
export function closeUnconfirmed(peer: Peer): void {
  (peer as Unconfirmed)._pendingMessage?.handle.close();
}

/** Prepares a connection that another process has passed: its bytes are read again. */
export function takeSocket({ bytes }: PassedConnection, socket: Socket): void {
  // As on connections of Node's server: a client may end its side before it has the response.
  socket.allowHalfOpen = true;
  if (bytes.length > 0) socket.unshift(bytes);
}

/**
 * Stops reading and returns what was read. A paused socket goes on reading until its buffer is full, and what it reads
 * once its handle is sent is lost.
 */
function stopReading(socket: Socket): Buffer {
  const bytes: Buffer | null = socket.read();
  const { _handle: handle } = socket as unknown as Insides;
  if (handle !== null) {
    handle.reading = false;
    handle.readStop();
  }
  return bytes ?? NOTHING;
}

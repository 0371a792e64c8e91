import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A client that takes nothing of its response for so long is not waited for any longer. */
const UNREAD_MS_MAX = 60_000;
/**
 * Upper bound of the bytes of all responses that clients have not taken yet. Beyond it, the connections end whose
 * clients have taken nothing for the longest time.
 */
export const UNREAD_BYTES_MAX = 256 * 1_048_576;
const CHECK_INTERVAL_MS = 1_000;

/** The parts of a socket for which Node has no public name. */
interface WritingHandle {
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

interface Unread {
  readonly socket: Socket;
  /** Bytes that the operating system has taken so far. */
  readonly takenBytes: number;
  readonly sinceMs: number;
  /** Whether it has taken nothing between two checks. */
  isStalled: boolean;
}

/**
 * Ends the connections of clients that do not read their responses: each holds its response in memory, and its place
 * among the connections, for as long as the client likes.
 */
export class UnreadResponses {
  readonly #open: ReadonlySet<Socket>;
  readonly #nowMs: () => number;
  readonly #onStalled: (socket: Socket) => void;
  #unread = new Map<Socket, Unread>();

  /**
   * @param nowMs a clock that never goes back
   * @param onStalled called when a client has stopped reading its response
   */
  constructor(open: ReadonlySet<Socket>, nowMs: () => number, onStalled: (socket: Socket) => void) {
    this.#open = open;
    this.#nowMs = nowMs;
    this.#onStalled = onStalled;
  }

  /** Checks now and then, until the returned function is called. */
  start(): () => void {
    const timer = setInterval(() => this.check(), CHECK_INTERVAL_MS).unref();
    return () => clearInterval(timer);
  }

  check(): void {
    const nowMs = this.#nowMs();
    const unread = new Map<Socket, Unread>();
    let bytes = 0;
    for (const socket of this.#open) {
      if (socket.writableLength === 0) continue;
      const takenBytes = takenBytesOf(socket);
      const before = this.#unread.get(socket);
      const isStill = before?.takenBytes === takenBytes;
      const now = isStill ? before : { socket, takenBytes, sinceMs: nowMs, isStalled: false };
      if (nowMs - now.sinceMs >= UNREAD_MS_MAX) {
        socket.destroy();
        continue;
      }
      if (isStill && !now.isStalled) {
        now.isStalled = true;
        this.#onStalled(socket);
      }
      unread.set(socket, now);
      bytes += socket.writableLength;
    }
    this.#unread = unread;
    if (bytes > UNREAD_BYTES_MAX) this.#makeRoom(bytes - UNREAD_BYTES_MAX);
  }

  #makeRoom(bytes: number): void {
    let left = bytes;
    for (const { socket } of [...this.#unread.values()].sort((a, b) => a.sinceMs - b.sinceMs)) {
      if (left <= 0) return;
      left -= socket.writableLength;
      this.#unread.delete(socket);
      socket.destroy();
    }
  }
}

function takenBytesOf(socket: Socket): number {
  const { _handle: handle } = socket as WritingHandle;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/**
 * Whether the response may be sent now: then all earlier requests of its connection have been answered, and their
 * responses were taken by the client. Node hands over all requests that arrive in one packet at once. If all began at
 * once, their responses would wait in memory, because the client gets them in order: a thousand requests of a few bytes
 * each could hold a gigabyte, and keep the event loop from everybody else.
 */
export function hasTurn(response: ServerResponse): boolean {
  return response.socket !== null;
}

/** Calls `begin` when it is the response's turn; never if the connection closes before. */
export function atTurn(response: ServerResponse, begin: () => void): void {
  response.once('socket', begin);
}

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Upper bound of the time for which the client may keep its side of an ended connection open. */
const LINGER_MS_MAX = 1_000;
/** A client that reads nothing of its response for so long is not waited for any longer. */
const UNREAD_MS_MAX = 60_000;

/**
 * Ends a connection without resetting it: closes this side after the bytes that were written, then reads and drops what
 * the client had sent before it noticed, until the client closes its side too. A socket that is destroyed resets the
 * connection when such bytes arrive, and the client may lose the response before them (RFC 9112 section 9.6).
 */
export function endConnection(socket: Socket): void {
  if (socket.writableEnded) return;
  const destroy = () => void socket.destroy();
  socket.setTimeout(UNREAD_MS_MAX, destroy);
  socket.once('finish', () => {
    const timer = setTimeout(destroy, LINGER_MS_MAX);
    socket.once('close', () => clearTimeout(timer));
  });
  socket.end();
  socket.resume();
}

/**
 * Makes `closeIdleConnections` of a server end them by `endConnection`. Only Node knows which connections are idle, and
 * it destroys them.
 *
 * @param open all connections of the server, as they are at the time of each call
 */
export function endIdleConnections(server: Server, open: Iterable<Socket>): void {
  const destroyIdle = server.closeIdleConnections;
  server.closeIdleConnections = () => {
    for (const socket of open) {
      socket.destroy = () => {
        endConnection(socket);
        return socket;
      };
    }
    try {
      destroyIdle.call(server);
    } finally {
      for (const socket of open) delete (socket as Partial<Socket>).destroy;
    }
  };
}

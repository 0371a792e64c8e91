import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../log/index.js';
import { addReadGauge, Counter, type Metrics } from '../metrics/index.js';
import { endIdleConnections } from './connection-end.js';
import { UnreadResponses } from './unread-responses.js';

/** Number of connections beyond the limit that receive a 503 at once; any further one is closed without a response. */
export const SURPLUS_CONNECTIONS_MAX = 32;
/** Upper bound of the lifetime of a surplus connection. */
const SURPLUS_MS_MAX = 5_000;
const LOG_INTERVAL_MS = 60_000;

export interface ConnectionLimitOptions {
  /** Upper bound of the open connections. */
  readonly connectionsMax: number;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Metrics;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
}

/**
 * Bounds the connections of a server, so that clients never take the file descriptors that the stores need.
 * At the limit, a new connection takes the place of the one that has waited longest for its client. If none waits, it
 * gets one response, which says that the server is busy; requests for its health are still served.
 */
export class ConnectionLimit {
  readonly #surplus = new WeakSet<Socket>();
  readonly #options: ConnectionLimitOptions;
  readonly #nowMs: () => number;
  readonly #refusals: Counter;
  readonly #ended: Counter;
  readonly #open = new Set<Socket>();
  /** Connections that wait for their client to send or to read, the one that waits longest first. */
  readonly #waiting = new Set<Socket>();
  #unlogged = 0;
  #nextLogMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    const { metrics } = options;
    addReadGauge(metrics, 'tollgate_http_connections', 'Open HTTP connections.', () => this.#open.size);
    this.#refusals = new Counter({
      name: 'tollgate_http_connections_refused_total',
      help: 'HTTP connections refused because the maximum number was open.',
      registers: [metrics],
    });
    this.#ended = new Counter({
      name: 'tollgate_http_connections_ended_total',
      help: 'HTTP connections that waited for their client and were closed to make room for new ones.',
      registers: [metrics],
    });
  }

  /**
   * Notes that the client of a connection waits for the service now, and no longer the other way round. Such a
   * connection never gives way to a new one.
   */
  readonly begun = (socket: Socket): void => {
    this.#waiting.delete(socket);
  };

  /** Notes that a connection waits for its client from now on. */
  readonly answered = (socket: Socket): void => {
    if (!this.#open.has(socket)) return;
    this.#waiting.delete(socket);
    this.#waiting.add(socket);
  };

  /**
   * Makes the server close connections beyond the surplus, without a response, and end idle ones by `endConnection`.
   * Call it before the server listens.
   */
  guard(server: Server): void {
    server.maxConnections = this.#options.connectionsMax + SURPLUS_CONNECTIONS_MAX;
    server.on('drop', () => this.#refused());
    endIdleConnections(server, this.#open);
    server.once('close', new UnreadResponses(this.#open, this.#nowMs, this.answered).start());
  }

  /**
   * Counts a new connection until it is closed. Returns false for one beyond the surplus, which another process passed,
   * and closes it.
   */
  admit(socket: Socket): boolean {
    if (this.#open.size >= this.#options.connectionsMax) this.#giveWay();
    if (this.#open.size >= this.#options.connectionsMax + SURPLUS_CONNECTIONS_MAX) {
      this.#refused();
      socket.destroy();
      return false;
    }
    this.#open.add(socket);
    this.#waiting.add(socket);
    socket.once('close', () => this.#forget(socket));
    if (this.#open.size <= this.#options.connectionsMax) return true;
    this.#surplus.add(socket);
    const timer = setTimeout(() => socket.destroy(), SURPLUS_MS_MAX);
    socket.once('close', () => clearTimeout(timer));
    this.#refused();
    return true;
  }

  /** Resolves when all connections are closed. */
  async closed(): Promise<void> {
    await Promise.all(
      [...this.#open].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
  }

  /** Closes all connections at once. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Whether the connection is above the limit: it gets one response. */
  isSurplus(socket: Socket): boolean {
    return this.#surplus.has(socket);
  }

  /**
   * Closes the connection that has waited longest for its client. Everybody can open connections and send nothing, or
   * half a request: these must not keep out clients that do send.
   */
  #giveWay(): void {
    const [longest] = this.#waiting;
    if (longest === undefined) return;
    this.#forget(longest);
    this.#ended.inc();
    longest.destroy();
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket);
    this.#waiting.delete(socket);
  }

  /** Logs one line a minute, with the number of refused connections since the last one. */
  #refused(): void {
    this.#refusals.inc();
    const nowMs = this.#nowMs();
    if (nowMs < this.#nextLogMs) {
      this.#unlogged += 1;
      return;
    }
    const { log, connectionsMax } = this.#options;
    log.warn(
      { connectionsMax, unlogged: this.#unlogged },
      'a connection was refused: the limit of open files allows no more',
    );
    this.#nextLogMs = nowMs + LOG_INTERVAL_MS;
    this.#unlogged = 0;
  }
}

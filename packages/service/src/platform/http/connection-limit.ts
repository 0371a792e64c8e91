import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../log/index.js';
import { addReadGauge, Counter, type Metrics } from '../metrics/index.js';
import { endIdleConnections } from './connection-end.js';

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
 * A connection above the limit gets one response, which says that the server is busy; requests for its health are
 * still served.
 */
export class ConnectionLimit {
  readonly #surplus = new WeakSet<Socket>();
  readonly #options: ConnectionLimitOptions;
  readonly #nowMs: () => number;
  readonly #refusals: Counter;
  readonly #open = new Set<Socket>();
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
  }

  /**
   * Makes the server close connections beyond the surplus, without a response, and end idle ones by `endConnection`.
   * Call it before the server listens.
   */
  guard(server: Server): void {
    server.maxConnections = this.#options.connectionsMax + SURPLUS_CONNECTIONS_MAX;
    server.on('drop', () => this.#refused());
    endIdleConnections(server, this.#open);
  }

  /**
   * Counts a new connection until it is closed. Returns false for one beyond the surplus, which another process passed,
   * and closes it.
   */
  admit(socket: Socket): boolean {
    if (this.#open.size >= this.#options.connectionsMax + SURPLUS_CONNECTIONS_MAX) {
      this.#refused();
      socket.destroy();
      return false;
    }
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
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

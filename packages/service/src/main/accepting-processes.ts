import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../platform/log/index.js';
import { lastingCounts, type Metrics, type MetricValues, mergeMetrics } from '../platform/metrics/index.js';
import { endsWithin, unlessAborted } from '../platform/wait.js';
import { AcceptingHost, type AcceptingHostEvents, type AcceptingHostOptions } from './accepting-host.js';
import type { AcceptingData } from './accepting-protocol.js';

/** A process that ended is started again after this time, and after twice as long each time that it never got ready. */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 30_000;
/** The start of the service waits no longer than this for processes that hang. */
const START_MS_MAX = 10_000;

export interface AcceptingOptions {
  readonly data: AcceptingData;
  readonly log: Pick<Logger, 'warn'>;
  /** The id of this process: the names of connections to PostgreSQL end with it, see `ProcessLeases`. */
  readonly owner: string;
  /** Ends the connections with a name, so that no statement of a lost process can take effect later. */
  readonly endConnections: (applicationName: string) => Promise<void>;
  /** Called when events were accepted. */
  readonly onAppended: () => void;
  readonly program?: AcceptingHostOptions['program'];
  readonly nowMs?: AcceptingHostOptions['nowMs'];
  /** For tests: how long `start` waits; default 10 s. */
  readonly startMsMax?: number | undefined;
}

/** The processes that accept events for this one. While one of them is away, the others take its connections. */
export class AcceptingProcesses {
  readonly #options: AcceptingOptions;
  readonly #stopping = new AbortController();
  /** The process of each number that runs now. */
  readonly #hosts = new Map<number, AcceptingHost>();
  #running: Promise<unknown> | undefined;
  /** The counts of the processes of each number that have ended. */
  readonly #counts = new Map<number, MetricValues>();
  #isDraining = false;
  #turn = 0;

  constructor(options: AcceptingOptions) {
    this.#options = options;
  }

  /**
   * Starts the processes. Resolves when each accepts events, or has ended and is going to be started again, and at the
   * latest after a time limit: the main process can serve alone meanwhile.
   *
   * @throws the reason of `signal` when it aborts first
   */
  async start(onConnection: AcceptingHostEvents['onConnection'], signal?: AbortSignal): Promise<void> {
    const { log, startMsMax = START_MS_MAX } = this.#options;
    const numbers = Array.from({ length: this.#options.data.processes }, (_, index) => index + 1);
    this.#running = Promise.all(numbers.map((number) => this.#keep(number, onConnection)));
    const started = Promise.all([...this.#hosts.values()].map((host) => host.started));
    if (!(await endsWithin(unlessAborted(started, signal), startMsMax))) {
      log.warn({ startMsMax }, 'accepting processes are not ready yet; the main process serves meanwhile');
    }
  }

  /** Gives a new connection to the next process that can take it; returns false when none can. */
  passOn(socket: Socket): boolean {
    const { processes } = this.#options.data;
    for (let tried = 0; tried < processes; tried += 1) {
      this.#turn = (this.#turn % processes) + 1;
      if (this.#hosts.get(this.#turn)?.take(socket) === true) return true;
    }
    return false;
  }

  /** @throws Error while a process is away or hangs */
  check(): void {
    const { processes } = this.#options.data;
    const ready = [...this.#hosts.values()].filter(({ isReady }) => isReady).length;
    if (ready < processes) throw new Error(`${ready} of ${processes} accepting processes run`);
  }

  /** Returns the metrics of all processes together. */
  async metricsText(own: Metrics): Promise<string> {
    // Both in one turn: a process that ends meanwhile is in one of them only.
    const counts = [...this.#counts.values()];
    const others = [...this.#hosts.values()].map((host) => host.metrics());
    const [ofMain, ...ofOthers] = await Promise.all([own.getMetricsAsJSON(), ...others]);
    return mergeMetrics([ofMain, ...ofOthers, ...counts]).metrics();
  }

  /** Lets the processes end each connection after its next response; they still take new ones. */
  drain(): void {
    this.#isDraining = true;
    for (const host of this.#hosts.values()) host.drain();
  }

  /** Ends the processes after the requests that they have; other connections that are in use come back. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#hosts.values()].map((host) => host.stop()));
    await this.#running;
  }

  /** Runs the process with a number, again and again, until all are stopped. */
  async #keep(number: number, onConnection: AcceptingHostEvents['onConnection']): Promise<void> {
    const { data, log, owner, onAppended, ...options } = this.#options;
    const applicationName = `tollgate accept ${number} ${owner}`;
    let pauseMs = PAUSE_MS_MIN;
    while (!this.#stopping.signal.aborted) {
      const start = { kind: 'start', data, number, applicationName } as const;
      const host = new AcceptingHost(start, { onAppended, onConnection }, options);
      this.#hosts.set(number, host);
      if (this.#isDraining) host.drain();
      const reason = await host.ended;
      const ofEnded = [this.#counts.get(number) ?? [], lastingCounts(host.latestMetrics)];
      const counts = await mergeMetrics(ofEnded).getMetricsAsJSON();
      // Both in one turn: the counts of a process are never missing and never there twice.
      this.#counts.set(number, counts);
      this.#hosts.delete(number);
      if (this.#stopping.signal.aborted) return;
      log.warn({ process: number, reason }, 'an accepting process ended; it is started again');
      pauseMs = host.wasReady ? PAUSE_MS_MIN : Math.min(PAUSE_MS_MAX, 2 * pauseMs);
      await this.#pause(pauseMs, applicationName);
    }
  }

  /** Waits before a process is started again, until its earlier connections have ended. */
  async #pause(pauseMs: number, applicationName: string): Promise<void> {
    const { signal } = this.#stopping;
    for (let haveEnded = false; !haveEnded && !signal.aborted; ) {
      await delay(pauseMs, undefined, { signal }).catch(() => {});
      try {
        await this.#options.endConnections(applicationName);
        haveEnded = true;
      } catch (error) {
        this.#options.log.warn(
          { err: error },
          'the connections of an accepting process that ended could not be ended',
        );
      }
    }
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { closeUnconfirmed, type PassedConnection, passSocket } from '../platform/http/index.js';
import type { MetricValues } from '../platform/metrics/index.js';
import { endsWithin } from '../platform/wait.js';
import type { FromAccepting, ToAccepting } from './accepting-protocol.js';

export interface AcceptingHostOptions {
  readonly program?: URL | undefined;
  /** A clock that never goes back. */
  readonly nowMs?: (() => number) | undefined;
}

export interface AcceptingHostEvents {
  readonly onAppended: () => void;
  /** Called with a connection that carries something other than plain ingest requests. */
  readonly onConnection: (passed: PassedConnection, socket: Socket) => void;
}

const PROGRAM = new URL('./accepting-process.js', import.meta.url);
/**
 * Upper bound of the connections that wait for their way to one process, which may hang; beyond it others take them.
 * Each keeps a file open here.
 */
export const PASSED_MAX = 32;
/** A process that takes longer to report its metrics counts with the previous ones. */
const METRICS_MS_MAX = 1_000;
/** A process that leaves a connection or a request for its metrics without an answer for longer counts as hung. */
const SILENCE_MS_MAX = 5_000;
/** A process that takes longer to stop is killed. */
const STOP_MS_MAX = 3_000;

/** An accepting process, seen from the main process. */
export class AcceptingHost {
  /** Resolves when the process accepts events, or has ended. */
  readonly started: Promise<void>;
  /** Resolves with the reason. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #nowMs: () => number;
  /** The connections on their way, the longest first, with the time since when. */
  readonly #passed = new Map<Socket, number>();
  /** The time of the first request for metrics that has no answer. */
  #askedMs: number | undefined;
  #isReady = false;
  #wasReady = false;
  #isStopping = false;
  #latestMetrics: MetricValues = [];
  #onMetrics: (() => void) | undefined;
  #measuring: Promise<unknown> | undefined;

  constructor(
    start: Extract<ToAccepting, { kind: 'start' }>,
    events: AcceptingHostEvents,
    { program = PROGRAM, nowMs = () => performance.now() }: AcceptingHostOptions = {},
  ) {
    this.#nowMs = nowMs;
    this.#child = fork(fileURLToPath(program), [], { serialization: 'advanced' });
    let onReady = () => {};
    const ready = new Promise<void>((resolve) => {
      onReady = resolve;
    });
    this.#child.on('message', (message: FromAccepting, socket?: Socket) => {
      if (message.kind === 'appended') events.onAppended();
      else if (message.kind === 'connection') {
        // The client may have left meanwhile; then there is a message without a socket.
        if (socket !== undefined) events.onConnection(message, socket);
      } else if (message.kind === 'metrics') {
        this.#askedMs = undefined;
        this.#latestMetrics = message.metrics;
        this.#onMetrics?.();
      } else {
        // A process that is told to stop before it is ready still says that it is.
        this.#isReady = !this.#isStopping;
        this.#wasReady = true;
        onReady();
      }
    });
    this.#child.once('disconnect', () => {
      this.#isReady = false;
    });
    this.ended = this.#endOf(this.#child);
    this.started = Promise.race([ready, this.ended.then(() => {})]);
    this.#send(start);
  }

  /** Whether the process accepts events, and does not hang. */
  get isReady(): boolean {
    const [passedMs = Number.POSITIVE_INFINITY] = this.#passed.values();
    const silentMs = this.#nowMs() - Math.min(passedMs, this.#askedMs ?? passedMs);
    return this.#isReady && silentMs <= SILENCE_MS_MAX;
  }

  /** Whether the process ever accepted events. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** The metrics as last asked for. */
  get latestMetrics(): MetricValues {
    return this.#latestMetrics;
  }

  /** Gives a connection to the process; returns false when it cannot take it now. */
  take(socket: Socket): boolean {
    if (!this.isReady || this.#passed.size >= PASSED_MAX) return false;
    this.#passed.set(socket, this.#nowMs());
    socket.once('close', () => this.#passed.delete(socket));
    passSocket(this.#child, socket);
    return true;
  }

  async metrics(): Promise<MetricValues> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined;
    });
    await this.#measuring;
    return this.#latestMetrics;
  }

  /** Lets the process end each connection after its next response; it still takes new ones. */
  drain(): void {
    this.#send({ kind: 'drain' });
  }

  /** Ends the process after the requests that it has. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#isReady = false;
    this.#send({ kind: 'stop' });
    if (!(await endsWithin(this.ended, STOP_MS_MAX))) this.#child.kill('SIGKILL');
    await this.ended;
  }

  async #measure(): Promise<void> {
    if (!this.isReady) return;
    this.#askedMs ??= this.#nowMs();
    const measured = new Promise<void>((resolve) => {
      this.#onMetrics = resolve;
    });
    this.#send({ kind: 'metrics' });
    await endsWithin(Promise.race([measured, this.ended]), METRICS_MS_MAX);
  }

  #endOf(child: ChildProcess): Promise<string> {
    return new Promise((resolve) => {
      const end = (reason: string) => {
        this.#isReady = false;
        closeUnconfirmed(child);
        for (const socket of this.#passed.keys()) socket.destroy();
        resolve(reason);
      };
      child.once('exit', (code, signal) => end(`it ended with ${signal ?? code}`));
      child.on('error', (error) => {
        // Without a process id it could not be started, and there is no exit.
        if (child.pid === undefined) end(error.message);
      });
    });
  }

  #send(message: ToAccepting): void {
    this.#child.send(message, undefined, {}, () => {});
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import type { SampleProject } from './sample-project.js';

const PROGRAM = fileURLToPath(new URL('load-clients.mjs', import.meta.url));
/** Upper bound of the time without a 202, for a busy machine. */
const OUTAGE_MS_MAX = 90_000;

export interface LoadOptions {
  readonly url: string;
  readonly projects: readonly SampleProject[];
  readonly clients: number;
  /** Pause of a client after each request. */
  readonly pauseMs: number;
  /** The time of all events, in Unix seconds. */
  readonly occurredAt: number;
}

interface LoadCounts {
  readonly requests: number;
  readonly events: number;
  /** Accepted requests that were sent once more. */
  readonly repeats: number;
  /** Requests without a response, or with a 5xx; each was sent again. */
  readonly failures: number;
}

/** An event with a 202. */
export type AcknowledgedEvent = readonly [idempotencyKey: string, id: string, tokens: number];

export interface LoadResult extends LoadCounts {
  /** The failures by their reason. */
  readonly retries: Readonly<Record<string, number>>;
  /** Refused requests, and repeated ones that got other ids. */
  readonly problems: readonly string[];
  /** In the order of the projects. */
  readonly acknowledged: readonly (readonly AcknowledgedEvent[])[];
}

/** The clients of load-clients.mjs, in a process of their own. */
export class LoadProcess {
  readonly #child: ChildProcess;
  readonly #clients: number;
  #counts: LoadCounts = { requests: 0, events: 0, repeats: 0, failures: 0 };
  #result: LoadResult | undefined;

  constructor(options: LoadOptions) {
    this.#clients = options.clients;
    this.#child = fork(PROGRAM, { execArgv: [] });
    this.#child.on('message', (message: LoadCounts | LoadResult) => {
      this.#counts = message;
      if ('acknowledged' in message) this.#result = message;
    });
    this.#child.send(options);
  }

  get counts(): LoadCounts {
    return this.#counts;
  }

  /** Waits until a request that was sent after the call, and so many more, have got a 202. */
  async goOn(requests = 1): Promise<void> {
    // Each client has at most one request under way.
    const goal = this.#counts.requests + this.#clients + requests;
    await waitFor(() => this.#counts.requests >= goal, {
      timeoutMs: OUTAGE_MS_MAX,
      what: `${requests} accepted requests`,
    });
  }

  /** Waits until every request under way has its 202, and ends the process. */
  async finish(): Promise<LoadResult> {
    this.#child.send('stop');
    await waitFor(() => this.#result !== undefined, {
      timeoutMs: OUTAGE_MS_MAX,
      what: 'the end of the load',
    });
    return this.#result as LoadResult;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

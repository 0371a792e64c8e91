import type { ReadinessProblem, ReadinessReport } from '@tollgate/contract';
import { FlightCache } from '../flight-cache.js';
import { resultWithin } from '../wait.js';

/** A check of `/readyz`: throws (or rejects) when a part does not work. It may stop when the signal aborts. */
export type ReadinessCheck = (signal: AbortSignal) => void | Promise<void>;

export interface ReadinessCheckOptions {
  /** Whether work cannot be accepted without the part; a part that is not needed is only reported. */
  readonly isNeeded?: boolean;
}

export interface ReadinessOptions {
  /** Called when a check starts to fail, or fails for another reason than before. */
  readonly onFailure?: (name: string, error: unknown) => void;
  /** Called when a check that failed works again. */
  readonly onRecovery?: (name: string) => void;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
}

/** A check that takes longer counts as failed. */
const READINESS_CHECK_MS_MAX = 2_000;
/**
 * Lower bound of the time between two runs of the checks, however many requests arrive: the checks write to disk, and
 * anybody may request them.
 */
const REPORT_AGE_MS_MAX = 1_000;

interface Part {
  readonly name: string;
  readonly isNeeded: boolean;
  /** Resolves to undefined when the part works. */
  readonly findProblem: () => Promise<ReadinessProblem | undefined>;
}

/** Whether the service can accept work: all parts that it needs work, and it neither drains nor shuts down. */
export class Readiness {
  readonly #parts: Part[] = [];
  readonly #reports: FlightCache<ReadinessReport>;
  readonly #onFailure: (name: string, error: unknown) => void;
  readonly #onRecovery: (name: string) => void;
  #draining = false;
  #shuttingDown = false;

  constructor({ onFailure, onRecovery, nowMs = () => performance.now() }: ReadinessOptions = {}) {
    this.#onFailure = onFailure ?? (() => {});
    this.#onRecovery = onRecovery ?? (() => {});
    this.#reports = new FlightCache({
      lookUp: () => this.#runChecks(),
      ageMsMax: REPORT_AGE_MS_MAX,
      entriesMax: 1,
      nowMs,
    });
  }

  add(name: string, check: ReadinessCheck, { isNeeded = true }: ReadinessCheckOptions = {}): void {
    const run = oneAtOnce(check);
    let known: ReadinessProblem | undefined;
    const findProblem = async () => {
      const before = known;
      try {
        await withinTime(run);
        known = undefined;
        if (before !== undefined) this.#onRecovery(name);
      } catch (error) {
        known = problemOf(error);
        if (before !== known) this.#onFailure(name, error);
      }
      return known;
    };
    this.#parts.push({ name, isNeeded, findProblem });
  }

  /**
   * Call it some time before `beginShutdown`, so that load balancers stop sending requests here: from this moment the
   * service is not ready. It serves requests, and closes each connection after its next response.
   */
  beginDrain(): void {
    this.#draining = true;
  }

  /** Call it first at shutdown: from this moment the service is not ready and accepts no new request. */
  beginShutdown(): void {
    this.#draining = true;
    this.#shuttingDown = true;
  }

  /** Whether each connection ends after its next response: during a drain and during shutdown. */
  get draining(): boolean {
    return this.#draining;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** Returns the report, at most a second old. */
  async report(): Promise<ReadinessReport> {
    if (this.#draining) return { ready: false, checks: {} };
    const report = await this.#reports.get('');
    return { ...report, ready: report.ready && !this.#draining };
  }

  async #runChecks(): Promise<ReadinessReport> {
    const results = await Promise.all(
      this.#parts.map(async ({ name, isNeeded, findProblem }) => ({
        name,
        isNeeded,
        problem: await findProblem(),
      })),
    );
    const failed = results.filter(({ problem }) => problem !== undefined);
    return {
      ready: !failed.some(({ isNeeded }) => isNeeded),
      checks: Object.fromEntries(
        results.map(({ name, problem }) => [name, problem === undefined ? 'ok' : 'failed'] as const),
      ),
      ...(failed.length > 0 && {
        problems: Object.fromEntries(failed.map(({ name, problem }) => [name, problem as ReadinessProblem])),
      }),
    };
  }
}

/** Runs a check one at a time: one that does not end is not started again with each request. */
function oneAtOnce(check: ReadinessCheck): (signal: AbortSignal) => Promise<void> {
  let running: Promise<void> | undefined;
  return (signal) => {
    running ??= Promise.resolve(signal)
      .then(check)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
}

async function withinTime(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const abort = new AbortController();
  await resultWithin(run(abort.signal), READINESS_CHECK_MS_MAX, () => {
    const error = new CheckTimeoutError();
    abort.abort(error);
    return error;
  });
}

class CheckTimeoutError extends Error {
  override readonly name = 'CheckTimeoutError';

  constructor() {
    super(`no answer within ${READINESS_CHECK_MS_MAX} ms`);
  }
}

/** Codes of the operating system, SQLSTATE codes of PostgreSQL, codes of ClickHouse, and those of this service. */
const PROBLEM_OF_CODE = new Map<unknown, ReadinessProblem>([
  ['ENOSPC', 'disk_full'],
  ['EDQUOT', 'disk_full'],
  ['53100', 'disk_full'],
  ['EROFS', 'read_only'],
  ['EACCES', 'read_only'],
  ['EPERM', 'read_only'],
  ['25006', 'read_only'],
  ['42P01', 'missing_tables'], // undefined_table
  ['60', 'missing_tables'], // UNKNOWN_TABLE
  ['81', 'missing_tables'], // UNKNOWN_DATABASE
  ['57014', 'timeout'], // query_canceled, by its statement_timeout
  ['rebuilding', 'rebuilding'],
  ['stores_differ', 'stores_differ'],
]);

function problemOf(error: unknown): ReadinessProblem {
  if (error instanceof CheckTimeoutError) return 'timeout';
  if (!(error instanceof Error)) return 'unavailable';
  const problem = PROBLEM_OF_CODE.get((error as { code?: unknown }).code);
  return problem ?? (error.cause === undefined ? 'unavailable' : problemOf(error.cause));
}

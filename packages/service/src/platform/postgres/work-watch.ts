import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.js';
import { pause, retryPauseMs } from '../wakeup.js';
import type { Postgres } from './connect.js';

/** Work that this process or another one writes to the database. */
export interface AwaitedWork {
  /** A subquery: when the earliest work is due, in milliseconds since the Unix epoch; null when there is none. */
  readonly dueAtMs: RawBuilder<number | null>;
  /** Upper bound of the time until `onDue` is called, after work is in the database and due. */
  readonly lookMs: number;
  /** Called when work is due, and again after each `lookMs` while it is not done. */
  readonly onDue: () => void;
}

/** The result of a subquery whose work is due now if there is any row. */
export const DUE_NOW = sql<number>`0`;

/**
 * Looks that are due within this time are made together: one statement every 200 ms costs less than nine statements at
 * different intervals.
 */
const TOGETHER_MS = 100;
/** Lower bound of a wait, for work that is due in less than a millisecond. */
const WAIT_MS_MIN = 5;

interface Watched extends AwaitedWork {
  /** In milliseconds of `performance.now()`, which changes of the system time do not affect. */
  nextLookMs: number;
}

/**
 * Looks for the work of all jobs of a process with one statement, so that the jobs need not poll. Unlike LISTEN, it
 * works with every pooler, and it also finds work that becomes due at a time.
 */
export class WorkWatch {
  readonly #postgres: Pick<Postgres, 'db'>;
  readonly #clock: Clock;
  readonly #log: { warn(details: object, message: string): void };
  readonly #watched: Watched[] = [];

  constructor(options: {
    readonly postgres: Pick<Postgres, 'db'>;
    readonly clock: Clock;
    readonly log: { warn(details: object, message: string): void };
  }) {
    this.#postgres = options.postgres;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /**
   * Adds work to look for; call it before `run`.
   * @returns a function that postpones the next look by `lookMs`; call it when the job was notified in another way
   */
  add(work: AwaitedWork): () => void {
    const watched = { ...work, nextLookMs: 0 };
    this.#watched.push(watched);
    return () => {
      watched.nextLookMs = performance.now() + watched.lookMs;
    };
  }

  /** Looks for work until `signal` aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#watched.length === 0) return;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.look(performance.now());
        failures = 0;
        const nextMs = Math.min(...this.#watched.map(({ nextLookMs }) => nextLookMs));
        await pause(Math.max(WAIT_MS_MIN, nextMs - performance.now()), signal);
      } catch (err) {
        if (signal.aborted) return;
        this.#log.warn({ err }, 'could not look for work in the database; will try again');
        await pause(retryPauseMs(++failures), signal);
      }
    }
  }

  /** Looks once for the work whose turn it is at `nowMs`, in milliseconds of `performance.now()`. */
  async look(nowMs: number): Promise<void> {
    if (this.#watched.every(({ nextLookMs }) => nextLookMs > nowMs)) return;
    const turn = this.#watched.filter(({ nextLookMs }) => nextLookMs <= nowMs + TOGETHER_MS);
    const columns = turn.map(({ dueAtMs }, at) => sql`(${dueAtMs}) as ${sql.ref(`work${at}`)}`);
    const { rows } = await sql<Record<string, number | null>>`select ${sql.join(columns)}`.execute(
      this.#postgres.db,
    );
    const clockMs = this.#clock.nowMs();
    for (const [at, work] of turn.entries()) {
      const dueAtMs = rows[0]?.[`work${at}`] ?? Number.POSITIVE_INFINITY;
      const isDue = dueAtMs <= clockMs;
      work.nextLookMs = nowMs + (isDue ? work.lookMs : Math.min(work.lookMs, dueAtMs - clockMs));
      if (isDue) work.onDue();
    }
  }
}

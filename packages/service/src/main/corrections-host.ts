import { DomainError } from '../kernel/errors.js';
import type { ClickHouse } from '../platform/clickhouse/index.js';
import { ThreadPool } from '../platform/threads/index.js';
import { runBlocksCall, runCall } from './clickhouse-calls.js';
import type { CorrectionCalls, CorrectionJobs, CorrectionsThreadData } from './corrections-jobs.js';
import { PAST_USAGE_NICENESS } from './priority.js';

export interface CorrectionsThreadsDeps {
  readonly data: Omit<CorrectionsThreadData, 'niceness'>;
  readonly clickhouse: Pick<ClickHouse, 'queryText' | 'exportRowsUpTo' | 'upToDate'>;
  /** Called after each commit that left rows for ClickHouse. */
  readonly onCommitted: () => void;
}

const PROGRAM = new URL('./corrections-thread.js', import.meta.url);
/** All corrections of a process take turns on one thread. */
const OWNER = 'corrections';
const IDLE_MS_MAX = 60_000;
/** After this time the thread says how far it is, and is asked again; it does not keep the rows that it read ahead. */
const ADVANCE_MS_MAX = 30_000;
/** Many times the duration of a step. */
const JOB_MS_MAX = 600_000;
const HEAP_MB_MAX = 1_024;
/** The rows of a part are garbage after it: with the default of 48 MB, they would be copied to the old generation. */
const YOUNG_HEAP_MB = 192;

/** The thread that works on corrections. It runs while there is work. */
export class CorrectionsThread {
  readonly #deps: CorrectionsThreadsDeps;
  readonly #pool: ThreadPool<CorrectionJobs, CorrectionCalls>;

  constructor(deps: CorrectionsThreadsDeps) {
    this.#deps = deps;
    this.#pool = new ThreadPool({
      thread: {
        program: PROGRAM,
        workerData: { ...deps.data, niceness: PAST_USAGE_NICENESS } satisfies CorrectionsThreadData,
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
      },
      threadsMax: 1,
      idleMsMax: IDLE_MS_MAX,
      jobMsMax: JOB_MS_MAX,
      waitingPerOwnerMax: 1,
      waitingMax: 1,
      errors: {
        busy: () => new DomainError('server_busy'),
        tooLong: () =>
          new DomainError('internal_error', { message: 'A step of a correction took too long.' }),
        ended: (cause) => new DomainError('internal_error', { cause }),
      },
    });
  }

  /** Does the steps of corrections that are due; returns their number. */
  async advance(signal?: AbortSignal): Promise<number> {
    const { clickhouse, onCommitted } = this.#deps;
    let steps = 0;
    for (;;) {
      const done = await this.#pool.run(
        OWNER,
        'advance',
        { msMax: ADVANCE_MS_MAX },
        {
          calls: {
            query: (asked) => runCall(clickhouse, asked),
            exportRowsUpTo: (asked) => runBlocksCall(clickhouse, asked),
            committed: async () => {
              onCommitted();
              return undefined;
            },
          },
          signal,
        },
      );
      steps += done;
      if (done === 0) return steps;
    }
  }

  /** Stops the thread. A step that runs is rolled back, and repeated later. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

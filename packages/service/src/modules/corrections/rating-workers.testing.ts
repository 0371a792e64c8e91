import type { KyselyPlugin } from 'kysely';
import type { Postgres } from '../../platform/postgres/index.js';
import { connectTo } from '../../testing/postgres.js';
import type { PipelineWorker } from '../pipeline/index.js';
import type { CorrectionsFixture } from './corrections.testing.js';

/** All connections of a worker are ended after a statement, in the middle of its transaction. */
export interface Cut {
  /** The index of the worker. */
  readonly worker: number;
  /** The number of the statement, from 1. */
  readonly statement: number;
}

/** The events that a batch of each worker takes at most. */
const BATCH_EVENTS_MAX = [1, 2, 5];

/** Workers that rate at the same time. Each has connections of its own, as those of other processes have. */
export class RatingWorkers {
  readonly #fixture: CorrectionsFixture;
  readonly #workers: { readonly postgres: Postgres; readonly worker: PipelineWorker }[] = [];
  /** How often connections were ended. */
  cuts = 0;
  #cut: Cut | undefined;
  #statements = 0;

  constructor(fixture: CorrectionsFixture) {
    this.#fixture = fixture;
    for (const [index, batchEventsMax] of BATCH_EVENTS_MAX.entries()) {
      const postgres = connectTo(fixture.api.connectionString, nameOf(index));
      const watched = { ...postgres, db: postgres.db.withPlugin(this.#watch(index)) };
      this.#workers.push({ postgres, worker: fixture.createWorker(watched, { batchEventsMax }) });
    }
  }

  /** How many workers there are. */
  static get count(): number {
    return BATCH_EVENTS_MAX.length;
  }

  async close(): Promise<void> {
    for (const { postgres } of this.#workers) await postgres.close();
  }

  /** Rates all accepted events. A worker that was cut goes on afterwards, with what it remembers. */
  async rate(cut?: Cut): Promise<void> {
    const cutsBefore = this.cuts;
    this.#cut = cut;
    this.#statements = 0;
    const ended = await Promise.allSettled(this.#workers.map(({ worker }) => worker.drain()));
    this.#cut = undefined;
    for (const [index, result] of ended.entries()) {
      if (result.status === 'fulfilled') continue;
      if (index !== cut?.worker || this.cuts === cutsBefore) throw result.reason;
      await this.#workers[index]?.worker.drain();
    }
  }

  #watch(index: number): KyselyPlugin {
    return {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        const { worker, statement } = this.#cut ?? {};
        if (worker === index && ++this.#statements === statement) await this.#end(index);
        return result;
      },
    };
  }

  async #end(index: number): Promise<void> {
    this.cuts += 1;
    await this.#fixture.rows(
      `select pg_terminate_backend(pid, 10_000) from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [nameOf(index)],
    );
  }
}

const nameOf = (index: number) => `rating-${index}`;

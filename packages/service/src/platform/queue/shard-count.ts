import type { Pool } from 'pg';
import type { Postgres } from '../postgres/index.js';

/** A number of shards that is older than this is read again. */
const READ_AGAIN_MS = 2_000;

/** Reads the number of shards of the installation: 1 until one is stored. */
export async function readShards({ pool }: Pick<Postgres, 'pool'>): Promise<number> {
  return (await storedShards(pool)) ?? 1;
}

/** Stores the number of shards; returns the previous one. */
export async function changeShards({ pool }: Pick<Postgres, 'pool'>, shards: number): Promise<number> {
  const before = await storedShards(pool);
  await pool.query(
    'insert into sharding (shards) values ($1) on conflict (is_only) do update set shards = excluded.shards',
    [shards],
  );
  return before ?? 1;
}

/**
 * Stores the number of shards of a new installation; returns the number that is stored now. An installation that has
 * projects and no number is of an earlier release, and keeps its one shard: with more, its workers would share out the
 * work in another way after an upgrade.
 */
export async function chooseShards({ pool }: Pick<Postgres, 'pool'>, shards: number): Promise<number> {
  await pool.query(
    `insert into sharding (shards) select case when exists (select from projects) then 1 else $1::integer end
    on conflict do nothing`,
    [shards],
  );
  return readShards({ pool });
}

/** Returns undefined when none is stored. */
async function storedShards(pool: Pick<Pool, 'query'>): Promise<number | undefined> {
  const { rows } = await pool.query<{ shards: number }>('select shards from sharding');
  return rows[0]?.shards;
}

export interface ShardCountOptions {
  /** Called when the number has changed. */
  readonly onChange?: (shards: number, before: number) => void;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
}

/**
 * The number of shards, as this process has read it last. It may be out of date by a few seconds, which does no harm:
 * segments are rated whatever number of shards they were written with.
 */
export class ShardCount {
  readonly #postgres: Pick<Postgres, 'pool'>;
  readonly #onChange: (shards: number, before: number) => void;
  readonly #nowMs: () => number;
  #shards: number;
  #readAtMs: number;
  #reading: Promise<void> | undefined;

  private constructor(
    postgres: Pick<Postgres, 'pool'>,
    shards: number,
    { onChange = () => {}, nowMs = () => performance.now() }: ShardCountOptions,
  ) {
    this.#postgres = postgres;
    this.#onChange = onChange;
    this.#nowMs = nowMs;
    this.#shards = shards;
    this.#readAtMs = nowMs();
  }

  static async open(postgres: Pick<Postgres, 'pool'>, options: ShardCountOptions = {}): Promise<ShardCount> {
    return new ShardCount(postgres, await readShards(postgres), options);
  }

  /**
   * Returns the number without waiting. If it is old, it is read again in the background; an idle process reads
   * nothing.
   */
  current(): number {
    if (this.#nowMs() - this.#readAtMs >= READ_AGAIN_MS) this.#reading ??= this.#readAgain();
    return this.#shards;
  }

  /** Resolves when nothing is being read; never rejects. */
  async settled(): Promise<void> {
    await this.#reading;
  }

  async #readAgain(): Promise<void> {
    try {
      const before = this.#shards;
      this.#shards = await readShards(this.#postgres);
      if (this.#shards !== before) this.#onChange(this.#shards, before);
    } catch {
      // The last number stays in use while the database cannot be reached.
    } finally {
      this.#readAtMs = this.#nowMs();
      this.#reading = undefined;
    }
  }
}

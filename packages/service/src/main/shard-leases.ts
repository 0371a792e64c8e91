import { storedShardsOf } from '../kernel/shard.js';
import type { OwnedShards } from '../modules/pipeline/index.js';
import { ProcessLeases } from '../platform/leases/index.js';
import type { Logger } from '../platform/log/index.js';
import { Counter, Gauge, type Metrics } from '../platform/metrics/index.js';
import { ShardCount } from '../platform/queue/index.js';
import type { Stores } from './stores.js';

/** The kinds of work that processes share out by shard. A kind is named after the role that does it. */
export type ShardWork = 'worker' | 'projector';

export interface ShardLeasesEvents {
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Metrics;
  /** Called when the shards of this process have changed. */
  readonly onChange: () => void;
}

/** The shards on which this process works, for each kind of work in which it takes part. */
export class ShardLeases {
  readonly #leases: ProcessLeases;
  readonly #kinds: readonly ShardWork[];
  readonly #log: ShardLeasesEvents['log'];
  readonly #knownStandby = new Set<ShardWork>();

  private constructor(
    { postgres, owner }: Pick<Stores, 'postgres' | 'owner'>,
    kinds: readonly ShardWork[],
    shards: ShardCount,
    { log, metrics, onChange }: ShardLeasesEvents,
  ) {
    this.#kinds = kinds;
    this.#log = log;
    this.#leases = new ProcessLeases({
      postgres,
      owner,
      kinds: kinds.map((kind) => ({ kind, count: () => shards.current() })),
      log,
      onChange: () => {
        this.#reportStandby();
        onChange();
      },
    });
    this.#addMetrics(metrics);
  }

  static async open(
    stores: Pick<Stores, 'postgres' | 'owner'>,
    kinds: readonly ShardWork[],
    events: ShardLeasesEvents,
  ): Promise<ShardLeases> {
    return new ShardLeases(stores, kinds, await ShardCount.open(stores.postgres), events);
  }

  /** Takes part until `signal` aborts, then frees the shards for others; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#kinds.length > 0) await this.#leases.run(signal);
  }

  /** Returns the shards of one kind of work. */
  owned(kind: ShardWork): OwnedShards {
    const leases = this.#leases.held(kind);
    if (leases.length === 0) return { stored: [], leases };
    const numbers = new Set(leases.map(({ number }) => number));
    return { stored: storedShardsOf(numbers, this.#leases.count(kind)), leases };
  }

  /** Warns once that this process is standby: there are more processes than shards. */
  #reportStandby(): void {
    for (const kind of this.#kinds) {
      if (!this.#leases.isStandby(kind) || this.#knownStandby.has(kind)) continue;
      this.#knownStandby.add(kind);
      const shards = this.#leases.count(kind);
      this.#log.warn(
        { role: kind, shards },
        `this ${kind} is standby, because other processes have all shards; "tollgate shards ${shards + 1}" gives it work`,
      );
    }
  }

  #addMetrics(metrics: Metrics): void {
    const [leases, kinds] = [this.#leases, this.#kinds];
    new Gauge({
      name: 'tollgate_process_leases',
      help: 'Shards on which this process works, by role.',
      labelNames: ['role'],
      registers: [metrics],
      collect() {
        for (const kind of kinds) this.set({ role: kind }, leases.held(kind).length);
      },
    });
    new Counter({
      name: 'tollgate_process_lease_takeovers_total',
      help: 'Shards that this process freed because their owner stopped renewing its leases, by role.',
      labelNames: ['role'],
      registers: [metrics],
      collect() {
        this.reset();
        for (const kind of kinds) this.inc({ role: kind }, leases.takeovers(kind));
      },
    });
  }
}

import type { Metric, Registry } from 'prom-client';

/** Upper bounds of the buckets in seconds, ascending. */
const BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const BOUNDS_MS = BOUNDS_S.map((bound) => bound * 1000);

export interface DurationHistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly registers: readonly Registry[];
}

type Labels = Readonly<Record<string, string>>;

/** The counts of one set of labels. */
export class DurationSeries {
  /** Per bucket, not accumulated; the last one has no upper bound. */
  readonly counts = new Float64Array(BOUNDS_MS.length + 1);
  sumMs = 0;

  constructor(readonly labels: Labels) {}

  observe(durationMs: number): void {
    let bucket = 0;
    while (bucket < BOUNDS_MS.length && durationMs > (BOUNDS_MS[bucket] as number)) bucket += 1;
    (this.counts[bucket] as number) += 1;
    this.sumMs += durationMs;
  }
}

/**
 * A Prometheus histogram of durations for the hottest path. prom-client's own histogram looks its labels up on every
 * observation, which costs more than the rest of the observation together.
 */
export class DurationHistogram {
  readonly name: string;
  readonly #help: string;
  #series: DurationSeries[] = [];

  constructor({ name, help, registers }: DurationHistogramOptions) {
    this.name = name;
    this.#help = help;
    // The registry uses only a metric's name, `get` and `reset`.
    for (const registry of registers) registry.registerMetric(this as unknown as Metric);
  }

  /** Returns a new series; the caller keeps it, one for each set of labels. */
  series(labels: Labels): DurationSeries {
    const series = new DurationSeries(labels);
    this.#series.push(series);
    return series;
  }

  async get() {
    return {
      name: this.name,
      help: this.#help,
      type: 'histogram',
      aggregator: 'sum',
      values: this.#series.flatMap((series) => this.#valuesOf(series)),
    };
  }

  reset(): void {
    for (const series of this.#series) {
      series.counts.fill(0);
      series.sumMs = 0;
    }
  }

  #valuesOf({ labels, counts, sumMs }: DurationSeries) {
    let total = 0;
    const buckets = [...counts].map((count, index) => {
      total += count;
      const le = BOUNDS_S[index] ?? '+Inf';
      return { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sumMs / 1000 },
      { metricName: `${this.name}_count`, labels, value: total },
    ];
  }
}

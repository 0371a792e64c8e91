import { Gauge, type Registry } from 'prom-client';

/** Adds a gauge that is read anew whenever somebody looks at the metrics. */
export function addReadGauge(metrics: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [metrics],
    collect() {
      this.set(read());
    },
  });
}

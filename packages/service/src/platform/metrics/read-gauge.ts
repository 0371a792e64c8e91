import { Gauge, type Registry } from 'prom-client';

/** Adds a gauge that is read whenever the metrics are read. */
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

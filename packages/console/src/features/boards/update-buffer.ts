import { hashKey, type QueryKey } from '@tanstack/react-query';
import type { StreamBuckets } from '@tollgate/contract';
import { type ChartData, withBuckets } from './chart-data.js';

/** Keeps the stream updates of charts whose query is running, because its response may be older than the updates. */
export class UpdateBuffer {
  readonly #running = new Map<string, StreamBuckets[]>();

  /** Runs a query, and applies the updates that arrive while it runs. */
  async during(key: QueryKey, query: () => Promise<ChartData>): Promise<ChartData> {
    const name = hashKey(key);
    const updates: StreamBuckets[] = [];
    this.#running.set(name, updates);
    try {
      const response = await query();
      return updates.reduce<ChartData>((data, update) => withBuckets(data, update) ?? data, response);
    } finally {
      if (this.#running.get(name) === updates) this.#running.delete(name);
    }
  }

  add(key: QueryKey, update: StreamBuckets): void {
    this.#running.get(hashKey(key))?.push(update);
  }
}

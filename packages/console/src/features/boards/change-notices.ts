import { hashKey, type QueryKey } from '@tanstack/react-query';
import type { StreamBuckets } from '@tollgate/contract';
import { type ChartData, withBuckets } from './chart-data.js';

/** Keeps what is told of charts while they are being asked: an answer may be older than it. */
export class Tellings {
  readonly #asking = new Map<string, StreamBuckets[]>();

  /** The answer, with what was told since it was asked for. */
  async during(key: QueryKey, ask: () => Promise<ChartData>): Promise<ChartData> {
    const name = hashKey(key);
    const told: StreamBuckets[] = [];
    this.#asking.set(name, told);
    try {
      const answer = await ask();
      return told.reduce<ChartData>((data, each) => withBuckets(data, each) ?? data, answer);
    } finally {
      if (this.#asking.get(name) === told) this.#asking.delete(name);
    }
  }

  tell(key: QueryKey, told: StreamBuckets): void {
    this.#asking.get(hashKey(key))?.push(told);
  }
}

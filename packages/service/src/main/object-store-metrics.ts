import { Counter, Histogram, type Metrics } from '../platform/metrics/index.js';
import type { ObjectStore } from '../platform/object-store/index.js';

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Returns the same store, whose operations are measured. Those of the rating thread are part of its stages. */
export function measureObjectStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  const seconds = new Histogram({
    name: 'tollgate_object_store_seconds',
    help: 'Time of the operations of the object store, without those of the rating thread.',
    labelNames: ['operation'],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  const failures = new Counter({
    name: 'tollgate_object_store_failures_total',
    help: 'Operations of the object store that failed, without those of the rating thread.',
    labelNames: ['operation'],
    registers: [metrics],
  });
  const measured = async <T>(operation: string, work: Promise<T>): Promise<T> => {
    const end = seconds.startTimer({ operation });
    try {
      return await work;
    } catch (error) {
      failures.inc({ operation });
      throw error;
    } finally {
      end();
    }
  };
  return {
    put: (key, pieces) => measured('put', store.put(key, pieces)),
    get: (key, range) => measured('get', store.get(key, range)),
    delete: (keys) => measured('delete', store.delete(keys)),
    list: (selection) => measured('list', store.list(selection)),
    close: () => store.close(),
  };
}

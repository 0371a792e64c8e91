import { Counter, Histogram, type Metrics } from '../platform/metrics/index.js';
import type { ObjectStore } from '../platform/object-store/index.js';

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Returns a store that measures the operations of another one. Rating threads measure theirs in their stages. */
export function measureObjectStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  const seconds = new Histogram({
    name: 'tollgate_object_store_seconds',
    help: 'Time of the operations of the object store, except those of rating threads.',
    labelNames: ['operation'],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  const failures = new Counter({
    name: 'tollgate_object_store_failures_total',
    help: 'Failed operations of the object store, except those of rating threads.',
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

import { createTestApi, type TestApi } from '../../testing/api.js';
import { everythingKept } from '../../testing/history.js';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { registerAnalysisRoutes } from './index.js';
import { namesOf } from './known-names.testing.js';

/** The routes of analysis over an empty history of which everything is kept. */
export interface AnalysisApi {
  readonly api: TestApi;
  readonly store: TestClickHouse;
  close(): Promise<void>;
}

export async function openAnalysisApi(): Promise<AnalysisApi> {
  const store = await createTestClickHouse();
  const { clickhouse } = store;
  const names = namesOf(clickhouse);
  const api = await createTestApi((app, { clock }) =>
    registerAnalysisRoutes(app, { clickhouse, history: everythingKept, clock, names }),
  );
  const close = async () => {
    await api.close();
    await store.drop();
  };
  return { api, store, close };
}

import { systemClock } from '../kernel/clock.js';
import { LiveStreams, registerStreamRoutes, type SavedQueries } from '../modules/analysis/index.js';
import type { UsageHistory } from '../modules/storage/index.js';
import type { App } from '../platform/http/index.js';
import type { Logger } from '../platform/log/index.js';
import type { Metrics } from '../platform/metrics/index.js';
import type { Stores } from './stores.js';

export interface StreamParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly history: UsageHistory;
  readonly charts: SavedQueries;
}

/** Starts streams of analysis queries and charts; the returned function stops them. */
export function startStreams(
  app: App,
  { postgres, clickhouse }: Pick<Stores, 'postgres' | 'clickhouse'>,
  { log, metrics, history, charts }: StreamParts,
): () => Promise<void> {
  const streams = new LiveStreams({ postgres, clickhouse, history, clock: systemClock, log });
  registerStreamRoutes(app, { streams, charts, clock: systemClock, metrics });
  const abort = new AbortController();
  const running = streams.run(abort.signal);
  return async () => {
    abort.abort();
    await running;
  };
}

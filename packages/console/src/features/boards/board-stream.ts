import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import type { AnalysisQuery, Chart, StreamBuckets } from '@tollgate/contract';
import { ApiError, type FollowOptions, type FollowQuery, type StreamMessage } from '@tollgate/sdk/browser';
import { useEffect, useRef, useState } from 'react';
import { nowS } from '../../clock.js';
import { useProjectClient } from '../../project.js';
import { usePageVisible } from '../../visibility.js';
import { analysisQuery, chartDataKey } from './api.js';
import { type ChartData, withBuckets } from './chart-data.js';
import type { TimeRange } from './time-range.js';
import type { UpdateBuffer } from './update-buffer.js';

/** Charts that one stream follows. One stream per page: a browser opens no more than six connections to a service. */
const FOLLOWED_MAX = 16;
/** Upper bound of the queries in the URL of a stream: common proxies take 8 KiB. */
const QUERIES_CHARS_MAX = 7_000;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;
/** The time after which streams of the same key may have ended. */
const NO_SLOT_RETRY_MS = 30_000;

/** How the charts of a board get new usage. */
export type LiveStatus =
  /** The range has ended, so there are no updates. */
  | 'none'
  | 'connecting'
  | 'live'
  /** The charts poll, because there is no stream. */
  | 'polling';

export interface BoardStream {
  readonly liveStatus: LiveStatus;
  /** Charts that the stream updates, so that they need not poll. */
  readonly followed: ReadonlySet<string>;
}

const NONE_FOLLOWED: ReadonlySet<string> = new Set();
const NO_CHARTS: readonly Chart[] = [];

/** Follows the charts of a board while its page is visible, and applies updates to their data. */
export function useBoardStream(
  charts: readonly Chart[],
  timezone: string,
  range: TimeRange,
  updates: UpdateBuffer,
): BoardStream {
  const project = useProjectClient();
  const client = useQueryClient();
  const isVisible = usePageVisible();
  const [liveStatus, setLiveStatus] = useState<LiveStatus>('connecting');
  // Data is always queried after this position, so a stream of other queries can resume from it, too.
  const position = useRef<string>(undefined);
  const followed = isOver(range) ? NO_CHARTS : followedCharts(charts, timezone, range);
  const queryText = JSON.stringify(followed.map(({ query }) => analysisQuery(query, timezone, range)));

  // biome-ignore lint/correctness/useExhaustiveDependencies: `queryText` stands for the charts
  useEffect(() => {
    if (followed.length === 0 || !isVisible) return;
    const keys = followed.map(({ query }) => chartDataKey(project.projectId, query, timezone, range));
    const query: FollowQuery = { query: JSON.parse(queryText) as AnalysisQuery[] };
    const controller = new AbortController();
    const updater = new ChartUpdater(client, keys, updates);
    const follow = (options: FollowOptions) => project.analysis.follow(query, options);
    void keepFollowing(follow, controller.signal, position, updater, setLiveStatus);
    return () => controller.abort();
  }, [client, project, queryText, timezone, isVisible, updates]);

  if (followed.length === 0)
    return { liveStatus: isOver(range) ? 'none' : 'polling', followed: NONE_FOLLOWED };
  const isLive = liveStatus === 'live';
  return { liveStatus, followed: isLive ? new Set(followed.map(({ chart_id }) => chart_id)) : NONE_FOLLOWED };
}

/** Returns the first charts, as many as one stream follows; a chart whose query is too long is left out. */
export function followedCharts(charts: readonly Chart[], timezone: string, range: TimeRange): Chart[] {
  let chars = 0;
  return charts.slice(0, FOLLOWED_MAX).filter(({ query }) => {
    const text = JSON.stringify(analysisQuery(query, timezone, range));
    const length = `&query=${encodeURIComponent(text)}`.length;
    if (chars + length > QUERIES_CHARS_MAX) return false;
    chars += length;
    return true;
  });
}

/** Whether a range is in the past. */
function isOver(range: TimeRange): boolean {
  return 'to' in range && range.to <= nowS();
}

async function keepFollowing(
  follow: (options: FollowOptions) => AsyncIterable<StreamMessage>,
  signal: AbortSignal,
  position: { current: string | undefined },
  updater: ChartUpdater,
  onLiveStatus: (liveStatus: LiveStatus) => void,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const isResumed = position.current !== undefined;
    let pauseMs = Math.min(RETRY_MS_MIN * 2 ** failures, RETRY_MS_MAX);
    try {
      for await (const message of follow({ position: position.current, signal })) {
        failures = 0;
        onLiveStatus('live');
        updater.handle(message, isResumed);
        position.current = message.position ?? position.current;
      }
    } catch (error) {
      if (signal.aborted) return;
      onLiveStatus('polling');
      const status = error instanceof ApiError ? error.status : 0;
      // Retrying is useless until the board, key or range changes.
      if (status >= 400 && status < 500 && status !== 429) return;
      if (status === 429) pauseMs = NO_SLOT_RETRY_MS;
    }
    failures++;
    await pause(pauseMs, signal);
  }
}

/** Applies the messages of a stream to the data of its charts. */
class ChartUpdater {
  readonly #client: QueryClient;
  /** By index of the chart in the stream. */
  readonly #keys: readonly QueryKey[];
  readonly #updates: UpdateBuffer;

  constructor(client: QueryClient, keys: readonly QueryKey[], updates: UpdateBuffer) {
    this.#client = client;
    this.#keys = keys;
    this.#updates = updates;
  }

  handle(message: StreamMessage, isResumed: boolean): void {
    const { type } = message;
    if (type === 'buckets') this.#update(message.data);
    else if (type === 'reset') this.#refetch(message.data.query);
    // Data may be older than a new stream. A resumed stream has sent all updates in between.
    else if (type === 'ready' && !isResumed) this.#refetch(null);
  }

  #update(update: StreamBuckets): void {
    const queryKey = this.#keys[update.query];
    if (queryKey === undefined) return;
    this.#updates.add(queryKey, update);
    const data = this.#client.getQueryData<ChartData>(queryKey);
    if (data === undefined) return;
    const merged = withBuckets(data, update);
    if (merged === undefined) this.#refetch(update.query);
    else this.#client.setQueryData<ChartData>(queryKey, merged);
  }

  #refetch(query: number | null): void {
    const keys = query === null ? this.#keys : this.#keys.slice(query, query + 1);
    for (const queryKey of keys) void this.#client.invalidateQueries({ queryKey, exact: true });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

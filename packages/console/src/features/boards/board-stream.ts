import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import type { Chart, StreamBuckets } from '@tollgate/contract';
import { ApiError, type FollowOptions, type StreamMessage } from '@tollgate/sdk/browser';
import { useEffect, useRef, useState } from 'react';
import { nowS } from '../../clock.js';
import { useProjectClient } from '../../project.js';
import { usePageVisible } from '../../visibility.js';
import { chartDataKey } from './api.js';
import type { Tellings } from './change-notices.js';
import { type ChartData, withBuckets } from './chart-data.js';
import type { TimeRange } from './time-range.js';

/** Charts that one stream follows. One stream per page: a browser opens no more than six connections to a service. */
const FOLLOWED_MAX = 16;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;
/** The time after which streams of the same key may have ended. */
const NO_SLOT_RETRY_MS = 30_000;

/** How the charts of a board learn of new usage. */
export type Liveness =
  /** The range has ended: there is nothing to learn. */
  | 'none'
  | 'connecting'
  | 'live'
  /** By asking again and again, because there is no stream. */
  | 'polling';

export interface BoardStream {
  readonly liveness: Liveness;
  /** Charts that need not ask: they are told. */
  readonly followed: ReadonlySet<string>;
}

const NONE_FOLLOWED: ReadonlySet<string> = new Set();

/** Follows the charts of an open board while anybody can see it, and puts what is told into what they show. */
export function useBoardStream(
  charts: readonly Chart[],
  timezone: string,
  range: TimeRange,
  tellings: Tellings,
): BoardStream {
  const project = useProjectClient();
  const client = useQueryClient();
  const isVisible = usePageVisible();
  const [liveness, setLiveness] = useState<Liveness>('connecting');
  // Whatever is asked is asked after this position, so a stream for another range goes on from it, too.
  const position = useRef<string>(undefined);
  const followed = charts.slice(0, FOLLOWED_MAX);
  const seconds = 'last_seconds' in range ? range.last_seconds : undefined;
  const what = followed.map(({ chart_id, updated_at }) => `${chart_id} ${updated_at}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: `what` stands for the charts
  useEffect(() => {
    if (seconds === undefined || what === '' || !isVisible) return;
    const keys = followed.map(({ query }) => chartDataKey(project.projectId, query, timezone, range));
    const query = { chart_id: followed.map(({ chart_id }) => chart_id), last_seconds: seconds };
    const gone = new AbortController();
    const apply = new Application(client, keys, tellings);
    const follow = (options: FollowOptions) => project.analysis.follow(query, options);
    void keepFollowing(follow, gone.signal, position, apply, setLiveness);
    return () => gone.abort();
  }, [client, project, what, timezone, seconds, isVisible, tellings]);

  if (seconds === undefined) return { liveness: isOver(range) ? 'none' : 'polling', followed: NONE_FOLLOWED };
  const isTold = liveness === 'live';
  return { liveness, followed: isTold ? new Set(followed.map(({ chart_id }) => chart_id)) : NONE_FOLLOWED };
}

/** Whether nothing new can happen in a range. */
function isOver(range: TimeRange): boolean {
  return 'to' in range && range.to <= nowS();
}

async function keepFollowing(
  follow: (options: FollowOptions) => AsyncIterable<StreamMessage>,
  signal: AbortSignal,
  position: { current: string | undefined },
  apply: Application,
  onLiveness: (liveness: Liveness) => void,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const isResumed = position.current !== undefined;
    let pauseMs = Math.min(RETRY_MS_MIN * 2 ** failures, RETRY_MS_MAX);
    try {
      for await (const message of follow({ position: position.current, signal })) {
        failures = 0;
        onLiveness('live');
        apply.message(message, isResumed);
        position.current = message.position ?? position.current;
      }
    } catch (error) {
      if (signal.aborted) return;
      onLiveness('polling');
      const status = error instanceof ApiError ? error.status : 0;
      // Nothing but another board, key or range changes that.
      if (status >= 400 && status < 500 && status !== 429) return;
      if (status === 429) pauseMs = NO_SLOT_RETRY_MS;
    }
    failures++;
    await pause(pauseMs, signal);
  }
}

/** Puts what a stream tells into the data of the charts it follows. */
class Application {
  constructor(
    private readonly client: QueryClient,
    /** By the number of the chart in the stream. */
    private readonly keys: readonly QueryKey[],
    private readonly tellings: Tellings,
  ) {}

  message(message: StreamMessage, isResumed: boolean): void {
    const { type } = message;
    if (type === 'buckets') this.#tell(message.data);
    else if (type === 'reset') this.#askAnew(message.data.query);
    // What is shown may have been asked before the stream began; one that is resumed has told everything since.
    else if (type === 'ready' && !isResumed) this.#askAnew(null);
  }

  #tell(told: StreamBuckets): void {
    const queryKey = this.keys[told.query];
    if (queryKey === undefined) return;
    this.tellings.tell(queryKey, told);
    const data = this.client.getQueryData<ChartData>(queryKey);
    if (data === undefined) return;
    const merged = withBuckets(data, told);
    if (merged === undefined) this.#askAnew(told.query);
    else this.client.setQueryData<ChartData>(queryKey, merged);
  }

  #askAnew(query: number | null): void {
    const keys = query === null ? this.keys : this.keys.slice(query, query + 1);
    for (const queryKey of keys) void this.client.invalidateQueries({ queryKey, exact: true });
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

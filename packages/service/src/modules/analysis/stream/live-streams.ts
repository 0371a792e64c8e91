import type { AnalysisQuery, StreamReset } from '@tollgate/contract';
import { DomainError } from '../../../kernel/errors.js';
import type { Logger } from '../../../platform/log/index.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { repeat, retryPauseMs } from '../../../platform/wakeup.js';
import { FairTurns } from '../fair-turns.js';
import type { TimeSpan } from '../source.js';
import { type ChangedRows, type ChangedRowsDeps, changedRows, type StreamScope } from './changed-rows.js';
import { eventFrame, heartbeatFrame } from './frames.js';
import { changesSince, isRetainedSince, positionRange } from './projection-store.js';

/** Poll interval for changes, and so the shortest time between two updates of a bucket. */
const TICK_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** A client that reads nothing for this long is disconnected; it can resume. */
const BEHIND_MS_MAX = 30_000;
/** Upper bound of the characters sent to one client in one tick; beyond it the client must run its queries again. */
const TICK_CHARS_MAX = 1_048_576;
/** Upper bound of the queries that run at once for all streams of the process. */
const QUERIES_RUNNING_MAX = 2;

/** The connection to one client. */
export interface StreamClient {
  /** Whether earlier writes have not been sent yet. */
  readonly isBehind: boolean;
  write(text: string): void;
  end(): void;
  /** Whether the client's key still may read the project. */
  isAllowed(): Promise<boolean>;
}

export interface LiveStreamsDeps extends ChangedRowsDeps {
  readonly postgres: Pick<Postgres, 'db'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** The queries that one client follows, and the project that they belong to. */
export interface Subscription {
  readonly scope: StreamScope;
  readonly queries: readonly AnalysisQuery[];
  /** The position to follow from; undefined: from now on. */
  readonly since: number | undefined;
}

interface Stream {
  readonly client: StreamClient;
  readonly scope: StreamScope;
  readonly queries: readonly { readonly text: string; readonly query: AnalysisQuery }[];
  /** All changes up to here were sent. */
  position: number;
  isBusy: boolean;
  failures: number;
  retryAtMs: number;
  writtenAtMs: number;
  behindSinceMs: number | undefined;
}

/** Sends changed buckets to the clients that follow analysis queries. */
export class LiveStreams {
  readonly #deps: LiveStreamsDeps;
  readonly #streams = new Set<Stream>();
  readonly #turns = new FairTurns(QUERIES_RUNNING_MAX);
  /** Pending results, by query: many clients of one board send the same queries. */
  readonly #answers = new Map<string, Promise<ChangedRows>>();
  readonly #underWay = new Set<Promise<void>>();
  #isClosed = false;

  constructor(deps: LiveStreamsDeps) {
    this.#deps = deps;
  }

  /**
   * Follows the queries until `gone` aborts or the service ends. `connect` is called once nothing can be refused any
   * more.
   * @throws DomainError `shutting_down`
   */
  async open(
    { scope, queries, since }: Subscription,
    gone: AbortSignal,
    connect: () => StreamClient,
  ): Promise<void> {
    const known = await positionRange(this.#deps.postgres.db);
    if (this.#isClosed) throw new DomainError('shutting_down');
    if (gone.aborted) return;
    const isResumable = since === undefined || isRetainedSince(known, since);
    const position = isResumable ? (since ?? known.last) : known.last;
    const client = connect();
    const stream: Stream = {
      client,
      scope,
      queries: queries.map((query) => ({ text: JSON.stringify(query), query })),
      position,
      isBusy: false,
      failures: 0,
      retryAtMs: 0,
      writtenAtMs: 0,
      behindSinceMs: undefined,
    };
    this.#write(stream, isResumable ? eventFrame('ready', '{}', position) : resetFrame(null, position));
    this.#streams.add(stream);
    gone.addEventListener('abort', () => this.#streams.delete(stream), { once: true });
  }

  /** Polls for changes until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return repeat(() => this.tick(), signal, {
      pollMs: TICK_MS,
      onFailure: (err) => this.#deps.log.warn({ err }, 'could not send changes to streams'),
    });
  }

  /**
   * Looks for changes once and starts to send them; a stream that is still being sent earlier ones waits for the next
   * tick.
   */
  async tick(): Promise<void> {
    await this.#dismiss();
    const nowMs = this.#deps.clock.nowMs();
    const streams = [...this.#streams].filter((stream) => this.#isReady(stream, nowMs));
    if (streams.length === 0) return;
    const watches = streams.map(({ scope: { projectId }, position }) => ({ projectId, since: position }));
    const { last, spans } = await changesSince(this.#deps.postgres.db, watches);
    for (const [index, stream] of streams.entries()) {
      const changed = spans[index];
      if (changed === undefined) {
        stream.position = last;
        this.#write(stream, resetFrame(null, last));
      } else if (changed.length > 0) this.#begin(stream, changed, last);
      else {
        stream.position = last;
        if (nowMs - stream.writtenAtMs >= HEARTBEAT_MS) this.#write(stream, heartbeatFrame(last));
      }
    }
  }

  /** Resolves when all changes of the last tick are sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Ends all streams; none can be opened any more. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) this.#end(stream);
  }

  /** Ends streams whose key is void by now, and those whose client reads nothing. */
  async #dismiss(): Promise<void> {
    const nowMs = this.#deps.clock.nowMs();
    await Promise.all(
      [...this.#streams].map(async (stream) => {
        const { client } = stream;
        if (!client.isBehind) stream.behindSinceMs = undefined;
        else stream.behindSinceMs ??= nowMs;
        const isStuck = nowMs - (stream.behindSinceMs ?? nowMs) >= BEHIND_MS_MAX;
        if (isStuck || !(await client.isAllowed())) this.#end(stream);
      }),
    );
  }

  /** Changes that happen in the meantime are sent together later. */
  #isReady({ isBusy, client, retryAtMs }: Stream, nowMs: number): boolean {
    return !isBusy && !client.isBehind && retryAtMs <= nowMs;
  }

  #begin(stream: Stream, spans: readonly TimeSpan[], position: number): void {
    stream.isBusy = true;
    const sending = this.#sendChanges(stream, spans, position).finally(() => {
      stream.isBusy = false;
      this.#underWay.delete(sending);
    });
    this.#underWay.add(sending);
  }

  async #sendChanges(stream: Stream, spans: readonly TimeSpan[], position: number): Promise<void> {
    try {
      const answers = await Promise.all(
        stream.queries.map(({ text, query }) => this.#answer(stream.scope, text, query, { spans, position })),
      );
      // The queries may have waited longer than a void key may be used.
      if (this.#streams.has(stream) && !(await stream.client.isAllowed())) this.#end(stream);
      if (!this.#streams.has(stream)) return;
      this.#send(stream, answers, position);
      stream.position = position;
      stream.failures = 0;
    } catch (err) {
      if (!this.#streams.has(stream)) return;
      // Unsent changes are sent together with those that follow until then.
      stream.retryAtMs = this.#deps.clock.nowMs() + retryPauseMs(++stream.failures);
      this.#deps.log.warn(
        { err, projectId: stream.scope.projectId },
        'a stream could not be sent its changes',
      );
    }
  }

  #send(stream: Stream, answers: readonly ChangedRows[], position: number): void {
    const frames: [name: string, data: string][] = [];
    let chars = 0;
    for (const [query, answer] of answers.entries()) {
      if (answer === 'nothing') continue;
      const data = answer === 'query-again' ? '' : JSON.stringify({ query, ...answer });
      const fits = data !== '' && chars + data.length <= TICK_CHARS_MAX;
      chars += fits ? data.length : 0;
      frames.push(fits ? ['buckets', data] : ['reset', resetData(query)]);
    }
    // The position comes with the last: a connection that breaks between two events resumes before the first.
    const texts = frames.map(([name, data], index) =>
      eventFrame(name, data, index === frames.length - 1 ? position : undefined),
    );
    if (texts.length > 0) this.#write(stream, texts.join(''));
  }

  #answer(
    scope: StreamScope,
    text: string,
    query: AnalysisQuery,
    changes: { readonly spans: readonly TimeSpan[]; readonly position: number },
  ): Promise<ChangedRows> {
    // Keyed by the position too: a result that was begun before it may lack newer changes.
    const key = JSON.stringify([scope.projectId, text, changes]);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#turns
      .run(scope, async () => {
        // The streams that waited for it may have ended meanwhile.
        if (!this.#isFollowed(scope, text)) return 'nothing';
        return changedRows(this.#deps, scope, query, changes.spans);
      })
      .finally(() => this.#answers.delete(key));
    this.#answers.set(key, answer);
    return answer;
  }

  #isFollowed({ projectId }: StreamScope, text: string): boolean {
    const streams = [...this.#streams].filter(({ scope }) => scope.projectId === projectId);
    return streams.some(({ queries }) => queries.some((query) => query.text === text));
  }

  #write(stream: Stream, text: string): void {
    stream.writtenAtMs = this.#deps.clock.nowMs();
    stream.client.write(text);
  }

  #end(stream: Stream): void {
    this.#streams.delete(stream);
    stream.client.end();
  }
}

function resetFrame(query: number | null, position: number): string {
  return eventFrame('reset', resetData(query), position);
}

function resetData(query: number | null): string {
  return JSON.stringify({ query } satisfies StreamReset);
}

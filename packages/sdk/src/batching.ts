import type { BatchIngestAccepted } from '#contract';
import { systemTiming, type Timing } from './clock.js';
import { ApiError, ConnectionError } from './errors.js';
import {
  type BufferedEvent,
  type Entry,
  EventBuffer,
  entryOf,
  eventOf,
  type NewEvent,
} from './event-buffer.js';
import { withRetries } from './retry.js';

export type { BufferedEvent, NewEvent } from './event-buffer.js';

/** Sends batches; implemented by ProjectClient. */
export interface BatchSender {
  batchIngestText(body: string, signal?: AbortSignal): Promise<BatchIngestAccepted>;
}

export interface BatchingOptions {
  readonly project: BatchSender;
  /** The `source` of events that have none of their own. */
  readonly source: string;
  /** Called with an event that the service has refused for good: it will not be sent again. */
  readonly onRefused: (event: BufferedEvent, error: ApiError) => void;
  /** Called with an event that the service has stored durably. */
  readonly onAccepted?: (event: BufferedEvent, rawEventId: string) => void;
  /** Events per request, at most 10,000. */
  readonly batchEventsMax?: number;
  /** Bytes of events per request; the service accepts 16 MiB. */
  readonly batchBytesMax?: number;
  /** Upper bound of the events in memory, including those being sent; `add` waits while it is reached. */
  readonly bufferEventsMax?: number;
  /** How long an event may wait for others to fill a batch, in milliseconds. */
  readonly lingerMs?: number;
  readonly timing?: Timing;
}

export const BATCH_EVENTS_DEFAULT = 500;
export const BATCH_BYTES_DEFAULT = 4 * 1_048_576;
export const BUFFER_EVENTS_DEFAULT = 10_000;
const LINGER_MS_DEFAULT = 200;

/** Finds the index of the event that an error is about. */
const EVENT_INDEX = /^\/?events[[/](\d+)/;

/**
 * Collects events and sends them in batches, one request at a time, until each is accepted or refused for good. Network
 * failures, 408, 429 and 5xx are retried with the same idempotency keys for as long as it takes, so nothing is lost and
 * nothing counts twice. One bad event does not fail the rest of its batch. Events are kept in memory: call `close`
 * before the process ends.
 */
export class BatchingIngestClient {
  readonly #options: BatchingOptions;
  readonly #timing: Timing;
  readonly #lingerMs: number;
  readonly #buffer: EventBuffer;
  readonly #abandon = new AbortController();
  /** Ends the wait for more events. */
  #hurry = new AbortController();
  #sending: Promise<void> | undefined;
  #flushes = 0;
  #isClosed = false;

  constructor(options: BatchingOptions) {
    this.#options = options;
    this.#timing = options.timing ?? systemTiming;
    this.#lingerMs = options.lingerMs ?? LINGER_MS_DEFAULT;
    this.#buffer = new EventBuffer({
      batchEventsMax: options.batchEventsMax ?? BATCH_EVENTS_DEFAULT,
      batchBytesMax: options.batchBytesMax ?? BATCH_BYTES_DEFAULT,
      bufferEventsMax: options.bufferEventsMax ?? BUFFER_EVENTS_DEFAULT,
    });
  }

  /** Number of events that are neither accepted nor refused yet. */
  get pending(): number {
    return this.#buffer.size;
  }

  /**
   * Adds an event to the buffer; resolves once it has a place there, which takes time only when the buffer is full.
   * @throws Error after `close`
   */
  async add(event: NewEvent): Promise<void> {
    const entry = entryOf(event, this.#timing.nowMs());
    this.#assertOpen();
    while (this.#buffer.isFull) {
      await this.#buffer.turn();
      this.#assertOpen();
    }
    this.#buffer.push(entry);
    if (this.#buffer.hasFullBatch || this.#flushes > 0) this.#hurry.abort();
    this.#start();
  }

  /** Sends waiting events without waiting for more; resolves when nothing is pending. */
  async flush(): Promise<void> {
    this.#flushes += 1;
    this.#hurry.abort();
    try {
      while (this.#sending !== undefined) await this.#sending;
    } finally {
      this.#flushes -= 1;
    }
  }

  /**
   * Accepts no more events and flushes.
   * @param timeoutMs gives up after this many milliseconds
   * @returns the events that could not be delivered in time; some may have arrived, and all may be sent again
   */
  async close({ timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<readonly BufferedEvent[]> {
    this.#isClosed = true;
    const flushed = new AbortController();
    const deadline = timeoutMs === undefined ? undefined : this.#timing.sleep(timeoutMs, flushed.signal);
    deadline?.then(() => this.#abandon.abort());
    await this.flush();
    flushed.abort();
    return this.#buffer.drain().map(eventOf);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new Error('This BatchingIngestClient is closed.');
  }

  /** Sends in the background while there are events to send. */
  #start(): void {
    if (this.#sending !== undefined || this.#buffer.oldest === undefined || this.#abandon.signal.aborted)
      return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
      // An event may have been added since the loop last looked.
      this.#start();
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#buffer.oldest !== undefined && !this.#abandon.signal.aborted) {
      await this.#waitForFullBatch(this.#buffer.oldest);
      await this.#deliver(this.#buffer.takeBatch());
    }
  }

  async #waitForFullBatch(oldest: Entry): Promise<void> {
    this.#hurry = new AbortController();
    // The clock may have been set back meanwhile.
    const leftMs = Math.min(oldest.addedMs - this.#timing.nowMs(), 0) + this.#lingerMs;
    if (leftMs <= 0 || this.#flushes > 0 || this.#buffer.hasFullBatch) return;
    await this.#timing.sleep(leftMs, this.#hurry.signal);
  }

  /** Sends entries until each is accepted or refused, or sending is abandoned. */
  async #deliver(entries: readonly Entry[]): Promise<void> {
    const signal = this.#abandon.signal;
    const body = bodyOf(this.#options.source, entries);
    try {
      const send = async () =>
        acceptedOf(await this.#options.project.batchIngestText(body, signal), entries.length);
      const answer = await withRetries(send, { timing: this.#timing, signal });
      this.#buffer.settle(entries);
      const { onAccepted } = this.#options;
      if (onAccepted === undefined) return;
      entries.forEach((entry, index) => {
        callBack(() => onAccepted(eventOf(entry), answer.raw_event_ids[index] ?? ''));
      });
    } catch (error) {
      // Abandoned: the entries stay in the buffer, for close() to return.
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      const { refused, others } = culprits(entries, error);
      this.#refuse(refused, error);
      for (const part of others) if (part.length > 0) await this.#deliver(part);
    }
  }

  #refuse(entries: readonly Entry[], error: ApiError): void {
    this.#buffer.settle(entries);
    for (const entry of entries) callBack(() => this.#options.onRefused(eventOf(entry), error));
  }
}

/** Calls back; an error of the callback is rethrown outside and does not stop the sending. */
function callBack(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** @throws ConnectionError for what the service never returns, such as an empty response of a proxy */
function acceptedOf(answer: Partial<BatchIngestAccepted> | undefined, count: number): BatchIngestAccepted {
  if (answer?.raw_event_ids?.length === count) return answer as BatchIngestAccepted;
  throw new ConnectionError('the response does not say which events were accepted');
}

function bodyOf(source: string, entries: readonly Entry[]): string {
  return `{"source":${JSON.stringify(source)},"events":[${entries.map((entry) => entry.text).join(',')}]}`;
}

/** Returns the entries that a refusal is about, and the parts in which the others are sent again. */
function culprits(
  entries: readonly Entry[],
  error: ApiError,
): { refused: readonly Entry[]; others: readonly (readonly Entry[])[] } {
  // The key is the problem, not the events: no part of the batch would succeed.
  const concernsContent = error.status === 400 || error.status === 413;
  if (entries.length === 1 || !concernsContent) return { refused: entries, others: [] };
  const named = new Set(error.details.map(({ path }) => Number(EVENT_INDEX.exec(path)?.[1] ?? Number.NaN)));
  const refused = entries.filter((_, index) => named.has(index));
  if (refused.length > 0) return { refused, others: [entries.filter((_, index) => !named.has(index))] };
  const middle = entries.length >> 1;
  return { refused: [], others: [entries.slice(0, middle), entries.slice(middle)] };
}

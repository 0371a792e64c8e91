import { randomUUID } from 'node:crypto';
import type { BatchIngestItem } from '#contract';

/** An event to send. Missing fields are filled in when it is added, and stay the same in every retry. */
export type NewEvent = Omit<BatchIngestItem, 'idempotency_key' | 'occurred_at'> &
  Partial<Pick<BatchIngestItem, 'idempotency_key' | 'occurred_at'>>;

/** An event as it is sent. However often it is sent, it counts once. */
export type BufferedEvent = BatchIngestItem;

/** The JSON text of one event. It is made when the event is added, so later changes of the object have no effect. */
export interface Entry {
  readonly text: string;
  readonly bytes: number;
  readonly addedMs: number;
}

export interface BufferBounds {
  readonly batchEventsMax: number;
  readonly batchBytesMax: number;
  readonly bufferEventsMax: number;
}

export function entryOf(event: NewEvent, nowMs: number): Entry {
  const { idempotency_key = randomUUID(), occurred_at = Math.floor(nowMs / 1_000), ...rest } = event;
  const text = JSON.stringify({ ...rest, idempotency_key, occurred_at });
  return { text, bytes: Buffer.byteLength(text), addedMs: nowMs };
}

export function eventOf(entry: Entry): BufferedEvent {
  return JSON.parse(entry.text) as BufferedEvent;
}

/** Events that wait or are being sent, oldest first; never more than `bufferEventsMax`. */
export class EventBuffer {
  readonly #bounds: BufferBounds;
  readonly #waiting: Entry[] = [];
  #underway: Entry[] = [];
  /** Callers of `add` that found the buffer full, in the order in which they came. */
  readonly #adders: (() => void)[] = [];

  constructor(bounds: BufferBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#waiting.length + this.#underway.length;
  }

  get oldest(): Entry | undefined {
    return this.#waiting[0];
  }

  /** Whether the waiting events fill a batch. */
  get hasFullBatch(): boolean {
    return this.#batchLength() < this.#waiting.length || this.#waiting.length >= this.#bounds.batchEventsMax;
  }

  get isFull(): boolean {
    return this.size >= this.#bounds.bufferEventsMax;
  }

  /** Resolves when it is the caller's turn to check for room. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.#adders.push(resolve));
  }

  push(entry: Entry): void {
    this.#waiting.push(entry);
  }

  /** Moves the oldest events, as many as fit into one request, to those being sent. */
  takeBatch(): readonly Entry[] {
    this.#underway = this.#waiting.splice(0, this.#batchLength());
    return this.#underway;
  }

  /** Removes events that were accepted or refused, and lets in as many waiting callers. */
  settle(entries: readonly Entry[]): void {
    const settled = new Set(entries);
    this.#underway = this.#underway.filter((entry) => !settled.has(entry));
    this.wakeAdders(entries.length);
  }

  wakeAdders(count: number): void {
    for (const wake of this.#adders.splice(0, count)) wake();
  }

  /** Empties the buffer and returns its entries, oldest first. */
  drain(): readonly Entry[] {
    const left = [...this.#underway, ...this.#waiting.splice(0)];
    this.#underway = [];
    this.wakeAdders(this.#adders.length);
    return left;
  }

  /** Returns how many of the waiting events go into one request; a single event always does, however large. */
  #batchLength(): number {
    let bytes = 0;
    let length = 0;
    for (const entry of this.#waiting) {
      bytes += entry.bytes + 1;
      if (length === this.#bounds.batchEventsMax || (length > 0 && bytes > this.#bounds.batchBytesMax)) break;
      length += 1;
    }
    return length;
  }
}

import { requestRaw } from './client.js';

/** A server-sent event. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Parses a stream of server-sent events from pieces of any size. */
export class EventReader {
  #rest = '';
  #name = '';
  #data: string[] = [];
  #lastId: string | undefined;

  /** The last event ID of the stream, from which a new request resumes it. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** The events that are complete with this piece. */
  take(piece: string): ServerEvent[] {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): ServerEvent[] {
    if (line === '') return this.#end();
    const [field, value = ''] = line.split(/: ?(.*)/s);
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id') this.#lastId = value;
    return [];
  }

  #end(): ServerEvent[] {
    const event = { name: this.#name, data: this.#data.join('\n') };
    const isEvent = this.#data.length > 0;
    this.#name = '';
    this.#data = [];
    return isEvent ? [event] : [];
  }
}

export interface FollowOptions {
  /** The position to resume from; undefined starts with new events. */
  readonly lastId: string | undefined;
  readonly signal: AbortSignal;
  /** `lastId` is the position after these events. */
  readonly onEvents: (events: readonly ServerEvent[], lastId: string | undefined) => void;
}

/**
 * Follows a stream until it ends. It uses `fetch` instead of `EventSource`, because errors then have a
 * reason, and a stream that was stopped on purpose can be resumed.
 * @throws ApiFailure if the request fails; AbortError
 */
export async function followEvents(path: string, { lastId, signal, onEvents }: FollowOptions): Promise<void> {
  const { body } = await requestRaw('GET', path, {
    headers: { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
    signal,
  });
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const events = new EventReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onEvents(events.take(value), events.lastId ?? lastId);
  }
}

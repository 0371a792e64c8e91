import { requestRaw } from './client.js';

/** A server-sent event. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Takes a stream of server-sent events as it comes, in pieces of any size. */
export class EventReader {
  #rest = '';
  #name = '';
  #data: string[] = [];
  #lastId: string | undefined;

  /** The last position that the stream named: where it goes on from, when it is asked for again. */
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
  /** From where on; undefined: from now on. */
  readonly lastId: string | undefined;
  readonly signal: AbortSignal;
  /** `lastId` is where to go on from once the events are dealt with. */
  readonly onEvents: (events: readonly ServerEvent[], lastId: string | undefined) => void;
}

/**
 * Follows a stream until it ends. With `fetch` and not with an `EventSource`: a refusal says why, and a
 * stream that was left on purpose can be resumed.
 * @throws ApiFailure when it is refused or cannot be reached; AbortError
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

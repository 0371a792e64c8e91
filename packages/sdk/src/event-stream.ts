import type { StreamBuckets, StreamReset } from '#contract';

/** A message of a stream that follows analysis queries. */
export type StreamMessage = StreamEvent & {
  /** Where to continue after this message; pass it to the next `follow`. */
  readonly position: string | undefined;
};

type StreamEvent =
  /** The stream has started: query everything once; every later change is sent. */
  | { readonly type: 'ready' }
  /** Replace these buckets of a query. */
  | { readonly type: 'buckets'; readonly data: StreamBuckets }
  /** Query one query, or all of them, again. */
  | { readonly type: 'reset'; readonly data: StreamReset }
  /** Nothing has changed; the connection is alive. */
  | { readonly type: 'alive' };

/** Yields the messages of a stream of server-sent events. */
export async function* messagesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamMessage, void> {
  const decoder = new TextDecoder();
  const reader = new EventReader();
  for await (const chunk of chunks) {
    for (const { name, data, id } of reader.take(decoder.decode(chunk, { stream: true }))) {
      if (name === 'ready') yield { type: name, position: id };
      else if (name === 'buckets')
        yield { type: name, data: JSON.parse(data) as StreamBuckets, position: id };
      else if (name === 'reset') yield { type: name, data: JSON.parse(data) as StreamReset, position: id };
      else if (name === '') yield { type: 'alive', position: id };
    }
  }
}

/** A server-sent event; one without a name and data only carries a position. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
  /** The last position that the stream has sent. */
  readonly id: string | undefined;
}

/** Reads server-sent events from text that arrives in pieces of any size. */
export class EventReader {
  #rest = '';
  #name = '';
  #data: string[] = [];
  #id: string | undefined;

  /** @returns the events that are complete with this piece */
  take(piece: string): ServerEvent[] {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): ServerEvent[] {
    if (line === '') return [this.#end()];
    const [field, value = ''] = line.split(/: ?(.*)/s);
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id') this.#id = value;
    return [];
  }

  #end(): ServerEvent {
    const event = { name: this.#name, data: this.#data.join('\n'), id: this.#id };
    this.#name = '';
    this.#data = [];
    return event;
  }
}

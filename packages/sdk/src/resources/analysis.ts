import type { AnalysisQuery, AnalysisResult, MetricsResponse, StreamQueryString } from '#contract';
import { messagesOf, type StreamMessage } from '../event-stream.js';
import type { CallOptions, PathTransport } from '../path-transport.js';

/** The analysis queries and charts (by id) whose changes are followed; at most 16 in all. */
export type FollowQuery = Omit<StreamQueryString, 'query'> & { readonly query?: readonly AnalysisQuery[] };

export interface FollowOptions extends CallOptions {
  /** Where to continue: the `position` of the last message that was read. Without it, the stream starts now. */
  readonly position?: string | undefined;
}

/** Exact sums of charge items. */
export class Analysis {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  query(query: AnalysisQuery, options?: CallOptions): Promise<AnalysisResult> {
    return this.#transport.post('/analysis/query', query, options);
  }

  /** As `query`, with the rows as the text of a CSV file. */
  queryCsv(query: AnalysisQuery, options?: CallOptions): Promise<string> {
    return this.#transport.postFor('text/csv', '/analysis/query', query, options);
  }

  /**
   * Follows queries and charts: yields which of their buckets have changed, at most once a second, until the connection
   * ends. To continue after that, follow again from the `position` of the last message.
   *
   * @throws ApiError when the request is refused, ConnectionError when the connection breaks, the reason of an aborted
   * signal
   */
  follow({ query, ...rest }: FollowQuery, options: FollowOptions = {}): AsyncGenerator<StreamMessage, void> {
    const { position, signal } = options;
    const chunks = this.#transport.stream(
      '/analysis/stream',
      { ...rest, ...(query !== undefined && { query: query.map((each) => JSON.stringify(each)) }) },
      {
        headers: {
          accept: 'text/event-stream',
          ...(position !== undefined && { 'last-event-id': position }),
        },
        signal,
      },
    );
    return messagesOf(chunks);
  }

  /** Returns the metrics that have been used, with their dimensions. */
  metrics(options?: CallOptions): Promise<MetricsResponse> {
    return this.#transport.get('/usage/metrics', {}, options);
  }
}

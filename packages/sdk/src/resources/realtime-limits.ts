import type {
  LimitCrossingPage,
  LimitCrossingsQuery,
  RealtimeLimits as LimitsOfSubject,
  RealtimeCheck,
  RealtimeCheckBody,
  RealtimeLimitsQuery,
} from '#contract';
import type { CallOptions, PathTransport } from '../path-transport.js';

/** How much of its limits a subject has used. */
export class RealtimeLimits {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  /** Returns every limit of the subject, in its current window or in the one that contains the time `at`. */
  snapshot(query: RealtimeLimitsQuery, options?: CallOptions): Promise<LimitsOfSubject> {
    return this.#transport.get('/subject/realtime/limits', query, options);
  }

  /**
   * Returns limits, and percentages of them, that the usage of a subject has reached, or fallen below again, in the
   * last 30 days; newest first.
   */
  crossings(query: LimitCrossingsQuery, options?: CallOptions): Promise<LimitCrossingPage> {
    return this.#transport.get('/subject/realtime/crossings', query, options);
  }

  /**
   * Whether the usage would be allowed. Reserves nothing: when two requests are allowed at the same time, there may be
   * room for only one of them.
   */
  check(usage: RealtimeCheckBody, options?: CallOptions): Promise<RealtimeCheck> {
    return this.#transport.post('/subject/realtime/check', usage, options);
  }
}

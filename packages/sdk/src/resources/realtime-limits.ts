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

  /** Every limit of the subject as it stands now. */
  snapshot(subject: RealtimeLimitsQuery, options?: CallOptions): Promise<LimitsOfSubject> {
    return this.#transport.get('/subject/realtime/limits', subject, options);
  }

  /** Limits, and shares of them, that the usage of a subject has reached in the last 30 days; newest first. */
  crossings(query: LimitCrossingsQuery, options?: CallOptions): Promise<LimitCrossingPage> {
    return this.#transport.get('/subject/realtime/crossings', query, options);
  }

  /**
   * Whether the usage would be allowed. Holds nothing: of two at once that are allowed, one may find the room
   * taken.
   */
  check(usage: RealtimeCheckBody, options?: CallOptions): Promise<RealtimeCheck> {
    return this.#transport.post('/subject/realtime/check', usage, options);
  }
}

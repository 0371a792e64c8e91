import type {
  ApplyCorrectionRequest,
  Correction,
  CorrectionAccepted,
  CorrectionPage,
  CorrectionRequest,
  CorrectionStarted,
  CorrectionSummary,
  CorrectionsQuery,
  DeleteCorrectionQuery,
  ReplaceEventRequest,
  RevertCorrectionRequest,
  VoidEventRequest,
} from '#contract';
import type { CallOptions, PathTransport, WriteOptions } from '../path-transport.js';
import { path } from '../transport.js';

/** Default pause between two looks at a correction in progress, in milliseconds. */
const LOOK_MS = 500;
/** Entries of one page of a list. */
const PAGE_SIZE = 100;

/** Options of a wait. Abort `signal` to stop waiting; the correction goes on. */
export interface WaitOptions extends CallOptions {
  /** Pause between two requests, in milliseconds. Default: 500. */
  readonly lookMs?: number | undefined;
}

/** Corrections of usage that was rated already. They add counter-entries and change no entry. */
export class Corrections {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  /**
   * Takes an event back. A voided event stays as it is, and the correction that voided it is returned. The correction
   * may still be in progress when this returns: see `untilEnded`.
   */
  voidEvent(
    rawEventId: string,
    request: VoidEventRequest,
    options?: WriteOptions,
  ): Promise<CorrectionAccepted> {
    return this.#transport.post(path`/usage/events/${rawEventId}/void`, request, options);
  }

  /**
   * Rates an event with new content, which replaces the present one whole. The correction ends as `failed`, and the
   * event stays as it is, if the new content cannot be rated.
   */
  replaceEvent(
    rawEventId: string,
    request: ReplaceEventRequest,
    options?: WriteOptions,
  ): Promise<CorrectionAccepted> {
    return this.replaceEventText(rawEventId, JSON.stringify(request), options);
  }

  /** As `replaceEvent`, with a body that is JSON text already; its numbers keep every digit. */
  replaceEventText(rawEventId: string, body: string, options?: WriteOptions): Promise<CorrectionAccepted> {
    return this.#transport.postText(path`/usage/events/${rawEventId}/replace`, body, options);
  }

  /** Corrects all events that match, at once, or with `dry_run` after `apply`. */
  create(request: CorrectionRequest, options?: WriteOptions): Promise<CorrectionStarted> {
    return this.#transport.post('/usage/corrections', request, options);
  }

  /** Returns corrections without their totals, newest first, also those of single events. */
  list(query: CorrectionsQuery = {}, options?: CallOptions): Promise<CorrectionPage> {
    return this.#transport.get('/usage/corrections', query, options);
  }

  /** Yields every matching correction, page after page, newest first. */
  async *all(
    query: Omit<CorrectionsQuery, 'limit' | 'offset'> = {},
    options?: CallOptions,
  ): AsyncGenerator<CorrectionSummary, void> {
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const page = await this.list({ ...query, limit: PAGE_SIZE, offset }, options);
      yield* page.corrections;
      if (offset + PAGE_SIZE >= page.total_count) return;
    }
  }

  /** Returns the progress of a correction, and what it changes. */
  get(correctionId: string, options?: CallOptions): Promise<Correction> {
    return this.#transport.get(path`/usage/corrections/${correctionId}`, {}, options);
  }

  /**
   * Applies a plan, exactly as it is; with `counters: 'current'`, amounts that depend on totals are computed again.
   * The audit log keeps the reason. Throws an ApiError `correction_not_planned` if there is no plan to apply.
   */
  apply(
    correctionId: string,
    { counters, reason, ...options }: WriteOptions & ApplyCorrectionRequest = {},
  ): Promise<Correction> {
    const body = bodyOf({ counters, reason });
    return this.#transport.post(path`/usage/corrections/${correctionId}/apply`, body, options);
  }

  /**
   * Gives every event its former revision again. Throws an ApiError `correction_superseded` if a later correction has
   * changed one of them: revert that one first.
   */
  revert(
    correctionId: string,
    { reason, ...options }: WriteOptions & RevertCorrectionRequest = {},
  ): Promise<Correction> {
    return this.#transport.post(path`/usage/corrections/${correctionId}/revert`, bodyOf({ reason }), options);
  }

  /** Ends a plan that was not applied. */
  delete(
    correctionId: string,
    { reason, ...options }: WriteOptions & DeleteCorrectionQuery = {},
  ): Promise<Correction> {
    return this.#transport.delete(path`/usage/corrections/${correctionId}`, options, { reason });
  }

  /** Reads a correction again and again, until it is not in progress: planned, or ended in any other way. */
  async untilEnded(
    correctionId: string,
    { lookMs = LOOK_MS, signal }: WaitOptions = {},
  ): Promise<Correction> {
    for (;;) {
      const correction = await this.get(correctionId, { signal });
      if (!isInProgress(correction)) return correction;
      await pause(lookMs, signal);
    }
  }
}

/** Returns the fields as a body; undefined if none is set, so that no body is sent. */
function bodyOf(fields: Readonly<Record<string, string | undefined>>): object | undefined {
  return Object.values(fields).some((value) => value !== undefined) ? fields : undefined;
}

function isInProgress({ status }: Correction): boolean {
  return status === 'planning' || status === 'applying' || status === 'reverting';
}

/** Waits in Node.js and in browsers. @throws the reason of `signal` */
function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, durationMs);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

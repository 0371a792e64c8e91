import {
  type BatchIngest,
  type BatchIngestItem,
  ERRORS,
  type ErrorCode,
  type ErrorDetail,
  type IngestEvent,
  METADATA_BYTES_MAX,
  type XBilling,
} from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError, ERROR_DETAILS_MAX } from '../../kernel/errors.js';
import { parseLossless, scanJson, stringifyLossless } from '../../kernel/json/json.js';
import { isUsableText } from '../../kernel/usable-text.js';
import type { EventWindow } from '../quotas/index.js';
import { checkBilling } from '../rules/index.js';

type Event = IngestEvent | BatchIngestItem;

const SECONDS_PER_DAY = 86_400;
/** A raw event id begins with occurred_at in 32 bits. */
const OCCURRED_AT_MAX = 2 ** 32 - 1;
const TEXT_FIELDS = ['source', 'idempotency_key', 'external_event_id', 'subject_id'] as const;

/** Checks events that are valid by the schema. Create one for each request. */
export class EventCheck {
  readonly #body: IngestEvent | BatchIngest;
  readonly #rawBody: Buffer;
  readonly #findings = new Findings();
  readonly #earliest: number;
  readonly #latest: number;
  /** In UTF-8, only an escape can bring NUL or a lone surrogate into a string. */
  readonly #mayHoldUnusableText: boolean;
  readonly #mayHoldLargeMetadata: boolean;
  #lossless: unknown;
  readonly #report = (path: string, message: string): void =>
    this.#findings.add('invalid_request', path, message);

  /** @param rawBody the bytes that `body` was parsed from */
  constructor(body: IngestEvent | BatchIngest, rawBody: Buffer, window: EventWindow, clock: Clock) {
    this.#body = body;
    this.#rawBody = rawBody;
    const now = unixSeconds(clock);
    this.#earliest = Math.max(0, now - window.ageDaysMax * SECONDS_PER_DAY);
    this.#latest = Math.min(OCCURRED_AT_MAX, now + window.aheadDaysMax * SECONDS_PER_DAY);
    this.#mayHoldUnusableText = rawBody.includes('\\u');
    this.#mayHoldLargeMetadata = rawBody.length > METADATA_BYTES_MAX;
  }

  /** @throws DomainError with every problem, up to a bound. */
  single(event: IngestEvent): void {
    this.#checkEvent(event, undefined);
    this.#findings.throwIfAny({ inBatch: false });
  }

  /** @throws DomainError that names the first invalid item as `events[i]`. */
  batch(batch: BatchIngest): void {
    const { events, source } = batch;
    if (source !== undefined && this.#mayHoldUnusableText) this.#checkText(source, '', 'source');
    for (let index = 0; index < events.length && !this.#findings.isFull; index += 1) {
      const event = events[index] as BatchIngestItem;
      if (event.source === undefined && source === undefined) {
        this.#add(index, 'source', 'is required, because the batch has no source');
      }
      this.#checkEvent(event, index);
    }
    this.#findings.throwIfAny({ inBatch: true });
  }

  #checkEvent(event: Event, index: number | undefined): void {
    if (this.#mayHoldUnusableText) this.#checkTexts(event, index);
    if ((event.subject_type === undefined) !== (event.subject_id === undefined)) {
      const [missing, sent] =
        event.subject_type === undefined ? ['subject_type', 'subject_id'] : ['subject_id', 'subject_type'];
      const message = `is required, because ${sent} was sent`;
      this.#findings.add('subject_pair_incomplete', placeOf(index) + missing, message);
    }
    const occurredAt = event.occurred_at;
    if (!(occurredAt >= this.#earliest && occurredAt <= this.#latest)) {
      const message = `must lie between ${this.#earliest} and ${this.#latest}`;
      this.#findings.add('occurred_at_out_of_range', `${placeOf(index)}occurred_at`, message);
    }
    if (event['x-billing'] !== undefined) {
      const billing = this.#exact(index)['x-billing'] as XBilling;
      checkBilling(billing, `${placeOf(index)}x-billing`, this.#report);
    }
    if (this.#mayHoldLargeMetadata && event.metadata !== undefined) this.#checkMetadata(index);
  }

  #checkTexts(event: Event, index: number | undefined): void {
    const place = placeOf(index);
    if ('extractor_rule_set_id' in event) {
      this.#checkText(event.extractor_rule_set_id, place, 'extractor_rule_set_id');
    }
    for (const field of TEXT_FIELDS) {
      const text = event[field];
      if (text !== undefined) this.#checkText(text, place, field);
    }
    const leaseId = event['x-usage-control']?.budget_lease_id;
    if (leaseId !== undefined) this.#checkText(leaseId, place, 'x-usage-control.budget_lease_id');
  }

  #checkText(text: string, place: string, field: string): void {
    if (isUsableText(text)) return;
    this.#findings.add('invalid_request', place + field, 'text must not contain NUL or a lone surrogate');
  }

  #checkMetadata(index: number | undefined): void {
    const bytes = Buffer.byteLength(stringifyLossless(this.#exact(index).metadata));
    if (bytes <= METADATA_BYTES_MAX) return;
    this.#add(
      index,
      'metadata',
      `is ${bytes} bytes; at most ${METADATA_BYTES_MAX} (METADATA_BYTES_MAX) are accepted`,
    );
  }

  /**
   * Returns the event with every number as exact as it was sent. Parses the body again only if a double lost digits.
   */
  #exact(index: number | undefined): Event {
    this.#lossless ??= scanJson(this.#rawBody).hasInexactNumber
      ? parseLossless(this.#rawBody.toString('utf8'))
      : this.#body;
    if (index === undefined) return this.#lossless as IngestEvent;
    return (this.#lossless as BatchIngest).events[index] as BatchIngestItem;
  }

  #add(index: number | undefined, field: string, message: string): void {
    this.#findings.add('invalid_request', placeOf(index) + field, message);
  }
}

function placeOf(index: number | undefined): string {
  return index === undefined ? '' : `events[${index}].`;
}

/** The problems of a request: the first one decides the error code, and all are listed up to a bound. */
export class Findings {
  #code: ErrorCode | undefined;
  readonly #details: ErrorDetail[] = [];

  get isFull(): boolean {
    return this.#details.length >= ERROR_DETAILS_MAX;
  }

  add(code: ErrorCode, path: string, message: string): void {
    this.#code ??= code;
    if (!this.isFull) this.#details.push({ path, message });
  }

  /** @throws DomainError when there is any; its message names the first place. */
  throwIfAny(options: { readonly inBatch: boolean }): void {
    const first = this.#details[0];
    if (this.#code === undefined || first === undefined) return;
    const summary = ERRORS[this.#code].message.replace(/\.$/, '');
    throw new DomainError(this.#code, {
      message: `${summary}: ${first.path}: ${first.message}.`,
      details: this.#details,
      inBody: options.inBatch,
    });
  }
}

import { BatchIngestItem } from '@tollgate/contract';
import {
  ALL,
  type JsonSelection,
  JsonSpan,
  parseJson,
  SelectedEntries,
  SelectedMembers,
  SPAN,
  selectJson,
  stringifyLossless,
} from '../../kernel/json/json.js';
import { type RatingFacts, ratingFactsOf } from '../rules/index.js';

/** Events that arrived together: one accepted request, or one event that is rated anew. */
export interface EventGroup {
  readonly tenantId: string;
  readonly projectId: string;
  readonly projectNo: number;
  readonly storage: 'shared' | 'dedicated';
  readonly receivedAtMs: number;
  /** 0 at first; above, the event is rated anew in place of its failed row. */
  readonly attempt: number;
  /** 16 bytes for each event of the body. */
  readonly ids: Buffer;
  readonly body: EventBody;
  /** Those of the body that are to be rated. */
  readonly events: AcceptedEvent[];
}

/** An accepted event on its way through a batch. */
export interface AcceptedEvent {
  readonly projectNo: number;
  readonly idHex: string;
  /** Its place in the body. */
  readonly index: number;
}

/** An event's fields, as they are needed; an absent text is empty. */
export interface Envelope {
  readonly extractorRuleSetId: string;
  readonly source: string;
  readonly externalEventId: string;
  readonly idempotencyKey: string;
  readonly budgetLeaseId: string;
  /** What is rated beside `raw_json`: subject, time and `x-billing`. */
  readonly facts: RatingFacts;
  /** JSON text of `raw_json` as it was sent, or printed where the bytes could not be told apart. */
  readonly rawJsonText: Uint8Array | string;
  readonly metadata: string;
  readonly xBilling: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Of `raw_json` only some places are read, once it is known by which rules. */
const ENVELOPE = new SelectedMembers(
  Object.keys(BatchIngestItem.properties).map((name) => [name, name === 'raw_json' ? SPAN : ALL] as const),
);
const BODIES = {
  single: ENVELOPE,
  batch: new SelectedMembers([
    ['source', ALL],
    ['events', new SelectedEntries(ENVELOPE)],
  ]),
};

/** The body of one request. It was validated when it was accepted; what is not as expected now throws. */
export class EventBody {
  #events: readonly Fields[] | undefined;
  #source = '';

  constructor(
    private readonly bytes: Buffer,
    private readonly kind: 'single' | 'batch',
    private readonly eventCount: number,
    private readonly extractorRuleSetId: string | null,
  ) {}

  envelope(index: number): Envelope {
    const fields = this.#fields(index);
    const control = (fields['x-usage-control'] ?? {}) as Fields;
    return {
      extractorRuleSetId: this.extractorRuleSetId ?? text(fields, 'extractor_rule_set_id'),
      source: text(fields, 'source') || this.#source,
      externalEventId: text(fields, 'external_event_id'),
      idempotencyKey: text(fields, 'idempotency_key'),
      budgetLeaseId: text(control, 'budget_lease_id'),
      facts: ratingFactsOf(fields),
      rawJsonText: this.#rawJsonText(fields),
      metadata: jsonText(fields.metadata),
      xBilling: jsonText(fields['x-billing']),
    };
  }

  /** The event's `raw_json`, parsed, at least as far as it is selected. */
  rawJson(index: number, selection: JsonSelection): unknown {
    const { raw_json: rawJson } = this.#fields(index);
    if (!(rawJson instanceof JsonSpan)) return rawJson;
    const { start, end } = rawJson;
    return selectJson(this.bytes, selection, start) ?? parseJson(this.bytes.subarray(start, end));
  }

  /**
   * JSON text of the event as a single body: what reprocessing reads. `raw_json` is as it was sent; the source is
   * the event's own even where it came from the batch. Never throws: an unreadable body is kept whole, once.
   */
  storedText(index: number): string {
    if (this.kind === 'single') return this.bytes.toString('utf8');
    let fields: Fields;
    try {
      fields = this.#fields(index);
    } catch {
      return index === 0 ? this.bytes.toString('utf8') : '{}';
    }
    const { raw_json: _, ...rest } = fields;
    const rawJson = this.#rawJsonText(fields);
    const rawJsonText = typeof rawJson === 'string' ? rawJson : Buffer.from(rawJson).toString('utf8');
    const envelope = stringifyLossless({ ...rest, source: text(fields, 'source') || this.#source });
    return `${envelope.slice(0, -1)},"raw_json":${rawJsonText}}`;
  }

  /** Forgets what was parsed, which is many times the size of its text; asked again, it parses again. */
  close(): void {
    this.#events = undefined;
  }

  #fields(index: number): Fields {
    this.#events ??= this.#parse();
    const fields = this.#events[index];
    if (!isFields(fields)) throw new TypeError(`event ${index} is not an object`);
    return fields;
  }

  #parse(): readonly Fields[] {
    const body = selectJson(this.bytes, BODIES[this.kind]) ?? parseJson(this.bytes);
    if (!isFields(body)) throw new TypeError('the body is not an object');
    const events = this.kind === 'single' ? [body] : body.events;
    if (!Array.isArray(events) || events.length !== this.eventCount) {
      throw new TypeError(`the body does not hold ${this.eventCount} events`);
    }
    this.#source = text(body, 'source');
    return events;
  }

  #rawJsonText({ raw_json: rawJson = null }: Fields): Uint8Array | string {
    if (rawJson instanceof JsonSpan) return this.bytes.subarray(rawJson.start, rawJson.end);
    return stringifyLossless(rawJson);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

function jsonText(value: unknown): string {
  return value === undefined ? '' : stringifyLossless(value);
}

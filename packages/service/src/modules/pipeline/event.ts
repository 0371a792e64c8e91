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

/** Events that arrived together: one accepted request, or one failed event that is rated again. */
export interface EventGroup {
  readonly tenantId: string;
  readonly projectId: string;
  readonly projectNo: number;
  readonly storage: 'shared' | 'dedicated';
  readonly receivedAtMs: number;
  /** 0 at first; above 0, the event is rated again and replaces its failed row. */
  readonly attempt: number;
  /** 0 at first; above 0, corrections have given back the failed event that is rated again. */
  readonly corrections: number;
  /** The correction that gave it back last; otherwise empty. */
  readonly correctionId: string;
  /** 16 bytes for each event of the body. */
  readonly ids: Buffer;
  readonly body: EventBody;
  /** The events of the body that have to be rated. */
  readonly events: AcceptedEvent[];
}

/** An accepted event on its way through a batch. */
export interface AcceptedEvent {
  readonly projectNo: number;
  readonly idHex: string;
  /** Index in the body. */
  readonly index: number;
}

/** The fields of an event that rating and encoding need; an absent text is empty. */
export interface Envelope {
  readonly extractorRuleSetId: string;
  readonly source: string;
  readonly externalEventId: string;
  readonly idempotencyKey: string;
  readonly budgetLeaseId: string;
  /** Inputs of the rules besides `raw_json`: subject, time and `x-billing`. */
  readonly facts: RatingFacts;
  /** JSON text of `raw_json` as it was sent, or printed where its bytes could not be separated. */
  readonly rawJsonText: Uint8Array | string;
  readonly metadata: string;
  readonly xBilling: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** `raw_json` is kept as bytes; parts of it are parsed once its rules are known. */
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

/** The body of one request. It was validated when it was accepted; anything unexpected throws here. */
export class EventBody {
  readonly #bytes: Buffer;
  readonly #kind: 'single' | 'batch';
  readonly #eventCount: number;
  readonly #extractorRuleSetId: string | null;
  #events: readonly Fields[] | undefined;
  #source = '';

  constructor(
    bytes: Buffer,
    kind: 'single' | 'batch',
    eventCount: number,
    extractorRuleSetId: string | null,
  ) {
    this.#bytes = bytes;
    this.#kind = kind;
    this.#eventCount = eventCount;
    this.#extractorRuleSetId = extractorRuleSetId;
  }

  envelope(index: number): Envelope {
    const fields = this.#fields(index);
    const control = (fields['x-usage-control'] ?? {}) as Fields;
    return {
      extractorRuleSetId: this.#extractorRuleSetId ?? text(fields, 'extractor_rule_set_id'),
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

  /** Returns the event's `raw_json`, parsed at least where `selection` selects it. */
  rawJson(index: number, selection: JsonSelection): unknown {
    const { raw_json: rawJson } = this.#fields(index);
    if (!(rawJson instanceof JsonSpan)) return rawJson;
    const { start, end } = rawJson;
    return selectJson(this.#bytes, selection, start) ?? parseJson(this.#bytes.subarray(start, end));
  }

  /**
   * Returns the JSON text of the event as a body of its own, which reprocessing reads. `raw_json` is as it was sent; a
   * `source` of the batch is copied into the event. Never throws: an unreadable body is returned whole, for its first
   * event only.
   */
  storedText(index: number): string {
    if (this.#kind === 'single') return this.#bytes.toString('utf8');
    let fields: Fields;
    try {
      fields = this.#fields(index);
    } catch {
      return index === 0 ? this.#bytes.toString('utf8') : '{}';
    }
    const { raw_json: _, ...rest } = fields;
    const rawJson = this.#rawJsonText(fields);
    const rawJsonText = typeof rawJson === 'string' ? rawJson : Buffer.from(rawJson).toString('utf8');
    const envelope = stringifyLossless({ ...rest, source: text(fields, 'source') || this.#source });
    return `${envelope.slice(0, -1)},"raw_json":${rawJsonText}}`;
  }

  /** Drops what was parsed, which takes many times the memory of its text. It is parsed again when needed. */
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
    const body = selectJson(this.#bytes, BODIES[this.#kind]) ?? parseJson(this.#bytes);
    if (!isFields(body)) throw new TypeError('the body is not an object');
    const events = this.#kind === 'single' ? [body] : body.events;
    if (!Array.isArray(events) || events.length !== this.#eventCount) {
      throw new TypeError(`the body does not contain ${this.#eventCount} events`);
    }
    this.#source = text(body, 'source');
    return events;
  }

  #rawJsonText({ raw_json: rawJson = null }: Fields): Uint8Array | string {
    if (rawJson instanceof JsonSpan) return this.#bytes.subarray(rawJson.start, rawJson.end);
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

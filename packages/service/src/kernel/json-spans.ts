import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from './json-grammar.js';
import { type PartScan, scanContainer, scanNumber, startsNumber, stringEnd } from './json-scan.js';

/** A range of bytes; `end` is exclusive. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

const RAW_JSON = Buffer.from('raw_json');
const EVENTS = Buffer.from('events');

/** What one look over the bytes of a request body tells before it is parsed. */
export interface EventsScan {
  /**
   * Where the `raw_json` of each event stands, as it was sent: the value of the top-level key of a single body, or of every element of
   * `events` of a batch. As in `JSON.parse` the last of duplicate keys wins. Undefined when a key at those levels has an escape, or an
   * event has no raw_json: then print the parsed value.
   */
  readonly rawJsonSpans: readonly ByteSpan[] | undefined;
  /** As in `JsonScan`, of the whole body. */
  readonly hasInexactNumber: boolean;
}

/** @param bytes a body already known to be valid JSON */
export function scanEvents(bytes: Uint8Array, kind: 'single' | 'batch'): EventsScan {
  const reader = new SpanReader(bytes);
  const spans = kind === 'single' ? reader.rawJson() : reader.rawJsonOfEvents();
  const { sawEscapedKey, sawInexactNumber } = reader;
  return { rawJsonSpans: sawEscapedKey ? undefined : spans, hasInexactNumber: sawInexactNumber };
}

/** A cursor over valid JSON. On other bytes its answers mean nothing, but it ends, and stays within the bytes. */
class SpanReader {
  sawEscapedKey = false;
  sawInexactNumber = false;
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** The span of the last member `raw_json` of the object under the cursor, in a list. */
  rawJson(): ByteSpan[] | undefined {
    const span = this.#rawJsonOfObject();
    return span && [span];
  }

  /** The same span; the cursor moves past the object. */
  #rawJsonOfObject(): ByteSpan | undefined {
    let span: ByteSpan | undefined;
    this.#members((isRawJson) => {
      const start = this.#at;
      this.#skipValue();
      if (isRawJson) span = { start, end: this.#at };
    }, RAW_JSON);
    return span;
  }

  /** The spans of the last member `events` of the object under the cursor. */
  rawJsonOfEvents(): ByteSpan[] | undefined {
    let spans: ByteSpan[] | undefined;
    this.#members((isEvents) => {
      if (isEvents) spans = this.#elements();
      else this.#skipValue();
    }, EVENTS);
    return spans;
  }

  #elements(): ByteSpan[] | undefined {
    if (this.bytes[this.#at] !== OPEN_BRACKET) {
      this.#skipValue();
      return undefined;
    }
    const spans: ByteSpan[] = [];
    let isComplete = true;
    this.#at++;
    while (this.#skipWhitespace() !== CLOSE_BRACKET && this.#at < this.bytes.length) {
      const span = this.#rawJsonOfObject();
      if (span === undefined) isComplete = false;
      else spans.push(span);
      if (this.#skipWhitespace() === COMMA) this.#at++;
    }
    this.#at++;
    return isComplete ? spans : undefined;
  }

  /** Calls back at the value of each member of the object under the cursor; the callback moves past the value. */
  #members(onValue: (isWanted: boolean) => void, wantedKey: Uint8Array): void {
    if (this.#skipWhitespace() !== OPEN_BRACE) {
      this.#skipValue();
      return;
    }
    this.#at++;
    while (this.#skipWhitespace() === QUOTE) {
      const isWanted = this.#key(wantedKey);
      if (this.#skipWhitespace() === COLON) this.#at++;
      this.#skipWhitespace();
      onValue(isWanted);
      if (this.#skipWhitespace() === COMMA) this.#at++;
    }
    this.#at++;
  }

  /** Moves past the key under the cursor and tells whether it is the wanted one. */
  #key(wanted: Uint8Array): boolean {
    const { bytes } = this;
    const start = this.#at + 1;
    this.#at = stringEnd(bytes, this.#at);
    const end = this.#at - 1;
    let isEqual = end - start === wanted.length;
    for (let at = start; at < end; at++) {
      if (bytes[at] === BACKSLASH) this.sawEscapedKey = true;
      if (isEqual && bytes[at] !== wanted[at - start]) isEqual = false;
    }
    return isEqual;
  }

  #skipValue(): void {
    const { bytes } = this;
    const first = bytes[this.#at];
    if (first === QUOTE) {
      this.#at = stringEnd(bytes, this.#at);
      return;
    }
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      this.#pass(scanContainer(bytes, this.#at));
      return;
    }
    if (startsNumber(first)) {
      this.#pass(scanNumber(bytes, this.#at));
      return;
    }
    while (this.#at < bytes.length) {
      // At least one byte, so that a reader of broken input moves on.
      this.#at++;
      if (endsScalar(bytes[this.#at])) return;
    }
  }

  #pass({ hasInexactNumber, end }: PartScan): void {
    this.sawInexactNumber ||= hasInexactNumber;
    this.#at = end;
  }

  /** The first byte at or after the cursor that is not whitespace; undefined at the end. */
  #skipWhitespace(): number | undefined {
    const { bytes } = this;
    while (this.#at < bytes.length && (bytes[this.#at] as number) <= SPACE) this.#at++;
    return bytes[this.#at];
  }
}

function endsScalar(byte: number | undefined): boolean {
  return (
    byte === undefined || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= SPACE
  );
}

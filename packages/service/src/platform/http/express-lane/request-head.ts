/** A POST with or without a body, and a GET without one. */
export type PlainMethod = 'GET' | 'POST';

/** The fields of a plain head that matter; nothing else in it makes a difference. */
export interface PlainHead {
  readonly method: PlainMethod;
  readonly path: string;
  /** The query string after the `?`, not decoded; undefined without one. A POST has none. */
  readonly query: string | undefined;
  /** Length of the head, including the empty line after it. */
  readonly headBytes: number;
  /** The stated length of the body; 0 for a GET, and for a POST without a body. */
  readonly bodyBytes: number;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** A longer head is not plain. */
const PLAIN_HEAD_BYTES_MAX = 4_096;
/** A longer head is not remembered, because each connection may remember one. */
const KNOWN_HEAD_BYTES_MAX = 1_024;

const METHODS = ['POST /', 'GET /'];
/** A query string has characters that need no decoding, and `%` and `+`, which the parser of queries decodes. */
const REQUEST_LINE =
  /^(?:POST (\/[A-Za-z0-9/_-]*)|GET (\/[A-Za-z0-9/_-]*)(?:\?([A-Za-z0-9._~%+=&:@,-]*))?) HTTP\/1\.1\r\n/;
/**
 * A field that every parser reads alike: at most one space after the colon, other spaces within the value only, no
 * folding, ASCII only.
 */
const FIELD = /([A-Za-z0-9_-]+): ?((?:[!-~](?:[ -~]*[!-~])?)?)\r\n/y;
const END = '\r\n\r\n';
const LINE_END_BYTES = 2;
const JSON_IN_UTF8 = /^application\/json(?:; ?charset=utf-8)?$/i;
/** The complete value of a field. */
const LENGTH = /^(?:0|[1-9][0-9]{0,8})(?=\r|$)/;
/** The length of a POST without a body. */
const NO_LENGTH = '0';
/** Upper bound of the text of a length and the end of its line. */
const LENGTH_BYTES_MAX = 10;

/** Fields whose values are used; a request that sends one of them twice is not plain. */
type UsedField =
  | 'host'
  | 'content-type'
  | 'content-length'
  | 'authorization'
  | 'idempotency-key'
  | 'x-request-id'
  | 'traceparent'
  | 'tracestate';
type UsedFields = { [name in UsedField]?: string };
const USED: ReadonlySet<string> = new Set<UsedField>([
  'host',
  'content-type',
  'content-length',
  'authorization',
  'idempotency-key',
  'x-request-id',
  'traceparent',
  'tracestate',
]);
/** Fields that change how a message or its connection is read. */
const DISPUTED: ReadonlySet<string> = new Set([
  'content-encoding',
  'expect',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A head that was read, and the place of its content-length: its end, if it has none. */
interface KnownHead {
  readonly head: PlainHead;
  readonly bytes: Buffer;
  readonly lengthStart: number;
  readonly lengthEnd: number;
}

/**
 * Reads the heads of one connection: POSTs with a JSON body of a stated length or with the length 0, and GETs without
 * a body, as HTTP/1.1 defines them, that no parser could read in another way. There is no leniency: Node's own parser
 * reads or refuses anything unusual.
 */
export class PlainHeadReader {
  /** Clients usually send the same head again with another content-length: then only that is read. */
  #known: KnownHead | undefined;

  /** @returns `incomplete` while the head may still become plain; undefined when it cannot */
  read(bytes: Buffer): PlainHead | 'incomplete' | undefined {
    const again = this.#known && sameButForLength(this.#known, bytes);
    if (again !== undefined) return again;
    const text = bytes.toString('latin1', 0, Math.min(bytes.length, PLAIN_HEAD_BYTES_MAX));
    const end = text.indexOf(END);
    if (end < 0) return mayBecomePlain(text) ? 'incomplete' : undefined;
    const known = plainHead(text.slice(0, end + END.length));
    if (known === undefined) return undefined;
    if (known.bytes.length <= KNOWN_HEAD_BYTES_MAX) this.#known = known;
    return known.head;
  }
}

/** Returns undefined when the bytes are not the whole known head; its `content-length` may differ. */
function sameButForLength(known: KnownHead, bytes: Buffer): PlainHead | undefined {
  const { lengthStart, lengthEnd } = known;
  if (bytes.length < known.bytes.length || known.bytes.compare(bytes, 0, lengthStart, 0, lengthStart) !== 0)
    return undefined;
  if (known.head.method === 'GET') return known.head;
  const length = LENGTH.exec(bytes.toString('latin1', lengthStart, lengthStart + LENGTH_BYTES_MAX))?.[0];
  // With a body there is a type of it, and without a body there is none.
  if (length === undefined || (length === NO_LENGTH) !== (known.head.bodyBytes === 0)) return undefined;
  const at = lengthStart + length.length;
  const headBytes = at + known.bytes.length - lengthEnd;
  if (headBytes > bytes.length || known.bytes.compare(bytes, at, headBytes, lengthEnd) !== 0)
    return undefined;
  return withLength(known.head, headBytes, Number(length));
}

/** Returns a copy. Spreading the head would cost more than everything else that is done for a known one. */
function withLength(head: PlainHead, headBytes: number, bodyBytes: number): PlainHead {
  const { method, path, query, authorization, idempotencyKey, requestId, traceparent, tracestate } = head;
  return {
    method,
    path,
    query,
    headBytes,
    bodyBytes,
    authorization,
    idempotencyKey,
    requestId,
    traceparent,
    tracestate,
  };
}

/** Whether more bytes can turn the text into a plain head. If not, it must not wait: it may not be HTTP at all. */
function mayBecomePlain(text: string): boolean {
  if (text.length === PLAIN_HEAD_BYTES_MAX) return false;
  if (text.includes('\n')) return REQUEST_LINE.test(text);
  return METHODS.some((method) => text.startsWith(method) || method.startsWith(text));
}

function plainHead(head: string): KnownHead | undefined {
  const line = REQUEST_LINE.exec(head);
  if (line === null) return undefined;
  const fieldsEnd = head.length - LINE_END_BYTES;
  const values: UsedFields = {};
  let lengthEnd = 0;
  for (let at = line[0].length; at < fieldsEnd; at = FIELD.lastIndex) {
    FIELD.lastIndex = at;
    const field = FIELD.exec(head);
    if (field === null) return undefined;
    const name = (field[1] as string).toLowerCase();
    const value = field[2] as string;
    if (DISPUTED.has(name) || (name === 'connection' && value.toLowerCase() !== 'keep-alive'))
      return undefined;
    if (!USED.has(name)) continue;
    if (values[name as UsedField] !== undefined) return undefined;
    values[name as UsedField] = value;
    if (name === 'content-length') lengthEnd = FIELD.lastIndex - LINE_END_BYTES;
  }
  const [, posted, asked, query] = line;
  const length = values['content-length'];
  const isPlain = posted === undefined ? hasNoBody(values) : hasPlainBody(values) || isEmpty(values);
  if (values.host === undefined || !isPlain) return undefined;
  return {
    head: {
      method: posted === undefined ? 'GET' : 'POST',
      path: (posted ?? asked) as string,
      query,
      headBytes: head.length,
      bodyBytes: Number(length ?? 0),
      authorization: values.authorization,
      idempotencyKey: values['idempotency-key'],
      requestId: values['x-request-id'],
      traceparent: values.traceparent,
      tracestate: values.tracestate,
    },
    bytes: Buffer.from(head, 'latin1'),
    lengthStart: length === undefined ? head.length : lengthEnd - length.length,
    lengthEnd: length === undefined ? head.length : lengthEnd,
  };
}

function hasPlainBody(values: UsedFields): boolean {
  const length = values['content-length'] ?? '';
  return JSON_IN_UTF8.test(values['content-type'] ?? '') && length !== NO_LENGTH && LENGTH.test(length);
}

/** Whether it is the head of a POST without a body. */
function isEmpty(values: UsedFields): boolean {
  return values['content-type'] === undefined && values['content-length'] === NO_LENGTH;
}

function hasNoBody(values: UsedFields): boolean {
  return values['content-type'] === undefined && values['content-length'] === undefined;
}

import { present } from '../../kernel/present.js';
/**
 * The frame of a segment: one queue row with many requests of many projects.
 *
 * u32 version · u32 headerLength · header JSON {"scopes": [...]}
 * then per request:
 * u32 scope · u64 receivedAtMs · u32 eventCount · eventCount × 16 id bytes · u32 bodyLength · body
 *
 * Integers are little-endian. Bodies are the bytes as they were received, so that accepting an event costs a copy and
 * no serialisation.
 */

export type SegmentKind = 'single' | 'batch' | 'reprocess';

/** The owner of a request, and how its body is read. */
export interface SegmentScope {
  /** `single`, `batch`: the body of that operation. `reprocess`: no body; the ids name stored events. */
  readonly kind: SegmentKind;
  readonly tenantId: string;
  readonly projectId: string;
  readonly projectNo: number;
  /** Whether the project's usage is in shared tables or in tables of its own; it never changes. */
  readonly storage: 'shared' | 'dedicated';
  /** The rule set of a single event; null where the events name their own. */
  readonly extractorRuleSetId: string | null;
}

/** One accepted request. */
export interface SegmentRecord {
  readonly scope: SegmentScope;
  readonly receivedAtMs: number;
  readonly eventCount: number;
  /** `eventCount` raw event ids of 16 bytes each, in the order of the events in the body. */
  readonly ids: Buffer;
  readonly body: Buffer;
}

/** Returns a request to rate stored events of a project again; `ids` have 32 hex digits each. */
export function reprocessRecord(
  { tenantId, projectId, projectNo, storage }: Omit<SegmentScope, 'kind' | 'extractorRuleSetId'>,
  ids: readonly string[],
  receivedAtMs: number,
): SegmentRecord {
  return {
    scope: { kind: 'reprocess', tenantId, projectId, projectNo, storage, extractorRuleSetId: null },
    receivedAtMs,
    eventCount: ids.length,
    ids: Buffer.from(ids.join(''), 'hex'),
    body: Buffer.alloc(0),
  };
}

/** Bytes that are not a segment of this version. */
export class SegmentFormatError extends Error {
  constructor(problem: string) {
    super(`not a valid segment: ${problem}`);
    this.name = 'SegmentFormatError';
  }
}

export const EVENT_ID_BYTES = 16;

const VERSION = 1;
const PREAMBLE_BYTES = 8;
/** scope, receivedAtMs, eventCount, bodyLength. */
const RECORD_FIXED_BYTES = 4 + 8 + 4 + 4;
/** Below this size a copy costs less than one more piece to write. */
const PIECE_BYTES_MIN = 16_384;
const TWO_POW_32 = 2 ** 32;
const KINDS: ReadonlySet<string> = new Set<SegmentKind>(['single', 'batch', 'reprocess']);

/** Returns the number of bytes of `record` in a segment, without its scope in the header. */
export function recordBytes(record: SegmentRecord): number {
  return RECORD_FIXED_BYTES + record.ids.length + record.body.length;
}

/** Encodes `records` as one segment. Requests of one scope share its entry in the header. */
export function encodeSegment(records: readonly SegmentRecord[]): Buffer {
  return Buffer.concat(segmentPieces(records));
}

/** The same in pieces; the large ones are the bodies themselves, because joining them would copy them. */
export function segmentPieces(records: readonly SegmentRecord[]): Buffer[] {
  const { header, scopeOf } = encodeHeader(records);
  let length = PREAMBLE_BYTES + header.length;
  for (const record of records) {
    if (record.eventCount < 1 || record.ids.length !== record.eventCount * EVENT_ID_BYTES) {
      throw new RangeError(`${record.eventCount} events with ${record.ids.length} id bytes`);
    }
    length += recordBytes(record) - (isPiece(record) ? record.body.length : 0);
  }
  const frames = Buffer.allocUnsafe(length);
  const pieces: Buffer[] = [];
  let pieceStart = 0;
  let at = frames.writeUInt32LE(VERSION, 0);
  at = frames.writeUInt32LE(header.length, at);
  at += header.copy(frames, at);
  records.forEach((record, index) => {
    const scope = scopeOf[index];
    // With the scope of another request, this one would be charged to another project.
    if (scope === undefined) throw new Error(`request ${index} has no scope`);
    at = frames.writeUInt32LE(scope, at);
    at = frames.writeUInt32LE(record.receivedAtMs % TWO_POW_32, at);
    at = frames.writeUInt32LE(Math.floor(record.receivedAtMs / TWO_POW_32), at);
    at = frames.writeUInt32LE(record.eventCount, at);
    at += record.ids.copy(frames, at);
    at = frames.writeUInt32LE(record.body.length, at);
    if (isPiece(record)) {
      pieces.push(frames.subarray(pieceStart, at), record.body);
      pieceStart = at;
    } else {
      at += record.body.copy(frames, at);
    }
  });
  if (pieceStart < at) pieces.push(frames.subarray(pieceStart));
  return pieces;
}

function isPiece({ body }: SegmentRecord): boolean {
  return body.length >= PIECE_BYTES_MIN;
}

/**
 * Decodes a segment. `ids` and `body` are views of `segment`, not copies.
 *
 * @throws SegmentFormatError for anything that `encodeSegment` cannot have written.
 */
export function decodeSegment(segment: Buffer): SegmentRecord[] {
  if (segment.length < PREAMBLE_BYTES) throw new SegmentFormatError('shorter than its preamble');
  const version = segment.readUInt32LE(0);
  if (version !== VERSION) throw new SegmentFormatError(`unknown version ${version}`);
  const headerEnd = PREAMBLE_BYTES + segment.readUInt32LE(4);
  if (headerEnd > segment.length) throw new SegmentFormatError('its header is cut off');
  const scopes = decodeScopes(segment.toString('utf8', PREAMBLE_BYTES, headerEnd));
  const records: SegmentRecord[] = [];
  // Every round consumes at least a record's fixed bytes, so the loop ends for any bytes.
  for (let at = headerEnd; at < segment.length; ) {
    const record = decodeRecord(segment, at, scopes);
    records.push(record);
    at += recordBytes(record);
  }
  return records;
}

function decodeRecord(segment: Buffer, start: number, scopes: readonly SegmentScope[]): SegmentRecord {
  if (start + RECORD_FIXED_BYTES > segment.length) throw new SegmentFormatError('a record is cut off');
  const scope = scopes[segment.readUInt32LE(start)];
  if (scope === undefined) throw new SegmentFormatError('a record names a scope that is not in the header');
  const receivedAtMs = segment.readUInt32LE(start + 4) + segment.readUInt32LE(start + 8) * TWO_POW_32;
  if (!Number.isSafeInteger(receivedAtMs)) throw new SegmentFormatError('a time is out of range');
  const eventCount = segment.readUInt32LE(start + 12);
  if (eventCount === 0) throw new SegmentFormatError('a record has no event');
  const idsStart = start + 16;
  const idsEnd = idsStart + eventCount * EVENT_ID_BYTES;
  if (idsEnd + 4 > segment.length) throw new SegmentFormatError('the ids of a record are cut off');
  const bodyStart = idsEnd + 4;
  const bodyEnd = bodyStart + segment.readUInt32LE(idsEnd);
  if (bodyEnd > segment.length) throw new SegmentFormatError('the body of a record is cut off');
  return {
    scope,
    receivedAtMs,
    eventCount,
    ids: segment.subarray(idsStart, idsEnd),
    body: segment.subarray(bodyStart, bodyEnd),
  };
}

function encodeHeader(records: readonly SegmentRecord[]): { header: Buffer; scopeOf: number[] } {
  const scopes: SegmentScope[] = [];
  // Comparing costs a tenth of encoding, and few of a thousand records have a scope of their own.
  const byProject = new Map<string, number[]>();
  const scopeOf = records.map(({ scope }) => {
    const known = byProject.get(scope.projectId);
    const found = known?.find((number) =>
      isSameScope(present(scopes[number], 'a scope of the segment'), scope),
    );
    if (found !== undefined) return found;
    const number = scopes.push(scope) - 1;
    if (known === undefined) byProject.set(scope.projectId, [number]);
    else known.push(number);
    return number;
  });
  return { header: Buffer.from(`{"scopes":[${scopes.map(encodeScope).join(',')}]}`), scopeOf };
}

function isSameScope(a: SegmentScope, b: SegmentScope): boolean {
  return (
    a.kind === b.kind &&
    a.extractorRuleSetId === b.extractorRuleSetId &&
    a.projectId === b.projectId &&
    a.projectNo === b.projectNo &&
    a.tenantId === b.tenantId &&
    a.storage === b.storage
  );
}

function encodeScope(scope: SegmentScope): string {
  return JSON.stringify({
    kind: scope.kind,
    tenant_id: scope.tenantId,
    project_id: scope.projectId,
    project_no: scope.projectNo,
    storage: scope.storage,
    extractor_rule_set_id: scope.extractorRuleSetId,
  });
}

function decodeScopes(header: string): SegmentScope[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(header);
  } catch {
    throw new SegmentFormatError('its header is not JSON');
  }
  const scopes = (parsed as { scopes?: unknown } | null)?.scopes;
  if (!Array.isArray(scopes)) throw new SegmentFormatError('its header has no scopes');
  return scopes.map(decodeScope);
}

function decodeScope(value: unknown): SegmentScope {
  const scope = (value ?? {}) as Record<string, unknown>;
  const { kind, tenant_id, project_id, project_no, storage, extractor_rule_set_id } = scope;
  if (
    typeof kind !== 'string' ||
    !KINDS.has(kind) ||
    typeof tenant_id !== 'string' ||
    typeof project_id !== 'string' ||
    !Number.isSafeInteger(project_no) ||
    (storage !== 'shared' && storage !== 'dedicated') ||
    (extractor_rule_set_id !== null && typeof extractor_rule_set_id !== 'string')
  ) {
    throw new SegmentFormatError('a scope is malformed');
  }
  return {
    kind: kind as SegmentKind,
    tenantId: tenant_id,
    projectId: project_id,
    projectNo: project_no as number,
    storage,
    extractorRuleSetId: extractor_rule_set_id,
  };
}

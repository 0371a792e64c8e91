import { hash, randomFillSync } from 'node:crypto';
import type { Clock } from './clock.js';

/** Prefixes of identifiers, each naming a kind of resource. */
const PREFIX_PATTERN = /^[a-z]{2,8}$/;
const RAW_EVENT_PATTERN = /^evt_[0-9a-f]{32}$/;
const UUID_PATTERN = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
const UUID_TIME_DIGITS = 12;
const UNIX_SECONDS_MAX = 0xffff_ffff;
const UUID_MS_MAX = 2 ** 48 - 1;
const SEQUENCE_BITS = 12;

const UUID_BYTES = 16;
const UUID_RANDOM_BYTES = 8;
const RAW_EVENT_RANDOM_BYTES = 12;
/** Random bytes are drawn in bulk: twelve cost as much as thousands. */
const RANDOM_POOL = Buffer.alloc(1_024 * RAW_EVENT_RANDOM_BYTES);
let randomPoolAt = RANDOM_POOL.length;

let sequenceMs = -1;
let sequence = 0;

/**
 * Returns a counter within one millisecond (RFC 9562 section 6.2, method 1), so that ids sort in the order in which
 * this process made them. It starts at random in the lower half of its range, and wraps after at least 2,048 ids.
 */
function nextSequence(nowMs: number): number {
  if (nowMs === sequenceMs) {
    sequence = (sequence + 1) % 2 ** SEQUENCE_BITS;
  } else {
    sequenceMs = nowMs;
    sequence = RANDOM_POOL.readUInt16BE(drawRandom(2)) % 2 ** (SEQUENCE_BITS - 1);
  }
  return sequence;
}

/**
 * Returns `prefix_` and the 32 hexadecimal digits of a UUIDv7 (RFC 9562): unique, and ordered by time as text.
 * @throws RangeError for a time beyond 48 bits of milliseconds, or a malformed prefix
 */
export function newId(prefix: string, clock: Clock): string {
  const nowMs = Math.floor(clock.nowMs());
  if (!(nowMs >= 0 && nowMs <= UUID_MS_MAX)) throw new RangeError(`no UUIDv7 at ${nowMs} ms`);
  if (!PREFIX_PATTERN.test(prefix)) throw new RangeError(`malformed id prefix: ${prefix}`);
  const bytes = Buffer.allocUnsafe(UUID_BYTES);
  const from = drawRandom(UUID_RANDOM_BYTES);
  RANDOM_POOL.copy(bytes, UUID_BYTES - UUID_RANDOM_BYTES, from, from + UUID_RANDOM_BYTES);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | nextSequence(nowMs), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return `${prefix}_${bytes.toString('hex')}`;
}

/**
 * Returns when {@link newId} made this id, in Unix milliseconds; undefined for text that is not an id with that prefix.
 */
export function timeOfId(prefix: string, text: string): number | undefined {
  const digits = text.slice(prefix.length + 1);
  if (!text.startsWith(`${prefix}_`) || !UUID_PATTERN.test(digits)) return undefined;
  return Number.parseInt(digits.slice(0, UUID_TIME_DIGITS), 16);
}

/**
 * Returns the 16 bytes that identify a raw event, as 32 hexadecimal digits: occurred_at (4 bytes, so that inserts land
 * close together), then 12 bytes that depend only on tenant, project, time and key, or random ones without a key.
 * @param occurredAt Unix seconds
 * @throws RangeError for a time that does not fit into 4 bytes
 */
export function rawEventHex(
  tenantId: string,
  projectId: string,
  occurredAt: number,
  idempotencyKey: string | undefined,
): string {
  if (!Number.isInteger(occurredAt) || occurredAt < 0 || occurredAt > UNIX_SECONDS_MAX) {
    throw new RangeError(`occurred_at ${occurredAt} is not a 32-bit Unix time`);
  }
  const time = occurredAt.toString(16).padStart(8, '0');
  if (idempotencyKey === undefined) return time + randomEventHex();
  // The key comes last: ids contain no line feed, so no two different inputs share a text.
  const identity = `${tenantId}\n${projectId}\n${occurredAt}\n${idempotencyKey}`;
  return time + hash('sha256', identity, 'hex').slice(0, 24);
}

function randomEventHex(): string {
  const from = drawRandom(RAW_EVENT_RANDOM_BYTES);
  return RANDOM_POOL.toString('hex', from, from + RAW_EVENT_RANDOM_BYTES);
}

/** Returns where the next random bytes begin in the pool. Nobody else gets them. */
function drawRandom(bytes: number): number {
  if (randomPoolAt + bytes > RANDOM_POOL.length) {
    randomFillSync(RANDOM_POOL);
    randomPoolAt = 0;
  }
  const from = randomPoolAt;
  randomPoolAt += bytes;
  return from;
}

/** Returns the smallest id that an event of this time, in Unix seconds, can have: earlier events have smaller ids. */
export function firstRawEventHex(occurredAt: number): string {
  return occurredAt.toString(16).padStart(8, '0').padEnd(32, '0');
}

/** Returns the `raw_event_id` of the API. */
export function rawEventIdText(hex: string): string {
  return `evt_${hex}`;
}

/** Returns the 32 hexadecimal digits of a `raw_event_id`; undefined for any other text. */
export function parseRawEventId(text: string): string | undefined {
  return RAW_EVENT_PATTERN.test(text) ? text.slice(4) : undefined;
}

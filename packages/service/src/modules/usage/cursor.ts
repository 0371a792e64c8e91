import { createHash } from 'node:crypto';

const ID_BYTES = 16;
const CHECK_BYTES = 8;

/**
 * Cursors of the event list: the id of the last event shown (it carries its time in front, so it is a position in the
 * list), and a check over what was asked. The check keeps no secret; it refuses a cursor that was mistyped, or brought
 * to another project or to other filters, where the position would silently skip events.
 */
export function encodeEventCursor(lastId: string, question: readonly string[]): string {
  const id = Buffer.from(lastId, 'hex');
  return Buffer.concat([id, check(id, question)]).toString('base64url');
}

/** The 32 hex digits of the last event shown; undefined when the cursor is not one of ours for this question. */
export function decodeEventCursor(cursor: string, question: readonly string[]): string | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== ID_BYTES + CHECK_BYTES || bytes.toString('base64url') !== cursor) return undefined;
  const id = bytes.subarray(0, ID_BYTES);
  return check(id, question).equals(bytes.subarray(ID_BYTES)) ? id.toString('hex') : undefined;
}

function check(id: Buffer, question: readonly string[]): Buffer {
  const hash = createHash('sha256').update('usage events cursor').update(id);
  return hash.update(JSON.stringify(question)).digest().subarray(0, CHECK_BYTES);
}

import { createHash } from 'node:crypto';
import { type DomainError, invalidRequest } from './errors.js';

const CHECK_BYTES = 8;

/** Scope and filters of a list; a filter that is not set is undefined. */
export type CursorQuery = readonly (string | undefined)[];

/**
 * Cursors of one list: the position of the item that was shown last, and a checksum over position and query. The
 * checksum keeps no secret; it refuses a cursor that was mistyped, or sent with another scope or other filters, where
 * the position would silently skip items.
 */
export class ListCursors {
  readonly #list: string;
  readonly #positionBytes: number;

  /** @param list its name, which makes cursors of other lists invalid */
  constructor(list: string, positionBytes: number) {
    this.#list = list;
    this.#positionBytes = positionBytes;
  }

  encode(position: Buffer, query: CursorQuery): string {
    return Buffer.concat([position, this.#check(position, query)]).toString('base64url');
  }

  /** The position; undefined unless the cursor was encoded for this list and query. */
  decode(cursor: string, query: CursorQuery): Buffer | undefined {
    const bytes = Buffer.from(cursor, 'base64url');
    const isWhole = bytes.length === this.#positionBytes + CHECK_BYTES;
    // Characters that base64url does not have are skipped in decoding.
    if (!isWhole || bytes.toString('base64url') !== cursor) return undefined;
    const position = bytes.subarray(0, this.#positionBytes);
    return this.#check(position, query).equals(bytes.subarray(this.#positionBytes)) ? position : undefined;
  }

  #check(position: Buffer, query: CursorQuery): Buffer {
    const hash = createHash('sha256').update(`${this.#list} cursor`).update(position);
    return hash.update(JSON.stringify(query)).digest().subarray(0, CHECK_BYTES);
  }
}

export function invalidCursor(): DomainError {
  return invalidRequest('cursor', 'expected the next_cursor of the previous page, with the same filters');
}

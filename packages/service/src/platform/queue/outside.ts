import { checksum, totalBytes } from '../buffers.js';
import { SegmentFormatError } from './segment.js';

/** The file or object of a segment, and its position in it. */
export interface SegmentPlace {
  /** The name of a file, or the key of an object. */
  readonly fileName: string;
  readonly offset: number;
  readonly byteCount: number;
  readonly crc32: number;
}

/** Keeps the bytes of large segments outside of the rows that point at them. */
export interface SegmentStore {
  /**
   * Makes the bytes of segments durable, together, and then calls `point`, which writes the rows that point at them.
   * Throws the error of `point`; after any error but one of the database itself, the rows may still appear.
   *
   * @param segments the pieces of each
   * @throws SegmentWriteError with no row written
   */
  put(
    segments: readonly (readonly Buffer[])[],
    point: (places: readonly SegmentPlace[]) => Promise<unknown>,
  ): Promise<void>;
  /**
   * Returns the bytes of a segment as far as they exist. See `checkPlaced`.
   *
   * @throws SegmentMissingError while there are none of them, but may be again
   */
  read(place: SegmentPlace): Promise<Buffer>;
  /**
   * Deletes bytes of segments that have left the queue.
   *
   * @param pointedAt returns at which of these files rows point now
   */
  sweep(pointedAt: (fileNames: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
  close(): Promise<void>;
}

/** A segment could not be written: no row points at it. */
export class SegmentWriteError extends Error {
  constructor(place: string, options: { readonly cause: unknown }) {
    super(`a segment could not be written to ${place}`, options);
    this.name = 'SegmentWriteError';
  }
}

/** The bytes of a segment are not there now. They may come back: they were durable before its row was written. */
export class SegmentMissingError extends Error {
  constructor(place: string) {
    super(`the bytes of a segment are missing: ${place}`);
    this.name = 'SegmentMissingError';
  }
}

/** Returns where segments are that lie one after the other from an offset of a file on. */
export function placesIn(
  fileName: string,
  start: number,
  segments: readonly (readonly Buffer[])[],
): SegmentPlace[] {
  let offset = start;
  return segments.map((pieces) => {
    const place = { fileName, offset, byteCount: totalBytes(pieces), crc32: checksum(pieces) };
    offset += place.byteCount;
    return place;
  });
}

/** @throws SegmentFormatError when `bytes` are not those that were put */
export function checkPlaced(
  { fileName, offset, byteCount, crc32: expected }: SegmentPlace,
  bytes: Buffer,
): void {
  if (bytes.length === byteCount && checksum([bytes]) === expected) return;
  const there =
    bytes.length === byteCount ? 'it is damaged' : `${bytes.length} of its ${byteCount} bytes are there`;
  throw new SegmentFormatError(`${there}, in ${fileName} from ${offset} on`);
}

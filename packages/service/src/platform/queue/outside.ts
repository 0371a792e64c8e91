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
   * Throws the error of `point`. Unless that error comes from the database itself, the rows may still appear.
   *
   * @param segments the pieces of each segment
   * @throws SegmentWriteError with no row written
   */
  put(
    segments: readonly (readonly Buffer[])[],
    point: (places: readonly SegmentPlace[]) => Promise<unknown>,
  ): Promise<void>;
  /**
   * Returns the bytes of a segment as far as they exist. See `checkPlaced`.
   *
   * @throws SegmentMissingError if there are none, but they may come back
   */
  read(place: SegmentPlace): Promise<Buffer>;
  /**
   * Deletes bytes of segments that have left the queue.
   *
   * @param pointedAt returns those of the given files at which rows point now
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

/** The bytes of a segment are missing. They may come back, because they were durable before the row was written. */
export class SegmentMissingError extends Error {
  constructor(place: string) {
    super(`the bytes of a segment are missing: ${place}`);
    this.name = 'SegmentMissingError';
  }
}

/** Returns the places of segments that lie one after the other in a file, from an offset. */
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

/** @throws SegmentFormatError if `bytes` are not those that were put */
export function checkPlaced(
  { fileName, offset, byteCount, crc32: expected }: SegmentPlace,
  bytes: Buffer,
): void {
  if (bytes.length === byteCount && checksum([bytes]) === expected) return;
  const there =
    bytes.length === byteCount ? 'it is damaged' : `${bytes.length} of its ${byteCount} bytes are there`;
  throw new SegmentFormatError(`${there}, in ${fileName} at offset ${offset}`);
}

import { readdir } from 'node:fs/promises';
import { checkPlaced, type SegmentPlace } from './outside.js';
import type { SegmentFiles } from './segment-files.js';

/** Puts one segment, and returns its place. */
export async function putOne(
  files: SegmentFiles,
  bytes: Buffer,
  point: (place: SegmentPlace) => Promise<unknown> = async () => {},
): Promise<SegmentPlace> {
  let found: SegmentPlace | undefined;
  await files.put([[bytes]], ([place]) => {
    found = place;
    return point(place as SegmentPlace);
  });
  return found as SegmentPlace;
}

/** @throws SegmentFormatError if the bytes are not those that were put */
export async function readPlaced(files: SegmentFiles, place: SegmentPlace): Promise<Buffer> {
  const bytes = await files.read(place);
  checkPlaced(place, bytes);
  return bytes;
}

/** Sweeps while rows point at `places`. Returns the files that are left, including a spare one. */
export async function sweepFolder(
  files: SegmentFiles,
  folder: string,
  places: readonly SegmentPlace[],
): Promise<Set<string>> {
  await files.sweep(async () => fileNames(...places));
  return new Set(await readdir(folder));
}

export function fileNames(...places: SegmentPlace[]): Set<string> {
  return new Set(places.map(({ fileName }) => fileName));
}

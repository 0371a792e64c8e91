import type { BatchLocation } from './batch-store.js';
import { spoolFileBytes } from './spool.js';
import type { RowStorage } from './turns.js';

/** Upper bound of the rows in one block of ClickHouse; the first batch may have any size. */
const GROUP_EVENTS_MAX = 50_000;
const GROUP_BYTES_MAX = 64 * 1_048_576;

/** A batch that waits to be projected, without its rows. */
export interface UnprojectedBatch {
  readonly id: number;
  readonly eventCount: number;
  readonly spoolFile: string | null;
  /** Bytes in the database; 0 for a batch in a file. */
  readonly columnBytes: number;
  readonly dedicatedTo: RowStorage;
}

export interface GroupedBatch {
  readonly id: number;
  readonly eventCount: number;
  /** When the oldest of its events was received. */
  readonly oldestReceivedAtMs: number;
  readonly location: BatchLocation;
}

/** Batches that are inserted into ClickHouse as one block, in the order of their ids. */
export interface ProjectionGroup {
  readonly group: number;
  /** Groups are numbered in the order in which they are formed. 0 for a group of an earlier version. */
  readonly no: number;
  readonly dedicatedTo: RowStorage;
  /** Identifies a repeated insert to ClickHouse. */
  readonly token: string;
  readonly batches: readonly GroupedBatch[];
}

/** Returns the longest run of batches, oldest first, that fits one group. */
export function chooseGroup(waiting: readonly UnprojectedBatch[]): [number, ...number[]] {
  const [first, ...others] = waiting;
  if (first === undefined) throw new Error('the next storage has no waiting batch');
  const ids: [number, ...number[]] = [first.id];
  let events = first.eventCount;
  let bytes = sizeOf(first);
  for (const batch of others) {
    events += batch.eventCount;
    bytes += sizeOf(batch);
    if (events > GROUP_EVENTS_MAX || bytes > GROUP_BYTES_MAX) break;
    ids.push(batch.id);
  }
  return ids;
}

function sizeOf({ spoolFile, columnBytes }: UnprojectedBatch): number {
  return spoolFile === null ? columnBytes : spoolFileBytes(spoolFile);
}

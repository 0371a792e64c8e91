import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const OWN_THREADS = '/proc/self/task';
/** The engine names its threads; these merge parts. */
const MERGE_THREAD_NAME = 'MergeMutate';
/** Lower than everything that somebody waits for, including rating. */
const MERGE_NICENESS = 19;

/**
 * Gives the engine's merges the lowest priority. A merge reads and writes everything that was inserted in the last
 * minute or hour: at the priority of a request it would take the processors from rating for that time. Only Linux has a
 * priority for each thread.
 */
export function yieldMergeThreads(): void {
  for (const id of ownThreads()) {
    try {
      const name = readFileSync(`${OWN_THREADS}/${id}/comm`, 'utf8');
      if (name.startsWith(MERGE_THREAD_NAME)) setPriority(Number(id), MERGE_NICENESS);
    } catch {
      // The thread has ended, or the system does not allow it: the engine works without it.
    }
  }
}

/** Returns the ids of this process's threads; an empty list where the system does not list them. */
function ownThreads(): string[] {
  try {
    return readdirSync(OWN_THREADS);
  } catch {
    return [];
  }
}

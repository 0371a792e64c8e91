import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const OWN_THREADS = '/proc/self/task';
/** The engine names its threads; these merge parts. */
const MERGE_THREAD_NAME = 'MergeMutate';
/** Behind all that somebody waits for, rating included. */
const MERGE_NICENESS = 19;

/**
 * Lets everything else go before the engine's merges. They read and write all that was inserted in the last
 * minute, or hour, at once: at the priority of a request they would take the processors from rating for as
 * long as that takes. Only Linux gives each thread a priority of its own.
 */
export function yieldMergeThreads(): void {
  for (const id of ownThreads()) {
    try {
      const name = readFileSync(`${OWN_THREADS}/${id}/comm`, 'utf8');
      if (name.startsWith(MERGE_THREAD_NAME)) setPriority(Number(id), MERGE_NICENESS);
    } catch {
      // The thread ended meanwhile, or the system allows no change of priorities: the engine works without it.
    }
  }
}

/** Ids of the threads of this process; none where the system does not list them. */
function ownThreads(): string[] {
  try {
    return readdirSync(OWN_THREADS);
  } catch {
    return [];
  }
}

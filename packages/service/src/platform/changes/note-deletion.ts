import { onSnapshot, type Postgres } from '../postgres/index.js';
import { createSweepJob, type SweepJob } from '../sweep-job.js';
import { deleteNotesBefore, readSnapshot } from './change-store.js';

/** Longer than a feed may wait between two looks. */
const INTERVAL_MS = 60_000;

/** The job that deletes notes of changes: each sweep those that were committed before the sweep before it. */
export function createNoteDeletionJob(deps: {
  readonly postgres: Pick<Postgres, 'db' | 'pool'>;
  readonly log: { warn(details: object, message: string): void };
}): SweepJob<void> {
  let before: string | undefined;
  return createSweepJob({
    async sweep() {
      const snapshot = await onSnapshot(deps.postgres, readSnapshot);
      if (before !== undefined) await deleteNotesBefore(deps.postgres, before);
      before = snapshot;
    },
    pollMs: INTERVAL_MS,
    log: deps.log,
    failureMessage: 'old notes of changes could not be deleted',
  });
}

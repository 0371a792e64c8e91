import { lockUntilCommit, type Tx } from '../../../platform/postgres/index.js';

/** Names the advisory lock under which batches lock leases, windows and wallets, one batch at a time. */
const POSTING_LOCK = 'tollgate-posting';

/**
 * Waits until no other batch posts, and keeps others out until `tx` ends. All writers of windows take this lock first,
 * so that a change reaches both the windows that exist and those that a batch is opening.
 */
export async function lockPosting(tx: Tx): Promise<void> {
  await lockUntilCommit(tx, POSTING_LOCK);
}

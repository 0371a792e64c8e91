import { lockUntilCommit, type Tx } from '../../../platform/postgres/index.js';

/** Names the advisory lock under which batches lock leases, windows and wallets: one batch at a time. */
const POSTING_LOCK = 'tollgate-posting';

/**
 * Waits until nobody else posts, and keeps it so to the end of `tx`. Whoever writes windows takes it first:
 * what is changed in those that exist then reaches those, too, that a batch is opening.
 */
export async function lockPosting(tx: Tx): Promise<void> {
  await lockUntilCommit(tx, POSTING_LOCK);
}

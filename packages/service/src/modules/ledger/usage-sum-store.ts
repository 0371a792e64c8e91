import { sql } from 'kysely';
import { present } from '../../kernel/present.js';
import type { Tx } from '../../platform/postgres/index.js';

/** The cost of one wallet's usage over all batches. */
export interface UsageSum {
  readonly tenantId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly currency: string;
  /** A decimal. */
  readonly amount: string;
}

/** The kinds of the transactions that change the cost of usage. */
const IS_OF_USAGE = sql`t.kind in ('usage', 'correction')`;

/** Returns when the newest usage or correction was posted, in Unix milliseconds; 0 without usage. */
export async function latestUsageMs(tx: Tx): Promise<number> {
  const { rows } = await sql<{ latest: number }>`
    select coalesce(max(created_at_ms), 0) as latest from ledger_transactions t where ${IS_OF_USAGE}
  `.execute(tx);
  return present(rows[0], 'the time of the newest usage').latest;
}

/**
 * Returns the sum of each wallet's usage entries, with corrections, for batches that were processed at `upToMs` (Unix
 * milliseconds) or before.
 */
export async function readUsageSums(tx: Tx, upToMs: number): Promise<UsageSum[]> {
  const { rows } = await sql<UsageSum>`
    select t.tenant_id as "tenantId", t.project_id as "projectId", t.account_id as "accountId", t.currency,
      sum(e.amount)::text as amount
    from ledger_transactions t
    join ledger_entries e on e.project_id = t.project_id and e.transaction_id = t.id and e.ledger_account = 'usage'
    where ${IS_OF_USAGE} and t.created_at_ms <= ${upToMs}
    group by 1, 2, 3, 4
  `.execute(tx);
  return rows;
}

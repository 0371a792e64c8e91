import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { UsageSum } from '../ledger/index.js';
import { everyHistory, type OwnTables } from '../storage/index.js';

type Reader = Pick<ClickHouse, 'query'>;

/** Returns the sums of posted charge items, per account and currency, of events processed at `upToMs` or before. */
export function readPostedSums(
  clickhouse: Reader,
  own: readonly OwnTables[],
  upToMs: number,
): Promise<UsageSum[]> {
  const { events, params } = everyHistory(own);
  return clickhouse.query<UsageSum>(
    `SELECT tenant_id AS tenantId, project_id AS projectId, account_id AS accountId, item.currency AS currency,
       toString(sum(toDecimal256(item.amount, 18))) AS amount
     FROM ${events.from} ARRAY JOIN item
     WHERE ${events.inPlace} AND item.ledger_transaction_id != '' AND processed_at <= fromUnixTimestamp64Milli({up_to:Int64})
     GROUP BY tenantId, projectId, accountId, currency`,
    { ...params, up_to: upToMs },
  );
}

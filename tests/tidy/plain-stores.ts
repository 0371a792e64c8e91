import type { Finding } from './finding.js';
import { isStore, placeOf } from './layers.js';
import type { CodeFile, Import } from './source.js';

/**
 * The stores that take a database handle of all tenants, and why. All others take a handle that is confined to one
 * project or tenant (`ProjectDb`, `TenantDb`). A store leaves this list when no function in it needs the plain handle.
 */
export const PLAIN_STORES: Readonly<Record<string, string>> = {
  'modules/analysis/stream/projection-store.ts':
    'one statement asks for the changes of all followed projects',
  'modules/archive/block-store.ts': 'a block has rows of many projects',
  'modules/archive/row-filter-store.ts': 'a block has rows of many projects',
  'modules/catalog/grant-store.ts': 'a grant is found by its source, before its tenant is known',
  'modules/catalog/plan-store.ts': 'the plans on sale belong to no tenant',
  'modules/cells/directory-store.ts': 'the directory of cells has no data of tenants',
  'modules/cells/number-store.ts': 'confines the numbers of the whole cell',
  'modules/cells/registration-store.ts': 'registers the tenants of the whole cell',
  'modules/cells/place-store.ts': 'the directory of cells has no data of tenants',
  'modules/checkout/order-store.ts': 'the payment provider names an order, not its tenant',
  'modules/checkout/purchase-recount-store.ts': 'recounts the orders of all tenants',
  'modules/checkout/reversal-store.ts': 'the payment provider names a payment, not its tenant',
  'modules/corrections/turn-store.ts': 'the job takes the corrections of all projects in turn',
  'modules/console/session-store.ts': 'a session is found by a hash, before its tenant is known',
  'modules/ledger/grant-store.ts': 'a batch changes the credits of many projects',
  'modules/ledger/hold-store.ts': 'prepares its statement once for each connection',
  'modules/ledger/idempotency-store.ts': 'prepares its statement once for each connection',
  'modules/ledger/ledger-store.ts': 'a batch writes the ledgers of many projects',
  'modules/ledger/recount-store.ts': 'recounts the ledgers of all projects',
  'modules/ledger/usage-sum-store.ts': 'recounts the usage of all projects',
  'modules/ledger/wallet-store.ts': 'a batch locks and changes the wallets of many projects',
  'modules/counters/counter-store.ts': 'a batch counts for many projects',
  'modules/counters/near-periods-store.ts': 'a batch counts for many projects',
  'modules/limits/check/limit-status-store.ts': 'one statement serves the checks of many projects',
  'modules/limits/leases/recount-store.ts': 'recounts the leases of all projects',
  'modules/limits/leases/reserved-store.ts': 'the expiry job gives back what leases of many projects hold',
  'modules/limits/leases/unlocked-store.ts': 'prepares its statement once for each connection',
  'modules/limits/leases/store.ts': 'the expiry job ends leases of many projects',
  'modules/limits/posting/store.ts':
    'a batch charges the leases of many projects, and takes turns with all others',
  'modules/limits/rules/active-rules-store.ts': 'verify reads the limit rules of all projects',
  'modules/limits/rules/catalog-store.ts': 'loads the limit rules of many projects',
  'modules/limits/settings/store.ts': 'checks of several projects read their settings together',
  'modules/limits/windows/alert-store.ts': 'a batch sends the alerts of many projects',
  'modules/limits/windows/first-use-store.ts': 'a batch places the usage of many projects',
  'modules/limits/windows/sliding-store.ts': 'a batch changes the sliding windows of many projects',
  'modules/limits/windows/store.ts': 'a batch changes the windows of many projects',
  'modules/limits/windows/value-store.ts': 'a batch counts the values of many projects',
  'modules/limits/windows/window-limit-store.ts': 'windows name their project by its number alone',
  'modules/limits/windows/window-recount-store.ts': 'recounts the windows of all projects',
  'modules/losses/loss-store.ts': 'a lost object has events of many projects',
  'modules/pipeline/alert-store.ts': 'a batch sends alerts of many projects',
  'modules/pipeline/batch-store.ts': 'a batch has events of many projects',
  'modules/pipeline/event-id-block-store.ts': 'compacts the event ids of all projects',
  'modules/pipeline/event-id-store.ts': 'a batch has events of many projects',
  'modules/pipeline/projector-store.ts': 'the projector copies batches of all projects',
  'modules/quotas/recount-store.ts': 'recounts the quotas of all tenants',
  'modules/quotas/store.ts': 'one statement counts the events of many tenants',
  'modules/rebuild/lost-store.ts': 'a lost object has events of many projects',
  'modules/rebuild/rebuild-store.ts': 'the history of all projects is rebuilt',
  'modules/rebuild/table-store.ts': 'the history of all projects is rebuilt',
  'modules/rebuild/view-store.ts': 'the views of all projects are replaced',
  'modules/rules/catalog-store.ts': 'loads the rules of many projects',
  'modules/storage/expiry-store.ts': 'retention deletes rows of all projects',
  'modules/storage/place-store.ts': 'lists the tables of all projects',
  'modules/storage/project-store.ts': 'makes and lists the tables of projects',
  'modules/storage/excluded-dimension-store.ts': 'a batch adds dimensions of many projects',
  'modules/storage/retention-store.ts': 'the retention job works on all tenants',
  'modules/moves/history-copy-store.ts': 'a tenant moves with history that is no longer shown',
  'modules/moves/row-copy-store.ts': 'one function copies the rows of every table, by the owner of the table',
  'modules/moves/state-store.ts': 'its rows belong to the cell, not to the tenants that they name',
  'modules/stripe-sandbox/sandbox-store.ts': 'the sandbox is a provider of its own and knows no tenants',
  'modules/tenancy/audit-store.ts': 'a record names its tenant itself',
  'modules/tenancy/store.ts': 'finds the tenants and projects that a handle is confined to',
  'modules/tenancy/unserved-store.ts': 'its rows belong to the cell, not to the tenants that they name',
  'modules/trial/backtest-sweep-store.ts': 'deletes old backtests of all projects',
  'modules/usage/unpriced-days-store.ts': 'a job counts the days of all projects',
  'modules/verify/counter-history-store.ts': 'recounts the counters of all projects',
  'modules/verify/counter-store.ts': 'recounts the counters of all projects',
  'modules/verify/history-store.ts': 'recounts the rows of all projects',
  'modules/verify/ingest-recount-store.ts': 'recounts the events of all projects',
  'modules/verify/posting-history-store.ts': 'recounts the rows of all projects',
  'modules/verify/totals-store.ts': 'recounts the rows of all projects',
  'modules/verify/window-history-store.ts': 'recounts the rows of all projects',
  'modules/verify/window-value-store.ts': 'recounts the rows of all projects',
  'modules/webhooks/attempt-store.ts': 'the dispatcher claims deliveries of all projects',
  'modules/webhooks/outbox-store.ts': 'a batch sends messages of many projects',
};

/** The names of handles that reach the rows of all tenants, by the folder that exports them. */
const PLAIN_HANDLES: Readonly<Record<string, readonly string[]>> = {
  'platform/postgres': ['Db', 'Tx', 'Postgres', '*'],
  'platform/clickhouse': ['ClickHouse', '*'],
};

/** The names among those imported that reach the rows of all tenants. */
export function plainHandles({ specifier, target, names }: Import): readonly string[] {
  if (specifier === 'pg') return names;
  const unit = target === undefined ? undefined : placeOf(target)?.unit;
  const plain = (unit === undefined ? undefined : PLAIN_HANDLES[unit]) ?? [];
  return names.filter((name) => plain.includes(name));
}

/** Finds entries of the list whose store is gone, or takes no plain handle any more. */
export function stalePlainStores(files: readonly CodeFile[], listed = Object.keys(PLAIN_STORES)): Finding[] {
  const plain = new Set(
    files
      .filter(({ path, imports }) => isStore(path) && imports.some((each) => plainHandles(each).length > 0))
      .map(({ path }) => placeOf(path)?.path),
  );
  return listed
    .filter((path) => !plain.has(path))
    .map((path) => ({
      rule: 'stale-plain-store',
      path: 'tests/tidy/plain-stores.ts',
      line: 1,
      advice: `${path} is no store that takes a plain database handle: remove it from the list.`,
    }));
}

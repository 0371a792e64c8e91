/**
 * The stores that take the plain database, and why: a file, or a folder that ends with `/`. All others take a handle
 * that is confined to one project (`ProjectDb`). A store leaves this list when it takes the handle.
 */
const PLAIN_STORES: Readonly<Record<string, string>> = {
  'modules/console/': 'a session belongs to a key, which may be of any tenant',
  'modules/pipeline/': 'a batch has events of many projects',
  'modules/verify/': 'recounts the rows of all projects',
  'modules/analysis/': 'not moved to the handle yet',
  'modules/quotas/': 'quotas belong to tenants, and one statement counts the events of several',
  'modules/catalog/': 'grants belong to tenants; not moved to a handle yet',
  'modules/checkout/': 'orders belong to tenants; not moved to a handle yet',
  'modules/ledger/grant-store.ts': 'a batch changes the credits of many projects',
  'modules/ledger/idempotency-store.ts': 'not moved to the handle yet',
  'modules/ledger/ledger-store.ts': 'a batch writes the ledgers of many projects',
  'modules/ledger/recount-store.ts': 'recounts the ledgers of all projects',
  'modules/ledger/usage-sum-store.ts': 'recounts the usage of all projects',
  'modules/ledger/wallet-store.ts': 'a batch locks and changes the wallets of many projects',
  'modules/limits/':
    'posting changes windows of many projects; the other stores are not moved to the handle yet',
  'modules/rules/catalog-store.ts': 'loads the rules of many projects',
  'modules/rules/store.ts': 'not moved to the handle yet',
  'modules/storage/': 'retention sweeps all projects; the other stores are not moved to the handle yet',
  'modules/stripe-sandbox/': 'sessions belong to tenants, and events to all of them',
  'modules/tenancy/': 'finds the tenants and projects that a handle is confined to',
  'modules/trial/backtest-sweep-store.ts': 'deletes old backtests of all projects',
  'modules/usage/': 'not moved to the handle yet',
  'modules/webhooks/attempt-store.ts': 'the dispatcher claims deliveries of all projects',
  'modules/webhooks/outbox-store.ts': 'a batch sends messages of many projects',
};

/** Whether a path inside packages/service/src is that of a store which may take the plain database. */
export function mayTakePlainDatabase(path: string): boolean {
  return Object.keys(PLAIN_STORES).some((place) =>
    place.endsWith('/') ? path.startsWith(place) : path === place,
  );
}

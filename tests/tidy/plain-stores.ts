/**
 * The stores that take the plain database, and why: a file, or a folder that ends with `/`. All others take a handle
 * that is confined to one project (`ProjectDb`). A store leaves this list when it takes the handle.
 */
const PLAIN_STORES: Readonly<Record<string, string>> = {
  'modules/console/': 'a session belongs to a key, which may be of any tenant',
  'modules/pipeline/': 'a batch has events of many projects',
  'modules/verify/': 'recounts the rows of all projects',
  'modules/analysis/': 'not moved to the handle yet',
  'modules/catalog/': 'grants and quotas belong to tenants; not moved to a handle yet',
  'modules/checkout/': 'orders belong to tenants; not moved to a handle yet',
  'modules/ledger/':
    'posting locks wallets of many projects; the other stores are not moved to the handle yet',
  'modules/limits/':
    'posting changes windows of many projects; the other stores are not moved to the handle yet',
  'modules/rules/': 'not moved to the handle yet',
  'modules/storage/': 'retention sweeps all projects; the other stores are not moved to the handle yet',
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

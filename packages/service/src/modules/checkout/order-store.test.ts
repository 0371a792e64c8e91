import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { TenantDb, TenantTx, transaction } from '../../platform/postgres/index.js';
import { waitFor } from '../../testing/wait-for.js';
import { createTestCheckout, type TestCheckout } from './checkout.testing.js';
import { attachSession, expireOrder, findOrderOfKey, findPendingOrder, lockOrders } from './order-store.js';

let checkout: TestCheckout;

beforeAll(async () => {
  checkout = await createTestCheckout();
});
beforeEach(() => checkout.anew());
afterAll(() => checkout.close());

it.each([
  ['by its key', (tx: TenantTx) => findOrderOfKey(tx, 'k')],
  ['by another one', findPendingOrder],
])('a page that comes while its order is found abandoned, %s, is seen by nobody', async (_how, find) => {
  const { tenantId, postgres } = checkout;
  checkout.provider.failOnce('before');
  await checkout.buy({ key: 'k' });
  const page = { id: 'cs_late', url: 'https://pay.example/late', expiresAt: 2_000_000_000 };
  const attached = await transaction(postgres, async (plainTx) => {
    const tx = new TenantTx(plainTx, tenantId);
    await lockOrders(tx);
    const order = await find(tx);
    if (order === undefined) throw new Error('the order is not there');
    let isDone = false;
    const attaching = attachSession(new TenantDb(postgres.db, tenantId), order.id, page).finally(() => {
      isDone = true;
    });
    await waitFor(async () => isDone || (await somebodyWaits()), { what: 'the page to come' });
    await expireOrder(tx, order.id);
    return { attaching };
  });
  expect(await attached.attaching).toMatchObject({ status: 'expired', sessionId: null, sessionUrl: null });
});

async function somebodyWaits(): Promise<boolean> {
  const [row] = await checkout.rows(
    `select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return Number(row?.n) > 0;
}

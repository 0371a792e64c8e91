import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/id.js';
import { createTestCheckout, paymentEvent, type TestCheckout } from './checkout.testing.js';

const PAYMENTS = 200;
const DELIVERIES = 1_000;
/** Payments whose order is committed only after some of their events have arrived. */
const EARLY = 60;
const AT_ONCE = 16;
const ROUNDS_MAX = 40;

let checkout: TestCheckout;
beforeAll(async () => {
  checkout = await createTestCheckout();
});
afterAll(() => checkout.close());

/** Returns numbers from 0 to 1 that are the same in every run (mulberry32). */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled<T>(values: readonly T[], chance: () => number): T[] {
  const mixed = [...values];
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = Math.floor(chance() * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other] as T, mixed[at] as T];
  }
  return mixed;
}

/** Inserts orders, each of a tenant of its own, in a transaction that the caller commits. */
async function insertOrders(count: number) {
  const client = await checkout.postgres.pool.connect();
  await client.query('begin');
  const orders = Array.from({ length: count }, () => ({
    tenant_id: newId('ten', checkout.clock),
    plan_id: 'launch',
    order_id: newId('ord', checkout.clock),
  }));
  const tenantIds = orders.map(({ tenant_id }) => tenant_id);
  const orderIds = orders.map(({ order_id }) => order_id);
  await client.query(
    `insert into tenants (id, name, created_at) select id, 'x', 0 from unnest($1::text[]) id`,
    [tenantIds],
  );
  await client.query(
    `insert into payment_orders (tenant_id, id, status, plan_id, plan_revision, plan, product_name, amount_minor,
       currency, success_url, cancel_url, expires_at, provider, created_at)
     select tenant, id, 'pending', 'launch', 1, (select to_jsonb(p) - 'created_at' from catalog_plans p where p.id = 'launch'),
       'x', 1900, 'USD', 'https://x.example', 'https://x.example', $3, 'sandbox', $3
     from unnest($1::text[], $2::text[]) as o (tenant, id)`,
    [tenantIds, orderIds, Math.floor(checkout.clock.nowMs() / 1_000)],
  );
  const commit = async () => {
    await client.query('commit');
    client.release();
  };
  return { orders, commit };
}

/** Makes every seventh grant fail in the database, and its transaction with it. */
async function plantFailures(): Promise<void> {
  await checkout.rows(`
    create sequence attempts;
    create function fail_sometimes() returns trigger language plpgsql as $$
    begin
      if nextval('attempts') % 7 = 0 then raise exception 'failpoint'; end if;
      return new;
    end $$;
    create trigger failpoint after insert on entitlement_grants for each row execute function fail_sometimes()`);
}

/** Kills connections of the application, whatever they are doing. */
async function killConnections(): Promise<void> {
  await checkout.beside(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and state <> 'idle in transaction' limit 3`);
}

describe('a storm of deliveries', () => {
  it(`grants ${PAYMENTS} payments once each, reported out of order, repeatedly and through failures`, async () => {
    const chance = chances(9);
    const [present, early] = [await insertOrders(PAYMENTS - EARLY), await insertOrders(EARLY)];
    await present.commit();
    await plantFailures();
    const events = [...present.orders, ...early.orders].map((metadata) =>
      paymentEvent({ amount: 1900, amount_received: 1900, currency: 'usd', metadata }),
    );
    // Each event once, then up to four more times.
    const further = events.flatMap((event) => Array.from({ length: 4 }, () => event));
    const deliveries = [...events, ...shuffled(further, chance).slice(0, DELIVERIES - PAYMENTS)];
    const outcomes = new Map<number, number>();
    let pending = shuffled(deliveries, chance);
    let delivered = 0;
    for (let round = 0; pending.length > 0 && round < ROUNDS_MAX; round += 1) {
      const refused: typeof pending = [];
      const queue = shuffled(pending, chance);
      const deliverAll = async () => {
        for (let event = queue.pop(); event !== undefined; event = queue.pop()) {
          delivered += 1;
          if (delivered === DELIVERIES / 2) await early.commit();
          if (round === 0 && delivered % 100 === 0) {
            checkout.quota.failures = 5;
            await killConnections();
          }
          const { status } = await checkout.deliver(event);
          outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
          if (status !== 200) refused.push(event);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, deliverAll));
      pending = refused;
    }
    expect(pending).toEqual([]);
    expect(delivered).toBeGreaterThan(DELIVERIES);
    expect(new Set(outcomes.keys())).toEqual(new Set([200, 500, 503]));
    expect(outcomes.get(200)).toBe(DELIVERIES);
    const grants = await checkout.rows('select tenant_id, source from entitlement_grants');
    expect(grants.length).toBe(PAYMENTS);
    const granted = new Set(grants.map(({ tenant_id, source }) => `${tenant_id} ${source}`));
    const paid = await checkout.rows(
      `select tenant_id, payment_id from payment_orders where status = 'paid'`,
    );
    expect(new Set(paid.map(({ tenant_id, payment_id }) => `${tenant_id} sandbox:${payment_id}`))).toEqual(
      granted,
    );
    expect(granted.size).toBe(PAYMENTS);
    expect(new Set(checkout.quota.tried).size).toBe(PAYMENTS);
  });

  it('of one tenant during its checkouts causes no deadlock, and grants what was paid', async () => {
    await checkout.anew();
    const ROUNDS = 20;
    const statuses = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      await checkout.buy({ key: `first ${round}` });
      const [order] = await checkout.rows(
        `select id from payment_orders where tenant_id = '${checkout.tenantId}' and status = 'pending'`,
      );
      const event = await checkout.paid(String(order?.id));
      const answers = await Promise.all([
        checkout.buy({ key: `second ${round}` }),
        checkout.deliver(event),
        checkout.buy({ key: `third ${round}`, planId: 'growth' }),
        checkout.deliver(event),
        checkout.buy({ key: `first ${round}` }),
      ]);
      for (const { status } of answers) statuses.add(status);
    }
    // The failures that were planted above roll back their transactions; the provider would deliver again.
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 201, 409]));
    for (const status of statuses) expect([200, 201, 409, 500]).toContain(status);
    const [counts] = await checkout.rows(`select
      (select count(*) from payment_orders where tenant_id = '${checkout.tenantId}' and status = 'paid') as paid,
      (select count(*) from entitlement_grants where tenant_id = '${checkout.tenantId}') as granted`);
    expect(counts?.granted).toBe(counts?.paid);
    expect(counts?.paid).toBeGreaterThan(ROUNDS / 2);
  });
});

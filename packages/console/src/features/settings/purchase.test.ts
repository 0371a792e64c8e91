import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { projectOfPurchase, purchase } from './purchase.js';

const TENANT = '/admin/v1/tenants/ten_1';

const buy = (planId: string) => purchase({ tenantId: 'ten_1', projectId: 'prj_1', planId, isService: false });

/** The status of the order of each key; the first request with a key creates it. */
let statuses: Map<string, string>;

beforeEach(() => {
  statuses = new Map();
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
    removeItem: (name: string) => void stored.delete(name),
  });
  vi.stubGlobal('fetch', async (url: string, { method, headers }: RequestInit) => {
    if (method === 'GET') {
      return Response.json({ status: statuses.get(url.replace(`/api${TENANT}/payments/orders/`, '')) });
    }
    const key = new Headers(headers).get('idempotency-key') ?? '';
    if (!statuses.has(key)) statuses.set(key, 'pending');
    if (statuses.get(key) === 'expired') {
      return Response.json({ error: 'over', code: 'payment_checkout_expired' }, { status: 409 });
    }
    return Response.json({ order_id: key, session_id: 'cs', session_url: `https://pay.example/${key}` });
  });
});
afterEach(() => vi.unstubAllGlobals());

it('leads to the same page until it is paid or has expired, and to another one after that', async () => {
  const first = await buy('growth');
  expect(first.order_id).toMatch(/^[0-9a-f]{32}$/);
  expect(await buy('growth')).toEqual(first);
  statuses.set(first.order_id, 'paid');
  const second = await buy('growth');
  expect(second).not.toEqual(first);
  expect(await buy('growth')).toEqual(second);
  statuses.set(second.order_id, 'expired');
  const third = await buy('growth');
  expect([...statuses.keys()]).toEqual([first, second, third].map(({ order_id }) => order_id));
});

it('has a page for each plan', async () => {
  const [growth, scale] = [await buy('growth'), await buy('scale')];
  expect(growth).not.toEqual(scale);
  expect(await buy('growth')).toEqual(growth);
});

it('remembers where the buyer was', async () => {
  expect(projectOfPurchase()).toBeNull();
  await buy('growth');
  expect(projectOfPurchase()).toBe('prj_1');
});

it('is made for a tenant by the service key, which has none', async () => {
  const asked = vi.fn(async (_url: string, { method }: RequestInit) =>
    Response.json(method === 'GET' ? { status: 'pending' } : { order_id: 'ord_1' }),
  );
  vi.stubGlobal('fetch', asked);
  await purchase({ tenantId: 'ten_1', projectId: 'prj_1', planId: 'growth', isService: true });
  expect(asked.mock.calls[0]?.[0]).toBe(`/api${TENANT}/payments/provider/checkout-sessions`);
});

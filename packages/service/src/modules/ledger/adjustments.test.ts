import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { createLedger, registerLedgerRoutes } from './index.js';

let api: TestApi;
let accounts: string;

beforeAll(async () => {
  api = await createTestApi((app, { postgres, clock }) =>
    registerLedgerRoutes(app, createLedger({ postgres, clock })),
  );
  accounts = `/v1/projects/${api.projectId}/accounts`;
});
afterAll(() => api.close());

async function newAccount(): Promise<string> {
  return `${accounts}/${(await api.call('POST', accounts, { name: 'Acme' })).json().id}`;
}

const adjust = (account: string, amount: unknown, headers = {}, reason = 'correction') =>
  api.call('POST', `${account}/wallets/USD/adjustments`, { amount, reason }, undefined, headers);
const walletOf = async (account: string) => (await api.call('GET', `${account}/wallets`)).json().wallets[0];

describe('an adjustment', () => {
  it('is a credit without an end above zero, and takes out below', async () => {
    const account = await newAccount();
    const raised = await adjust(account, '10');
    expect(raised.status).toBe(201);
    expect(raised.json()).toEqual({
      transaction_id: expect.stringMatching(/^led_/),
      account_id: account.split('/').at(-1),
      currency: 'USD',
      amount: '10',
      reason: 'correction',
      credit_id: expect.stringMatching(/^crg_/),
      created_at: TEST_NOW_S,
    });
    expect((await adjust(account, -25)).json()).toMatchObject({ amount: '-25', credit_id: null });
    expect(await walletOf(account)).toMatchObject({ balance: '-15' });
  });

  it('takes no more out of a prepaid wallet than it has', async () => {
    const account = await newAccount();
    await api.call('PUT', `${account}/wallets/USD`, { mode: 'prepaid' });
    await adjust(account, '10');
    const refused = await adjust(account, '-10.000000000000000001');
    expect([refused.status, refused.json().code]).toEqual([409, 'insufficient_funds']);
    expect(refused.json().details).toMatchObject([
      { account_id: account.split('/').at(-1), currency: 'USD', available_amount: '10' },
    ]);
    expect(await walletOf(account)).toMatchObject({ balance: '10' });
    expect((await adjust(account, '-10')).status).toBe(201);
    expect(await walletOf(account)).toMatchObject({ balance: '0' });
  });

  it('honours an Idempotency-Key, and does without', async () => {
    const account = await newAccount();
    const headers = { 'idempotency-key': 'k' };
    const first = await adjust(account, 1, headers);
    const again = await adjust(account, '1.0', headers);
    expect([again.status, again.text]).toEqual([201, first.text]);
    const other = await adjust(account, 1, headers, 'another');
    expect([other.status, other.json().code]).toEqual([409, 'idempotency_key_conflict']);
    await adjust(account, 1);
    await adjust(account, 1);
    expect(await walletOf(account)).toMatchObject({ balance: '3' });
  });

  it.each([0, '0', '-0.0', 'x', 1e21, '0.0000000000000000001'])('is refused for %s', async (amount) => {
    const answer = await adjust(await newAccount(), amount);
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
  });

  it('needs a reason', async () => {
    const account = await newAccount();
    expect((await adjust(account, 1, {}, ' ')).status).toBe(400);
    expect((await api.call('POST', `${account}/wallets/USD/adjustments`, { amount: 1 })).status).toBe(400);
  });
});

describe('the ledger', () => {
  it('lists lines newest first, page by page, and those of a transaction together', async () => {
    const account = await newAccount();
    for (const amount of [1, 2, 3]) {
      api.clock.advanceMs(1_000);
      await adjust(account, amount);
    }
    const whole = (await api.call('GET', `${account}/ledger`)).json();
    expect(whole.next_cursor).toBeNull();
    expect(whole.entries.map((line: Line) => [line.ledger_account, line.amount])).toEqual([
      ...[3, 2, 1].flatMap((amount) => [
        ['wallet', `${amount}`],
        ['adjustments', `-${amount}`],
      ]),
    ]);
    expect(whole.entries[0]).toMatchObject({
      kind: 'adjustment',
      currency: 'USD',
      description: 'correction',
    });
    const paged: Line[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page++) {
      expect(page).toBeLessThan(6);
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const answer = (await api.call('GET', `${account}/ledger?limit=1${query}`)).json();
      paged.push(...answer.entries);
      cursor = answer.next_cursor;
    }
    expect(paged).toEqual(whole.entries);
  });

  it('filters by currency, kind and ledger account', async () => {
    const account = await newAccount();
    await adjust(account, -4);
    await api.call('PUT', `${account}/wallets/USD`, { mode: 'prepaid' });
    await api.call('POST', `${account}/wallets/EUR/adjustments`, { amount: 1, reason: 'x' });
    const count = async (query: string) =>
      (await api.call('GET', `${account}/ledger?${query}`)).json().entries.length;
    expect(await count('')).toBe(6);
    expect(await count('currency=EUR')).toBe(2);
    expect(await count('kind=adjustment')).toBe(4);
    expect(await count('kind=adjustment&currency=USD&ledger_account=wallet')).toBe(1);
    expect(await count('kind=usage')).toBe(0);
    expect(await count('ledger_account=receivable')).toBe(1);
    for (const query of ['kind=x', 'currency=usd', 'ledger_account=x', 'limit=0', 'limit=101', 'x=1']) {
      expect((await api.call('GET', `${account}/ledger?${query}`)).status).toBe(400);
    }
  });

  it('refuses a cursor of another list', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    await adjust(account, 1);
    const { next_cursor: cursor } = (await api.call('GET', `${account}/ledger?limit=1`)).json();
    expect((await api.call('GET', `${account}/ledger?limit=5&cursor=${cursor}`)).status).toBe(200);
    const tampered = `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`;
    for (const url of [
      `${other}/ledger?cursor=${cursor}`,
      `${account}/ledger?kind=credit&cursor=${cursor}`,
      `${account}/ledger?cursor=${tampered}`,
      `${account}/ledger?cursor=x`,
      `${account}/ledger?cursor=`,
    ]) {
      const answer = await api.call('GET', url);
      expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
    }
  });
});

it('leaves every write in the audit log, once, and no refused or repeated one', async () => {
  const tenantId = await api.makeTenant();
  const url = `/v1/projects/${await api.makeProject(tenantId)}/accounts`;
  const { id } = (await api.call('POST', url, { name: 'Acme', external_id: 'crm' })).json();
  await api.call('POST', url, { name: 'Acme', external_id: 'crm' });
  const wallet = `${url}/${id}/wallets/USD`;
  await api.call('PUT', wallet, { mode: 'prepaid' });
  await api.call('PUT', wallet, { mode: 'prepaid' });
  // Opening a wallet is a change, even with the mode that every new wallet has.
  for (const _time of ['first', 'second']) {
    await api.call('PUT', `${url}/${id}/wallets/EUR`, { mode: 'postpaid' });
  }
  for (const amount of ['5', '5', '6']) {
    await api.call('POST', `${wallet}/credits`, { amount }, undefined, { 'idempotency-key': 'k' });
  }
  await api.call('POST', `${wallet}/adjustments`, { amount: '-2', reason: 'typo' });
  await api.call('POST', `${wallet}/adjustments`, { amount: '-9', reason: 'typo' });
  const log = (await api.call('GET', `/admin/v1/tenants/${tenantId}/audit-log`)).json().entries;
  const resource_id = `${id}/USD`;
  const transaction_id = expect.stringMatching(/^led_/);
  expect(log.filter((entry: { action: string }) => !/^(tenant|project)\./.test(entry.action))).toMatchObject([
    {
      action: 'adjustment.create',
      resource_id,
      change: { amount: '-2', reason: 'typo', transaction_id, credit_id: null },
    },
    {
      action: 'credit.create',
      resource_id,
      change: { amount: '5', transaction_id, credit_id: expect.stringMatching(/^crg_/) },
    },
    { action: 'wallet.update', resource_id: `${id}/EUR`, change: { mode: 'postpaid' } },
    { action: 'wallet.update', resource_type: 'wallet', resource_id, change: { mode: 'prepaid' } },
    { action: 'account.create', resource_id: id, change: { name: 'Acme', external_id: 'crm' } },
  ]);
});

interface Line {
  readonly ledger_account: string;
  readonly amount: string;
}

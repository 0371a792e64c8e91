import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ListCursors } from '../../kernel/cursor.js';
import { transaction } from '../../platform/postgres/index.js';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { createLedger, postCorrections, registerLedgerRoutes } from './index.js';

let api: TestApi;
let accounts: string;
let keys = 0;

beforeAll(async () => {
  api = await createTestApi((app, { postgres, clock }) =>
    registerLedgerRoutes(app, createLedger({ postgres, clock })),
  );
  accounts = `/v1/projects/${api.projectId}/accounts`;
});
afterAll(() => api.close());

/** Returns the URL of a wallet of a new account. */
async function newWallet(currency = 'USD'): Promise<string> {
  const created = await api.call('POST', accounts, { name: 'Acme' });
  expect(created.status).toBe(201);
  return `${accounts}/${created.json().id}/wallets/${currency}`;
}

const accountOf = (wallet: string) => wallet.replace(/\/wallets\/.*/, '');
const wallets = async (wallet: string) =>
  (await api.call('GET', `${accountOf(wallet)}/wallets`)).json().wallets;
const ledger = async (wallet: string, query = '') =>
  (await api.call('GET', `${accountOf(wallet)}/ledger${query}`)).json();

const credit = (wallet: string, body: object | string, key = `key-${keys++}`) =>
  api.call('POST', `${wallet}/credits`, body, undefined, { 'idempotency-key': key });
const adjust = (wallet: string, body: object, headers = {}) =>
  api.call('POST', `${wallet}/adjustments`, body, undefined, headers);

describe('a wallet', () => {
  it('is opened by its mode, its first credit or adjustment', async () => {
    const wallet = await newWallet();
    expect(await wallets(wallet)).toEqual([]);
    await credit(wallet, { amount: '12.50' });
    await adjust(wallet.replace('USD', 'TOKENS_X'), { amount: -3, reason: 'lost' });
    await api.call('PUT', wallet.replace('USD', 'EUR'), { mode: 'prepaid' });
    const empty = { owed: '0', reserved: '0', created_at: TEST_NOW_S };
    expect(await wallets(wallet)).toEqual([
      { currency: 'EUR', mode: 'prepaid', balance: '0', available: '0', ...empty },
      { currency: 'TOKENS_X', mode: 'postpaid', balance: '-3', available: '-3', ...empty },
      { currency: 'USD', mode: 'postpaid', balance: '12.5', available: '12.5', ...empty },
    ]);
  });

  it('is listed on pages, in order of currency', async () => {
    const wallet = await newWallet();
    const list = async (query: string, of = wallet) => api.call('GET', `${accountOf(of)}/wallets${query}`);
    const currencies = ['EUR', 'TOKENS_X', 'USDC_POINTSX'];
    for (const currency of currencies.toReversed())
      await api.call('PUT', wallet.replace('USD', currency), { mode: 'prepaid' });
    const shown: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = (await list(`?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)).json();
      shown.push(...page.wallets.map(({ currency }: { currency: string }) => currency));
      cursor = page.next_cursor;
    }
    expect(shown).toEqual(currencies);
    expect((await list('?limit=3')).json().next_cursor).toBeNull();
    const { next_cursor: first } = (await list('?limit=1')).json();
    const query = [api.tenantId, api.projectId, accountOf(wallet).split('/').at(-1)];
    const forged = new ListCursors('wallets', 12).encode(Buffer.alloc(12), query);
    for (const refused of [
      list(`?cursor=${first}`, await newWallet()),
      list(`?cursor=${forged}`),
      list('?cursor=x'),
    ]) {
      expect((await refused).json()).toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'cursor' }],
      });
    }
    expect((await list('?limit=1001')).status).toBe(400);
  });

  it('owes what was below zero when it becomes prepaid, and back', async () => {
    const wallet = await newWallet();
    await adjust(wallet, { amount: '-7.25', reason: 'opening' });
    const prepaid = await api.call('PUT', wallet, { mode: 'prepaid' });
    expect(prepaid.json()).toMatchObject({ mode: 'prepaid', balance: '0', owed: '7.25' });
    const postpaid = await api.call('PUT', wallet, { mode: 'postpaid' });
    expect(postpaid.json()).toMatchObject({ mode: 'postpaid', balance: '-7.25', owed: '0' });
    await api.call('PUT', wallet, { mode: 'postpaid' });
    const { entries } = await ledger(wallet, '?kind=mode_change');
    expect(entries.map((entry: Line) => [entry.ledger_account, entry.amount, entry.description])).toEqual([
      ['wallet', '-7.25', 'From prepaid to postpaid'],
      ['receivable', '7.25', 'From prepaid to postpaid'],
      ['wallet', '7.25', 'From postpaid to prepaid'],
      ['receivable', '-7.25', 'From postpaid to prepaid'],
    ]);
  });

  it('lists the entries of corrections, which name them; those of other kinds name none', async () => {
    const wallet = await newWallet();
    await adjust(wallet, { amount: '1', reason: 'opening' });
    const accountId = wallet.split('/').at(-3) as string;
    const debit = {
      tenantId: api.tenantId,
      projectId: api.projectId,
      accountId,
      currency: 'USD',
      amount: 5n,
    };
    const posted = { ...debit, transactionId: `led_${'f'.repeat(32)}`, correctionId: 'cor_7' };
    await transaction(api.postgres, (tx) => postCorrections(tx, [posted], TEST_NOW_S * 1_000));
    const { entries } = await ledger(wallet, '?kind=correction&ledger_account=usage');
    expect(entries).toEqual([
      {
        transaction_id: posted.transactionId,
        kind: 'correction',
        ledger_account: 'usage',
        currency: 'USD',
        amount: '0.000000000000000005',
        description: null,
        correction_id: 'cor_7',
        created_at: TEST_NOW_S,
      },
    ]);
    const others = (await ledger(wallet, '?kind=adjustment')).entries;
    expect(others.map((entry: Line) => entry.correction_id)).toEqual([null, null]);
  });

  it.each(['usd', 'U', 'US-D', 'ABCDEFGHIJKLM', '9A', 'US%20D'])('has no currency %s', async (currency) => {
    const answer = await api.call('PUT', await newWallet(currency), { mode: 'prepaid' });
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
  });

  it('has no other mode', async () => {
    expect((await api.call('PUT', await newWallet(), { mode: 'free' })).status).toBe(400);
    expect((await api.call('PUT', await newWallet(), {})).status).toBe(400);
  });
});

describe('a credit', () => {
  it('raises the balance and is listed with what is left of it', async () => {
    const wallet = await newWallet();
    const answer = await credit(wallet, {
      amount: '100',
      description: 'Welcome',
      expires_at: TEST_NOW_S + 10,
      priority: -5,
    });
    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^crg_[0-9a-f]{32}$/),
      transaction_id: expect.stringMatching(/^led_[0-9a-f]{32}$/),
      account_id: accountOf(wallet).split('/').at(-1),
      currency: 'USD',
      source: 'credit',
      amount: '100',
      remaining: '100',
      priority: -5,
      expires_at: TEST_NOW_S + 10,
      expired_at: null,
      description: 'Welcome',
      created_at: TEST_NOW_S,
    });
    await adjust(wallet, { amount: '-30', reason: 'Mistake' });
    const adjusted = await adjust(wallet, { amount: 5, reason: 'Sorry' });
    const list = (await api.call('GET', `${wallet}/credits?limit=1&offset=1`)).json();
    expect(list).toEqual({
      credits: [{ ...answer.json(), remaining: '70' }],
      total_count: 2,
      limit: 1,
      offset: 1,
    });
    const newest = (await api.call('GET', `${wallet}/credits`)).json().credits[0];
    expect(newest).toMatchObject({
      id: adjusted.json().credit_id,
      source: 'adjustment',
      description: 'Sorry',
    });
    expect((await api.call('GET', `${wallet}/credits?offset=9`)).json()).toMatchObject({
      credits: [],
      total_count: 2,
    });
  });

  it.each([
    ['{"amount": 0.1}', '0.1'],
    ['{"amount": 12345678901234567890}', '12345678901234567890'],
    ['{"amount": 0.123456789012345678}', '0.123456789012345678'],
    ['{"amount": 99999999999999999999.999999999999999999}', '99999999999999999999.999999999999999999'],
    ['{"amount": "1.500000000000000000000"}', '1.5'],
    ['{"amount": 1e3}', '1000'],
    ['{"amount": 7, "amount": 8}', '8'],
  ])('of %s is exact', async (body, amount) => {
    const wallet = await newWallet();
    expect((await credit(wallet, body)).json()).toMatchObject({ amount, remaining: amount });
    expect(await wallets(wallet)).toMatchObject([{ balance: amount }]);
  });

  it.each([
    '{}',
    '{"amount": 0}',
    '{"amount": "-1"}',
    '{"amount": -0.000000000000000001}',
    '{"amount": 0.1234567890123456789}',
    '{"amount": "0.1234567890123456789"}',
    '{"amount": 100000000000000000000}',
    '{"amount": 1e400}',
    '{"amount": 1e-400}',
    '{"amount": "1_000"}',
    '{"amount": " 1"}',
    '{"amount": "0x10"}',
    '{"amount": "NaN"}',
    '{"amount": ""}',
    '{"amount": true}',
    '{"amount": null}',
    '{"amount": ["1"]}',
    '{"amount": {"text": "1"}}',
    `{"amount": 1, "expires_at": ${TEST_NOW_S}}`,
    '{"amount": 1, "expires_at": 1.5}',
    '{"amount": 1, "expires_at": 999999999999}',
    '{"amount": 1, "priority": 2147483648}',
    '{"amount": 1, "priority": -2147483649}',
    '{"amount": 1, "priority": 0.5}',
    `{"amount": 1, "description": "${'x'.repeat(501)}"}`,
    '{"amount": 1, "currency": "USD"}',
  ])('is refused as %s', async (body) => {
    const wallet = await newWallet();
    const answer = await credit(wallet, body);
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
    expect(await wallets(wallet)).toEqual([]);
  });

  it('takes every priority and time that it may have', async () => {
    const wallet = await newWallet();
    for (const priority of [2_147_483_647, -2_147_483_648]) {
      const body = { amount: 1, priority, expires_at: 253_402_300_799 };
      expect((await credit(wallet, body)).status).toBe(201);
    }
  });

  it('needs an Idempotency-Key', async () => {
    const wallet = await newWallet();
    for (const headers of [{}, { 'idempotency-key': '' }, { 'idempotency-key': 'k'.repeat(256) }]) {
      const answer = await api.call('POST', `${wallet}/credits`, { amount: '1' }, undefined, headers);
      expect([answer.status, answer.json().details[0].path]).toEqual([400, 'idempotency-key']);
    }
    expect((await credit(wallet, { amount: '1' }, 'k'.repeat(255))).status).toBe(201);
  });

  it('is given once for a key, however often and at once it is asked for', async () => {
    const wallet = await newWallet();
    const body = { amount: '5', expires_at: TEST_NOW_S + 50 };
    const answers = await Promise.all(Array.from({ length: 8 }, () => credit(wallet, body, 'once')));
    const texts = new Set(answers.map(({ status, text }) => `${status} ${text}`));
    expect(texts.size).toBe(1);
    api.clock.advanceMs(60_000);
    const later = await credit(wallet, { ...body, amount: 5.0 }, 'once');
    expect(texts).toEqual(new Set([`${later.status} ${later.text}`]));
    api.clock.advanceMs(-60_000);
    expect(await wallets(wallet)).toMatchObject([{ balance: '5' }]);
  });

  it('is refused with a key that was used for another, in the whole project and no further', async () => {
    const wallet = await newWallet();
    await credit(wallet, { amount: '5' }, 'mine');
    for (const [where, body] of [
      [wallet, { amount: '6' }],
      [wallet, { amount: '5', priority: 1 }],
      [wallet.replace('USD', 'EUR'), { amount: '5' }],
      [await newWallet(), { amount: '5' }],
    ] as const) {
      const answer = await credit(where, body, 'mine');
      expect([answer.status, answer.json().code]).toEqual([409, 'idempotency_key_conflict']);
    }
    const elsewhere = `/v1/projects/${await api.makeProject(api.tenantId)}/accounts`;
    const { id } = (await api.call('POST', elsewhere, { name: 'x' })).json();
    expect((await credit(`${elsewhere}/${id}/wallets/USD`, { amount: '1' }, 'mine')).status).toBe(201);
  });

  it('leaves its key free when it is refused', async () => {
    const wallet = await newWallet();
    expect((await credit(wallet, { amount: '1', expires_at: 1 }, 'again')).status).toBe(400);
    expect((await credit(wallet, { amount: '1' }, 'again')).status).toBe(201);
  });
});

interface Line {
  readonly ledger_account: string;
  readonly amount: string;
  readonly description: string | null;
  readonly correction_id: string | null;
}

import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../kernel/id.js';
import { connectPostgres, transaction } from '../../platform/postgres/index.js';
import { amountFromText } from './amount.js';
import { latestUsageMs, postCorrections, readUsageSums } from './index.js';
import { allAtOnce, CORRECTION_ID, LedgerFixture, ONE } from './ledger.testing.js';
import type { WalletCaller } from './wallets.js';

let fixture: LedgerFixture;
let wallet: WalletCaller;

beforeAll(async () => {
  fixture = await LedgerFixture.start();
});
beforeEach(async () => {
  wallet = await fixture.newWallet();
});
afterAll(async () => {
  expect(await fixture.recount()).toMatchObject({ difference_count: 0, differences: [] });
  await fixture.stop();
});

async function credit(amount: bigint, options: { lastsS?: number; priority?: number } = {}): Promise<void> {
  const { lastsS, priority } = options;
  const expiresAt = lastsS === undefined ? undefined : fixture.nowS + lastsS;
  // Ids have the time in them, and age decides between equal credits.
  fixture.clock.advanceMs(1_000);
  await fixture.ledger.wallets.credit(wallet, { amount, expiresAt, priority }, undefined);
}

/** Returns what is left of the credits, oldest first. */
async function left(): Promise<bigint[]> {
  const { items: credits } = await fixture.credits(wallet);
  return credits.map(({ remaining }) => amountFromText(remaining)).reverse();
}

async function corrections() {
  const { entries } = await fixture.ledgerOf(wallet, { kind: 'correction' });
  return entries.map(({ ledger_account, amount }) => `${ledger_account} ${amount}`);
}

const unapplied = async () => (await fixture.wallet(wallet))?.unappliedDebit;

describe('a correction that charges more', () => {
  it('debits as usage does, opens wallets, and names the correction', async () => {
    const other = await fixture.newWallet();
    await fixture.correct([wallet, 2n * ONE], [other, 3n * ONE]);
    expect(await fixture.worth(wallet)).toEqual([-2n * ONE, 0n]);
    expect(await fixture.worth(other)).toEqual([-3n * ONE, 0n]);
    const { entries } = await fixture.ledgerOf(wallet, {});
    const named = { kind: 'correction', correction_id: CORRECTION_ID, description: null };
    expect(entries).toMatchObject([
      { ...named, ledger_account: 'wallet', amount: '-2' },
      { ...named, ledger_account: 'usage', amount: '2' },
    ]);
  });

  it('uses up credits, and owes what a prepaid wallet cannot pay', async () => {
    await fixture.ledger.wallets.setMode(wallet, 'prepaid');
    await credit(4n * ONE);
    await fixture.correct([wallet, 10n * ONE]);
    expect(await fixture.worth(wallet)).toEqual([0n, 6n * ONE]);
    expect(await left()).toEqual([0n]);
  });

  it('takes back an expired credit first', async () => {
    await credit(4n * ONE, { lastsS: 10 });
    fixture.clock.advanceMs(10_000);
    await fixture.correct([wallet, ONE]);
    expect(await fixture.worth(wallet)).toEqual([-ONE, 0n]);
  });

  it('has a transaction of one line for 0', async () => {
    await fixture.correct([wallet, 0n]);
    expect(await corrections()).toEqual(['usage 0']);
  });
});

describe('a correction that returns money', () => {
  it('refills credits in the reverse of the order in which they are used up', async () => {
    await credit(10n);
    await credit(10n, { lastsS: 2_000 });
    await credit(10n, { lastsS: 1_000 });
    await credit(10n, { priority: 1 });
    await credit(10n, { priority: -1 });
    await credit(10n);
    await fixture.debit([wallet, 60n]);
    const states: string[] = [];
    for (let returned = 0; returned < 6; returned++) {
      await fixture.correct([wallet, -10n]);
      states.push((await left()).map((amount) => (amount === 0n ? '-' : 'x')).join(''));
    }
    expect(states).toEqual(['---x--', '---x-x', 'x--x-x', 'xx-x-x', 'xxxx-x', 'xxxxxx']);
  });

  it('refills no credit above what it held; the rest is balance, used up before any credit', async () => {
    await credit(10n * ONE, { lastsS: 100 });
    await fixture.debit([wallet, 4n * ONE]);
    await fixture.correct([wallet, -7n * ONE]);
    expect(await left()).toEqual([10n * ONE]);
    expect(await fixture.worth(wallet)).toEqual([13n * ONE, 0n]);
    await fixture.debit([wallet, 3n * ONE]);
    expect(await left()).toEqual([10n * ONE]);
    await fixture.correct([wallet, -3n * ONE]);
    fixture.clock.advanceMs(100_000);
    await fixture.expiryJob().sweep();
    expect(await fixture.worth(wallet)).toEqual([3n * ONE, 0n]);
  });

  it('repays first what is owed beyond credits', async () => {
    await fixture.ledger.wallets.setMode(wallet, 'prepaid');
    await credit(5n * ONE);
    await fixture.debit([wallet, 8n * ONE]);
    await fixture.correct([wallet, -2n * ONE]);
    expect(await fixture.worth(wallet)).toEqual([0n, ONE]);
    expect(await left()).toEqual([0n]);
    expect(await unapplied()).toBe(ONE);
    await fixture.correct([wallet, -2n * ONE]);
    expect(await fixture.worth(wallet)).toEqual([ONE, 0n]);
    expect(await left()).toEqual([ONE]);
    expect(await corrections()).toEqual([
      ...['wallet 1', 'usage -2', 'receivable 1'],
      ...['usage -2', 'receivable 2'],
    ]);
  });

  it('leaves expired credits alone, used up or taken back', async () => {
    await credit(10n, { lastsS: 10 });
    await credit(10n, { lastsS: 20 });
    await credit(10n);
    await fixture.debit([wallet, 15n]);
    fixture.clock.advanceMs(30_000);
    await fixture.correct([wallet, -12n]);
    expect(await left()).toEqual([0n, 0n, 10n]);
    expect(await unapplied()).toBe(-12n);
    expect(await fixture.worth(wallet)).toEqual([22n, 0n]);
  });

  it('leaves a credit alone that a process with a later clock has taken back', async () => {
    await credit(10n, { lastsS: 10 });
    await fixture.debit([wallet, 4n]);
    const beforeExpiryMs = fixture.clock.nowMs();
    fixture.clock.advanceMs(10_000);
    await fixture.expiryJob().sweep();
    const returned = fixture.correctionOf(wallet, -4n);
    await transaction(fixture.store.postgres, (tx) => postCorrections(tx, [returned], beforeExpiryMs));
    expect(await left()).toEqual([0n]);
    expect(await fixture.worth(wallet)).toEqual([4n, 0n]);
  });

  it('lets what it refills expire with its credit', async () => {
    await credit(10n, { lastsS: 10 });
    await credit(10n, { lastsS: 50 });
    await fixture.debit([wallet, 12n]);
    // Settles the wallet: only the second credit has something left, and is next to expire.
    await fixture.ledger.wallets.setMode(wallet, 'prepaid');
    await fixture.correct([wallet, -5n]);
    expect(await left()).toEqual([3n, 10n]);
    fixture.clock.advanceMs(10_000);
    await fixture.expiryJob().sweep();
    expect(await left()).toEqual([0n, 10n]);
    expect(await fixture.worth(wallet)).toEqual([10n, 0n]);
  });

  it.each(['prepaid', 'postpaid'] as const)('undoes a charge exactly, in a %s wallet', async (mode) => {
    await fixture.ledger.wallets.setMode(wallet, mode);
    await credit(10n, { lastsS: 500 });
    await credit(10n, { priority: -1 });
    await credit(10n);
    await fixture.debit([wallet, 13n]);
    const before = [await left(), await fixture.worth(wallet)];
    for (const amount of [1n, 9n, 17n, 40n]) {
      await fixture.correct([wallet, amount]);
      await fixture.correct([wallet, -amount]);
      expect([await left(), await fixture.worth(wallet)]).toEqual(before);
    }
  });

  it('has the same result whether or not somebody settled the wallet in between', async () => {
    const wallets = [wallet, await fixture.newWallet()];
    const results: unknown[] = [];
    for (wallet of wallets) {
      await credit(10n);
      await fixture.debit([wallet, 5n]);
      await credit(10n, { priority: -1 });
      await fixture.debit([wallet, 3n]);
      if (wallet === wallets[0]) await fixture.ledger.wallets.setMode(wallet, 'prepaid');
      await fixture.correct([wallet, -3n]);
      results.push([await left(), await fixture.worth(wallet)]);
    }
    expect(results[0]).toEqual([
      [8n, 7n],
      [15n, 0n],
    ]);
    expect(results[1]).toEqual(results[0]);
  });
});

describe('a batch of corrections', () => {
  it('takes the same number of statements for one wallet and for hundreds', async () => {
    const statements = async (count: number) => {
      const wallets = await allAtOnce(Array.from({ length: count }, () => () => fixture.newWallet()));
      for (wallet of wallets) {
        await credit(ONE, { priority: -1 });
        await credit(3n * ONE, { lastsS: 2_000 });
      }
      await fixture.debit(...wallets.map((used) => [used, 2n * ONE] as const));
      fixture.clock.advanceMs(3_000_000);
      const debits = wallets.map((used) => fixture.correctionOf(used, -ONE));
      const queries = vi.spyOn(pg.Client.prototype, 'query');
      await transaction(fixture.store.postgres, (tx) => postCorrections(tx, debits, fixture.clock.nowMs()));
      const { length } = queries.mock.calls;
      queries.mockRestore();
      return length;
    };
    const ofOne = await statements(1);
    expect(ofOne).toBeLessThanOrEqual(12);
    expect(await statements(100)).toBe(ofOne);
  });

  it('posts nothing when its connection is killed before the commit', async () => {
    await credit(10n);
    await fixture.debit([wallet, 4n]);
    const before = [await fixture.wallet(wallet), await left(), await fixture.ledgerOf(wallet, {})];
    const { connectionString, postgres } = fixture.store;
    const log = { warn: () => {} };
    const victim = connectPostgres({
      connection: connectionString,
      applicationName: 'victim',
      poolMax: 1,
      log,
    });
    const killed = transaction(victim, async (tx) => {
      await postCorrections(tx, [fixture.correctionOf(wallet, -3n)], fixture.clock.nowMs());
      await postgres.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'victim' and datname = current_database()`,
      );
    });
    await expect(killed).rejects.toThrow();
    await victim.close();
    expect([await fixture.wallet(wallet), await left(), await fixture.ledgerOf(wallet, {})]).toEqual(before);
  });

  it('refuses a wallet twice', async () => {
    await expect(fixture.correct([wallet, 1n], [wallet, 1n])).rejects.toThrow('each wallet once');
  });
});

it('counts in the sums of usage, and is the newest usage', async () => {
  await fixture.debit([wallet, 5n * ONE]);
  fixture.clock.advanceMs(1_000);
  await fixture.correct([wallet, -2n * ONE]);
  await credit(9n * ONE);
  await transaction(fixture.store.postgres, async (tx) => {
    const latestMs = await latestUsageMs(tx);
    expect(latestMs).toBe(fixture.clock.nowMs() - 1_000);
    const sums = await readUsageSums(tx, latestMs);
    expect(sums.find(({ accountId }) => accountId === wallet.accountId)?.amount).toMatch(/^3(\.0+)?$/);
    const former = await readUsageSums(tx, latestMs - 1);
    expect(former.find(({ accountId }) => accountId === wallet.accountId)?.amount).toMatch(/^5(\.0+)?$/);
  });
});

it.each([
  ['correction', 'null'],
  ['usage', `'${CORRECTION_ID}'`],
])('has no transaction of kind %s with the correction %s', async (kind, correction) => {
  const inserted = fixture.store.postgres.pool.query(
    `insert into ledger_transactions
     values ('ten_1', 'prj_1', $1, 'acct_1', 'USD', $2, null, 1, ${correction})`,
    [newId('led', fixture.clock), kind],
  );
  await expect(inserted).rejects.toThrow('ledger_transactions_correction_check');
});

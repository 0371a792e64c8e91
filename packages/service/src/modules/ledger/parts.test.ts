import { LEDGER_ACCOUNTS } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../platform/postgres/index.js';
import { amountFromText, amountText } from './amount.js';
import { decodeEntryCursor, encodeEntryCursor } from './ledger-list.js';
import { assertBalanced, type LedgerTransaction, UnbalancedTransactionError } from './wallet.js';

describe('assertBalanced', () => {
  const transaction: Omit<LedgerTransaction, 'entries'> = {
    ...{ tenantId: 'ten_1', projectId: 'prj_1', accountId: 'acct_1', currency: 'USD', id: 'led_1' },
    kind: 'usage',
    description: null,
    createdAtMs: 0,
  };

  it('lets lines pass that add up to zero', () => {
    const entries = [
      { ledgerAccount: 'wallet', amount: -4n },
      { ledgerAccount: 'receivable', amount: -6n },
      { ledgerAccount: 'usage', amount: 10n },
    ] as const;
    expect(() => assertBalanced({ ...transaction, entries })).not.toThrow();
  });

  it('throws for what does not, to the last digit, and for no lines', () => {
    const entries = [
      { ledgerAccount: 'wallet', amount: -4n },
      { ledgerAccount: 'usage', amount: 5n },
    ] as const;
    expect(() => assertBalanced({ ...transaction, entries })).toThrow(
      new UnbalancedTransactionError('the 2 lines of usage transaction led_1 add up to 0.000000000000000001'),
    );
    expect(() => assertBalanced({ ...transaction, entries: [] })).toThrow(UnbalancedTransactionError);
  });
});

describe('an amount as text', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), (amount) => {
        expect(amountFromText(amountText(amount))).toBe(amount);
      }),
    );
  });

  it.each([
    ['0', 0n],
    ['-0.5', -(5n * 10n ** 17n)],
    ['12.500000000000000000', 125n * 10n ** 17n],
    ['-0.000000000000000001', -1n],
  ])('%s is read exactly', (text, amount) => {
    expect(amountFromText(text)).toBe(amount);
  });

  it.each(['', ' ', '.', '-', 'NULL', 'NaN', 'Infinity', '1e5', '0.0000000000000000001'])(
    '"%s" is none',
    (text) => {
      expect(() => amountFromText(text)).toThrow();
    },
  );
});

describe('columns', () => {
  const { words, amounts, integers } = columnsOf([
    { word: 'led_1', amount: -5n, integer: 7 },
    { word: 'A-b', amount: null, integer: null },
  ]);

  it('are array literals', () => {
    expect(words(({ word }) => word)).toBe('{led_1,A-b}');
    expect(amounts(({ amount }) => amount)).toBe('{-5e-18,null}');
    expect(integers(({ integer }) => integer)).toBe('{7,null}');
    expect(columnsOf<string>([]).words((word) => word)).toBe('{}');
  });

  it.each(['', 'a,b', 'a"', 'a\\', '{', ' ', 'NULL', 'null', 'é', 'a\n'])('hold no word %j', (word) => {
    expect(() => columnsOf([word, 'x']).words((text) => text)).toThrow(RangeError);
  });
});

describe('a cursor', () => {
  const transactionId = `led_${'0123456789abcdef'.repeat(2)}`;

  it.each(LEDGER_ACCOUNTS)('after a line of %s leads back to it', (ledgerAccount) => {
    const question = ['prj_1', undefined, 'x'];
    const cursor = encodeEntryCursor({ transactionId, ledgerAccount }, question);
    expect(decodeEntryCursor(cursor, question)).toEqual({ transactionId, ledgerAccount });
    expect(decodeEntryCursor(cursor, ['prj_2', undefined, 'x'])).toBeUndefined();
    expect(decodeEntryCursor(`${cursor}=`, question)).toBeUndefined();
  });

  it('is nothing else', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 128 }), (text) => {
        expect(decodeEntryCursor(text, [])).toBeUndefined();
      }),
    );
  });
});

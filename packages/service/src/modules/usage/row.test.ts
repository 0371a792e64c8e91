import { describe, expect, it } from 'vitest';
import { usageItem, usageRow } from '../../testing/index.js';
import { UsageBlock } from './usage-block.js';

const UINT32_MAX = 0xffff_ffff;
/** Greatest value of 20 integer and 18 fraction digits. */
const STORED_MAX = 10n ** 38n - 1n;

/** For each field that is a number or a decimal, values that no column of its kind can hold. */
function pastRange(fields: object): [name: string, value: number | bigint][] {
  const beyond = (value: unknown): (number | bigint)[] => {
    if (typeof value === 'bigint') return [STORED_MAX + 1n, -STORED_MAX - 1n];
    return typeof value === 'number' ? [2 ** 53, -1, 0.5, Number.NaN] : [];
  };
  return Object.entries(fields).flatMap(([name, value]) =>
    beyond(value).map((past): [string, number | bigint] => [name, past]),
  );
}

describe('what a column cannot hold', () => {
  /** Values beyond the range of each number of a row and of its charge items; first those just beyond a bound. */
  const outOfRange = [
    ['occurredAt', UINT32_MAX + 1, { occurredAt: UINT32_MAX + 1 }] as const,
    ['attempt', 0x1_0000, { attempt: 0x1_0000 }] as const,
    ['corrections', UINT32_MAX + 1, { corrections: UINT32_MAX + 1 }] as const,
    ['extractorVersion', UINT32_MAX + 1, { extractorVersion: UINT32_MAX + 1 }] as const,
    ['item ruleSetVersion', 2 ** 32, { items: [usageItem({ ruleSetVersion: UINT32_MAX + 1 })] }] as const,
    ...pastRange(usageRow()).map(([name, value]) => [name, value, { [name]: value }] as const),
    ...pastRange(usageItem()).map(
      ([name, value]) => [`item ${name}`, value, { items: [usageItem({ [name]: value })] }] as const,
    ),
  ];

  it('knows the range of every number', () => {
    const named = outOfRange.map(([name]) => name);
    expect(named).toEqual(
      expect.arrayContaining(['occurredAt', 'attempt', 'item quantity', 'item discount']),
    );
    expect(new Set(named).size).toBe(11);
  });

  it.each<readonly [string, unknown, object]>([
    ...outOfRange,
    ['id of another length', 15, { rawEventId: Buffer.alloc(15) }],
    ['ledger transactions of other items', 2, { itemTransactionIds: ['led_1', 'led_2'] }],
  ])('refuses a row for its %s, %s, and adds nothing of it', (_, _value, fields) => {
    const whole = usageRow();
    const refusing = new UsageBlock();
    refusing.add(whole);
    expect(() => refusing.add({ ...usageRow(), ...fields })).toThrow(RangeError);
    const without = new UsageBlock();
    without.add(whole);
    expect(Buffer.concat(refusing.bytes())).toEqual(Buffer.concat(without.bytes()));
  });
});

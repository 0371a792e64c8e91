import { describe, expect, it } from 'vitest';
import { moneyFindings } from './money-rules.js';
import { parseCode } from './source.js';

const src = (path: string) => `packages/service/src/${path}`;

const MONEY_FILES = [
  'ledger/x.ts',
  'checkout/x.ts',
  'quotas/x.ts',
  'limits/posting/x.ts',
  'limits/windows/x.ts',
  'limits/leases/x.ts',
  'limits/check/x.ts',
  'pipeline/totals.ts',
];

describe('money rules', () => {
  const moneyRules = (path: string, code: string) =>
    moneyFindings(parseCode(src(path), code)).map((finding) => finding.rule);

  it.each([
    'a.get(b) ?? 0n;',
    'a?.b ?? 0;',
    'a || 0n;',
    'a[b] ?? null;',
    'rows[0]?.total ?? other;',
    'a[b] as Amount;',
    'a[b].c as Amount;',
    'a[b]!;',
    'a === undefined ? 0 : a.b;',
    'a === undefined ? 0n : a;',
    'a !== undefined ? a : 0n;',
    'undefined === a ? 0n : a;',
    'a == null ? 0 : a;',
    'a ?? ZERO;',
    "a ?? '0';",
    'a ?? BigInt(0);',
    'a ||= 0n;',
    'a ??= 0;',
    '({ a = 0n }) => a;',
    'a.at(b) as Amount;',
    'a.at(-1) ?? b;',
    'a.get(b) as Amount;',
    'a.get(b)!.amount;',
  ])('refuse %s', (code) => {
    for (const path of MONEY_FILES)
      expect(moneyRules(`modules/${path}`, `const x = ${code}`)).toEqual(['missing-money']);
  });

  it('refuse a zero as the default of a destructured field', () => {
    expect(moneyRules('modules/quotas/x.ts', 'const { a = 0n } = b;')).toEqual(['missing-money']);
  });

  it.each([
    ['modules/ledger/x.ts', 'const x = present(a[b], "a"); const y = a.b ?? null; const z = ["a"] as const;'],
    [
      'modules/ledger/x.ts',
      'const x = a === 0n ? 0n : b; const y = a === undefined ? 1 : 2; const z = a.get(b);',
    ],
    ['modules/pipeline/x.ts', 'const x = a.get(b) ?? 0;'],
    ['modules/ledger/x.test.ts', 'const x = a[b] ?? 0n;'],
    ['modules/limits/rules/x.ts', 'const x = a.get(b) ?? 0;'],
  ])('allow what %s says', (path, code) => {
    expect(moneyRules(path, code)).toEqual([]);
  });
});

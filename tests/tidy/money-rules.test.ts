import { describe, expect, it } from 'vitest';
import { moneyFindings } from './money-rules.js';
import { parseCode } from './source.js';

const src = (path: string) => `packages/service/src/${path}`;

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
  ])('refuse %s', (code) => {
    for (const path of ['ledger/x.ts', 'checkout/x.ts', 'limits/posting/x.ts', 'limits/windows/x.ts'])
      expect(moneyRules(`modules/${path}`, `const x = ${code}`)).toEqual(['missing-money']);
  });

  it.each([
    ['modules/ledger/x.ts', 'const x = present(a[b], "a"); const y = a.b ?? null; const z = ["a"] as const;'],
    ['modules/ledger/x.test.ts', 'const x = a[b] ?? 0n;'],
    ['modules/limits/rules/x.ts', 'const x = a.get(b) ?? 0;'],
  ])('allow what %s says', (path, code) => {
    expect(moneyRules(path, code)).toEqual([]);
  });
});

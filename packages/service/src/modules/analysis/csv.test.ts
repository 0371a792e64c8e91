import type { AnalysisResult, AnalysisRow } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { toCsv } from './csv.js';

const row: AnalysisRow = {
  bucket: 1_750_000_000,
  metric: 'llm.tokens',
  unit: 'token',
  currency: 'USD',
  group: { model: 'large' },
  item_count: 2,
  quantity: '12.5',
  amount: '-0.01',
};

function csvOf(
  rows: AnalysisRow[],
  overrides: Partial<AnalysisResult> = {},
  flagsOtherGroups = false,
): string {
  const result = {
    bucket_size: '1h',
    timezone: 'UTC',
    from: 0,
    to: 1,
    measures: ['item_count', 'quantity', 'amount'] as const,
    group_by: ['bucket', 'model'],
    rows,
    truncated: false,
    ...overrides,
  };
  return toCsv({ ...result, measures: [...result.measures] }, flagsOtherGroups);
}

it('writes a header and a line per row, numbers as they are', () => {
  expect(csvOf([row])).toBe(
    'bucket,metric,unit,currency,group.model,item_count,quantity,amount\r\n' +
      '1750000000,llm.tokens,token,USD,large,2,12.5,-0.01\r\n',
  );
});

it('has the asked measures only', () => {
  expect(csvOf([row], { measures: ['amount'] })).toContain('group.model,amount\r\n');
});

it('leaves a null empty, and quotes an empty text', () => {
  const rows = [
    { ...row, bucket: null, unit: null, currency: null, group: { model: null } },
    { ...row, group: { model: '' } },
  ];
  const [, first, second] = csvOf(rows).split('\r\n');
  expect(first).toBe(',llm.tokens,,,,2,12.5,-0.01');
  expect(second).toBe('1750000000,llm.tokens,token,USD,"",2,12.5,-0.01');
});

it('separates rows of other groups from those without the dimension', () => {
  const rows = [
    { ...row, group: { model: null }, other: false },
    { ...row, group: { model: null }, other: true },
  ];
  expect(csvOf(rows, {}, true).split('\r\n')).toEqual([
    'bucket,metric,unit,currency,group.model,other,item_count,quantity,amount',
    '1750000000,llm.tokens,token,USD,,false,2,12.5,-0.01',
    '1750000000,llm.tokens,token,USD,,true,2,12.5,-0.01',
    '',
  ]);
});

it.each([
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', "'\tx"],
  ['=HYPERLINK("http://evil","x")', '"\'=HYPERLINK(""http://evil"",""x"")"'],
])('writes the dimension value %j as %j', (value, cell) => {
  expect(csvOf([{ ...row, group: { model: value } }])).toContain(`USD,${cell},2`);
});

it('guards the names of dimensions too', () => {
  expect(csvOf([], { group_by: ['bucket', 'a,"b'] })).toContain('"group.a,""b"');
});

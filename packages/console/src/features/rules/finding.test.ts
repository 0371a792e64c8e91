import { describe, expect, it } from 'vitest';
import { inExpression, withoutField } from './finding.js';

describe('inExpression', () => {
  it('marks the word at the given place', () => {
    expect(inExpression('item.quantity * foo', 'line 1, column 17: unknown variable: foo')).toEqual({
      from: 16,
      to: 19,
      message: 'unknown variable: foo',
    });
  });

  it('counts lines', () => {
    const source = 'dec("1")\n  + 5';
    expect(inExpression(source, 'line 2, column 5: no')).toMatchObject({ from: 13, to: 14 });
  });

  it('stays within the expression', () => {
    expect(inExpression('a +', 'line 1, column 9: x')).toMatchObject({ from: 3, to: 3 });
    expect(inExpression('', 'line 1, column 1: x')).toMatchObject({ from: 0, to: 0 });
  });

  it('marks all of it without a place', () => {
    expect(inExpression('abc', 'must not be longer')).toEqual({
      from: 0,
      to: 3,
      message: 'must not be longer',
    });
  });
});

it('separates what the form has no field for', () => {
  const paths = [
    'name',
    'subject.id_path',
    'dimensions[3].path',
    'charge_item_extractors[0].less_paths[1]',
    'charge_item_extractors[0].total_expr',
    'charge_item_extractors[0].cumulative.by[1]',
    'charge_item_extractors[0].cumulative.by.x',
    'colour',
    'subject.id',
    'rules[0]',
    '',
  ];
  const findings = paths.map((path) => ({ path, message: 'no' }));
  expect(withoutField('extractor', findings).map(({ path }) => path)).toEqual([
    'charge_item_extractors[0].cumulative.by.x',
    'colour',
    'subject.id',
    'rules[0]',
    '',
  ]);
  expect(withoutField('pricing', [{ path: 'rules[12]', message: 'no' }])).toEqual([]);
  expect(withoutField('pricing', [{ path: 'rules[12].cumulative', message: 'no' }])).toEqual([]);
});

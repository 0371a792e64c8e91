import { describe, expect, it } from 'vitest';
import { unsupportedPath, withField } from './body.js';

describe('withField', () => {
  it('sets a field in its place, or leaves it out', () => {
    expect(JSON.stringify(withField({ a: 1, b: 2 }, 'a', 3))).toBe('{"a":3,"b":2}');
    expect(withField({ a: 1, b: 2 } as { a: number; b?: number }, 'b', undefined)).toEqual({ a: 1 });
  });
});

describe('unsupportedPath', () => {
  it.each([
    ['extractor', {}, undefined],
    ['extractor', { name: 'x', colour: 'red', dimensions: [{ name: 'a', path: 'b' }] }, undefined],
    ['extractor', [], 'the top level'],
    ['extractor', null, 'the top level'],
    ['extractor', { subject: 5 }, 'subject'],
    ['extractor', { subject: { required: 'yes' } }, 'subject.required'],
    ['extractor', { dimensions: { name: 'a' } }, 'dimensions'],
    ['extractor', { dimensions: [{}, null] }, 'dimensions[1]'],
    ['extractor', { dimensions: [{ sum_paths: ['a'], bands: [1, '2.5'] }] }, undefined],
    ['extractor', { dimensions: [{ bands: [1, 2.5] }] }, 'dimensions[0].bands'],
    [
      'extractor',
      { charge_item_extractors: [{ less_paths: ['a', 1] }] },
      'charge_item_extractors[0].less_paths',
    ],
    [
      'extractor',
      { charge_item_extractors: [{ on_negative: true }] },
      'charge_item_extractors[0].on_negative',
    ],
    [
      'extractor',
      { charge_item_extractors: [{ stated_total: { other_paths: 'a' } }] },
      'charge_item_extractors[0].stated_total.other_paths',
    ],
    ['pricing', { rules: [{ pricing_unit: 1000 }, { pricing_unit: '1000' }] }, undefined],
    ['pricing', { rules: [{ pricing_unit: 1.5 }] }, 'rules[0].pricing_unit'],
    ['pricing', { rules: [{ cumulative: { counter: 'a', by: ['b'] }, total_expr: '1' }] }, undefined],
    ['pricing', { rules: [{ cumulative: { by: 'b' } }] }, 'rules[0].cumulative.by'],
    ['extractor', { charge_item_extractors: [{ total_expr: 1 }] }, 'charge_item_extractors[0].total_expr'],
    ['pricing', { rules: [{ priority: 1.5 }] }, 'rules[0].priority'],
    ['pricing', { rules: [{ match_expr: null }] }, 'rules[0].match_expr'],
  ] as const)('of %s rules %j is %s', (kind, body, place) => expect(unsupportedPath(kind, body)).toBe(place));
});

import { type DimensionConfig, RULE_SET_SUM_PATHS_MAX, SUM_NODES_MAX } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../../kernel/json/json.js';
import { failureOf, items, rate } from '../testing.js';
import { compileExtractor } from './index.js';

const sizeOf = (changes: Partial<DimensionConfig>): DimensionConfig => ({
  name: 'size',
  type: 'number',
  ...changes,
});

/** Returns the dimension of an event as text; undefined where the event lacks it. */
function read(dimension: Partial<DimensionConfig>, rawJson: string): string | undefined {
  const rated = rate({ dimensions: [sizeOf(dimension)] }, rawJson);
  if (!rated.ok) throw new Error(rated.failure.message);
  return rated.dimensions.get('size')?.toString();
}

function issuesOf(...dimensions: Partial<DimensionConfig>[]): (readonly [string, string])[] {
  const named = dimensions.map((dimension, index) => sizeOf({ name: `d${index}`, ...dimension }));
  const result = compileExtractor({ dimensions: named });
  return result.ok ? [] : result.issues.map(({ path, message }) => [path, message] as const);
}

describe('sum_paths of a dimension', () => {
  const SUM = { path: 'n', sum_paths: ['l[*].n', 'm'] };

  it.each<[string, string | undefined]>([
    ['{"n": 1, "l": [{"n": 2}, {"n": 0.1}], "m": 3}', '6.1'],
    ['{"n": 12345678901234567890, "m": 0.000000000000000001}', '12345678901234567890.000000000000000001'],
    ['{"l": [{"n": null}, {"n": 5}]}', '5'],
    ['{"n": 5, "m": -7}', '-2'],
    ['{"n": 0}', '0'],
    ['{"n": null, "l": [], "m": null}', undefined],
    ['{}', undefined],
  ])('are added up, exactly: %s', (rawJson, size) => {
    expect(read(SUM, rawJson)).toBe(size);
  });

  it('need no further path', () => {
    expect(read({ sum_paths: ['l[*].n'] }, '{"l": [{"n": 2}, {"n": 0.5}]}')).toBe('2.5');
    expect(read({ sum_paths: ['l[*].n'] }, '{"l": []}')).toBeUndefined();
  });

  it('read all that is selected for production', () => {
    const result = compileExtractor({ dimensions: [sizeOf({ path: 'u.n', sum_paths: ['u.m'] })] });
    if (!result.ok) throw new Error('does not compile');
    const { reads, dimensions } = result.extractor;
    const event = parseLossless('{"u": {"n": 1, "m": 2, "x": 3}, "y": 4}');
    expect(dimensions[0]?.read(event)?.toString()).toBe('3');
    expect(reads).toEqual(compileReads('u.n', 'u.m'));
  });

  const compileReads = (...paths: string[]) => {
    const result = compileExtractor(items(...paths.map((path) => ({ name: path, path }))));
    return result.ok ? result.extractor.reads : undefined;
  };

  const many = JSON.stringify({ l: Array.from({ length: SUM_NODES_MAX + 1 }, () => ({ n: 1 })) });

  it.each([
    ['text', '{"n": 5, "m": "1"}', 'dimension_type_mismatch'],
    ['text in a list', '{"l": [{"n": true}]}', 'dimension_type_mismatch'],
    ['too many entries', many, 'dimension_list_too_long'],
    ['too many digits', '{"n": 1e350, "m": 1e-350}', 'decimal_out_of_range'],
  ])('fail the event: %s', (_, rawJson, code) => {
    expect(failureOf(rate({ dimensions: [sizeOf(SUM)] }, rawJson))).toEqual([code, 'dimensions[0]']);
  });

  it('leave a required dimension missing where none of them reads a number', () => {
    const dimensions = [sizeOf({ ...SUM, bands: [5], required: true })];
    expect(failureOf(rate({ dimensions }, '{"l": []}'))).toEqual(['dimension_missing', 'dimensions[0]']);
  });

  it('are checked when they are saved, and bounded for a rule set, those of charge items included', () => {
    expect(issuesOf({ sum_paths: ['a[*]', 'a..b'] }).map(([path]) => path)).toEqual([
      'dimensions[0].sum_paths[1]',
    ]);
    expect(issuesOf({}, { sum_paths: [] })).toEqual([
      ['dimensions[0].path', 'expected a path, or sum_paths'],
      ['dimensions[1].path', 'expected a path, or sum_paths'],
    ]);
    const paths = Array.from({ length: RULE_SET_SUM_PATHS_MAX - 1 }, () => 'a[*]');
    const full = { dimensions: [sizeOf({ sum_paths: paths })] };
    expect(compileExtractor({ ...full, ...items({ sum_paths: ['b'] }) }).ok).toBe(true);
    expect(compileExtractor({ ...full, ...items({ sum_paths: ['b', 'c'] }) })).toMatchObject({
      issues: [
        { path: 'charge_item_extractors[0].sum_paths', message: 'expected at most 100 in one rule set' },
      ],
    });
  });
});

describe('bands of a dimension', () => {
  const BANDS = { path: 'n', bands: [1, '2.5', 128_001, '200001'] };

  it.each<[string, string | undefined]>([
    ['-3', '0'],
    ['0', '0'],
    ['0.999999999999999999', '0'],
    ['1', '1'],
    ['2.499999999999999999', '1'],
    ['2.5', '2.5'],
    ['128000', '2.5'],
    ['128001', '128001'],
    ['200000', '128001'],
    ['200001', '200001'],
    ['12345678901234567890', '200001'],
    ['null', undefined],
  ])('hold %s in %s', (number, band) => {
    expect(read(BANDS, `{"n": ${number}}`)).toBe(band);
  });

  it('leave out an event without the number, and fail one where it is another value', () => {
    expect(read(BANDS, '{}')).toBeUndefined();
    expect(failureOf(rate({ dimensions: [sizeOf(BANDS)] }, '{"n": "7"}'))).toEqual([
      'dimension_type_mismatch',
      'dimensions[0]',
    ]);
  });

  it('hold the sum, not its parts', () => {
    const dimension = { ...BANDS, sum_paths: ['m'] };
    expect(read(dimension, '{"n": 128000, "m": 1}')).toBe('128001');
  });

  it.each<[NonNullable<DimensionConfig['bands']>, string, string]>([
    [['0'], 'dimensions[0].bands[0]', 'expected a decimal above 0, such as 200001 or "0.5"'],
    [[1, '-2'], 'dimensions[0].bands[1]', 'expected a decimal above 0'],
    [['1k'], 'dimensions[0].bands[0]', 'expected a decimal above 0'],
    [[2, '2.0'], 'dimensions[0].bands[1]', 'expected more than the band before it'],
    [[5, 7, 6], 'dimensions[0].bands[2]', 'ascending order'],
  ])('%j are refused', (bands, path, message) => {
    expect(issuesOf({ path: 'n', bands })).toEqual([[path, expect.stringContaining(message)]]);
  });
});

it('only a number has bands and paths that are added up', () => {
  expect(
    issuesOf(
      { path: 'a', type: 'string', bands: [1] },
      { path: 'a', type: 'boolean', sum_paths: ['b'] },
      { type: 'string' },
    ),
  ).toEqual([
    ['dimensions[0].bands', 'expected none: only a dimension of the type number has bands'],
    ['dimensions[1].sum_paths', 'expected none: only a dimension of the type number has sum_paths'],
    ['dimensions[2].path', 'expected a path'],
  ]);
});

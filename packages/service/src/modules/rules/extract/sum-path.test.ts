import { RULE_SET_SUM_PATHS_MAX, SUM_NODES_MAX } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { parseLossless, selectJson } from '../../../kernel/json/json.js';
import { failureOf, items, itemsOf, rate } from '../testing.js';
import { compileExtractor } from './index.js';
import { selectionOf } from './selection.js';
import { compileSumPath } from './sum-path.js';

function compiled(path: string) {
  const result = compileSumPath(path);
  if (!result.ok) throw new Error(result.message);
  return result;
}

const EVENT = `{"l": [{"type": "a", "n": 1, "x": {"y": null}}, {"type": "b", "n": 2}, {"n": 3, "type": null}, 4],
  "o": {"p": 5, "q": [6, 7]}, "e": []}`;

describe('selects', () => {
  it.each<[string, unknown[]]>([
    ['l[*].n', [1, 2, 3]],
    ['$.l[?@.type == "a"].n', [1]],
    ["l[?@.type == 'a' || @.type == 'b'].n", [1, 2]],
    ["l[?@.type != 'a'].n", [2, 3]],
    ['l[?@.type == null].n', [3]],
    ['l[?!@.x].n', [2, 3]],
    ['l[?@.x && @.x.y == null].n', [1]],
    ['l[?@.n].type', ['a', 'b', null]],
    ['o[*]', [5, [6, 7]]],
    ['o.q[*]', [6, 7]],
    ['o.*', [5, [6, 7]]],
    ['o[*][*]', [6, 7]],
    ['l[0].n', [1]],
    ['o.p', [5]],
    ['e[*]', []],
    ['missing[*].n', []],
    ['o.p[*]', []],
  ])('%s', (path, expected) => {
    const { read, segments } = compiled(path);
    expect(read(JSON.parse(EVENT))).toEqual(expected);
    // The same is read from the selected bytes.
    expect(read(selectJson(Buffer.from(EVENT), selectionOf([segments])))).toEqual(expected);
  });

  it('nothing inside a number that no double holds', () => {
    expect(compiled('n[*]').read(parseLossless('{"n": 12345678901234567890}'))).toEqual([]);
  });
});

it.each([
  ['l..n', 'line 1, column 2: expected names, indexes, [*] and filters'],
  ['l[0:2]', 'line 1, column 2: expected names'],
  ['l[0, 1]', 'expected names'],
  ['l[?match(@.type, "a.*")]', 'expected a filter with'],
  ['l[?@.n > 1]', 'expected a filter with'],
  ['l[?@.n == 1]', 'expected a filter with'],
  ['l[?@.a == @.b]', 'expected a filter with'],
  ['l[?$.a == "b"]', 'expected a filter with'],
  ['l[?@[*] == "b"]', 'expected a'],
  ['l[?@..a]', 'expected a'],
  ['l.a-b', 'expected the name a-b in brackets'],
  ['l[', 'expected a JSON path'],
])('refuses %s', (path, reason) => {
  const result = compileSumPath(path);
  expect(result.ok ? '' : result.message).toContain(reason);
});

describe('sum_paths', () => {
  const SUM = { path: 'n', sum_paths: ['l[*].n', 'm'] };

  it.each<[string, string]>([
    ['{"n": 1, "l": [{"n": 2}, {"n": 0.1}], "m": 3}', '6.1'],
    [
      '{"l": [{"n": 12345678901234567890}, {"n": 0.000000000000000001}]}',
      '12345678901234567890.000000000000000001',
    ],
    ['{"n": null, "l": [{"n": null}, {"n": 5}]}', '5'],
    ['{"n": 4, "l": []}', '4'],
    ['{"m": 0}', '0'],
  ])('are added up, exactly: %s', (rawJson, quantity) => {
    expect(itemsOf(rate(items(SUM), rawJson))).toMatchObject([{ quantity }]);
  });

  it('make no charge item of nothing', () => {
    expect(itemsOf(rate(items(SUM), '{"l": [{"n": null}, {}]}'))).toEqual([]);
  });

  it('are added before anything is subtracted', () => {
    const config = items({ ...SUM, less_paths: ['less'] });
    expect(itemsOf(rate(config, '{"n": 1, "m": 5, "less": 4}'))).toMatchObject([{ quantity: '2' }]);
  });

  it('add up decimals in strings, if that is the type', () => {
    const config = items({ ...SUM, type: 'decimal_string' });
    expect(itemsOf(rate(config, '{"l": [{"n": "0.1"}, {"n": "0.2"}]}'))).toMatchObject([{ quantity: '0.3' }]);
  });

  const many = (count: number) => JSON.stringify({ l: Array.from({ length: count }, () => ({ n: 1 })) });

  it.each([
    ['text', '{"l": [{"n": 1}, {"n": "2"}]}', 'quantity_type_mismatch', 'sum_paths[0]'],
    ['a negative one', '{"n": 5, "m": -1}', 'quantity_negative', 'sum_paths[1]'],
    ['too many entries', many(SUM_NODES_MAX + 1), 'quantity_list_too_long', 'sum_paths[0]'],
    ['too many digits', '{"n": 1e350, "m": 1e-350}', 'decimal_out_of_range', 'sum_paths'],
  ])('fail the event: %s', (_, rawJson, code, place) => {
    expect(failureOf(rate(items(SUM), rawJson))).toEqual([code, `charge_item_extractors[0].${place}`]);
  });

  it('take as many entries as the bound says', () => {
    expect(itemsOf(rate(items(SUM), many(SUM_NODES_MAX)))).toMatchObject([
      { quantity: String(SUM_NODES_MAX) },
    ]);
  });

  it('need no further path', () => {
    const alone = {
      charge_item_extractors: [{ metric: 'm', type: 'number' as const, sum_paths: ['l[*].n'] }],
    };
    expect(itemsOf(rate(alone, '{"l": [{"n": 2}, {"n": 0.5}]}'))).toMatchObject([{ quantity: '2.5' }]);
    expect(itemsOf(rate(alone, '{"l": []}'))).toEqual([]);
    expect(
      failureOf(rate(alone, '{"l": [{"n": 99999999999999999999}, {"n": 99999999999999999999}]}')),
    ).toEqual(['decimal_out_of_range', 'charge_item_extractors[0].sum_paths']);
  });

  it.each([{}, { sum_paths: [] }])('without them a path is needed: %j', (nothing) => {
    const config = { charge_item_extractors: [{ metric: 'm', type: 'number' as const, ...nothing }] };
    expect(compileExtractor(config)).toMatchObject({
      issues: [{ path: 'charge_item_extractors[0].path', message: 'expected a path, or sum_paths' }],
    });
  });

  it('are checked when they are saved, and bounded for a rule set', () => {
    const issuesOf = (...changes: Parameters<typeof items>) => {
      const result = compileExtractor(items(...changes));
      return result.ok ? [] : result.issues.map(({ path }) => path);
    };
    expect(issuesOf({ sum_paths: ['a[*]', 'a..b'] })).toEqual(['charge_item_extractors[0].sum_paths[1]']);
    expect(issuesOf({ path: 'a[*]' })).toEqual(['charge_item_extractors[0].path']);
    const full = Array.from({ length: 13 }, (_, index) => ({
      metric: `m${index}`,
      sum_paths: Array.from({ length: index === 12 ? 4 : 8 }, () => 'a[*]'),
    }));
    expect(RULE_SET_SUM_PATHS_MAX).toBe(100);
    expect(issuesOf(...full)).toEqual([]);
    expect(issuesOf(...full, { metric: 'last', sum_paths: ['a'] })).toEqual([
      'charge_item_extractors[13].sum_paths',
    ]);
  });
});

describe('on_negative', () => {
  const notesOf = (mode: 'fail' | 'clamp' | 'keep', rawJson: string) => {
    const rated = rate(items({ path: 'n', less_paths: ['a', 'b'], on_negative: mode }), rawJson);
    return rated.ok
      ? [itemsOf(rated)[0]?.quantity, ...rated.notes.map(({ code }) => code)]
      : failureOf(rated);
  };

  it.each<['fail' | 'clamp' | 'keep', string, unknown[]]>([
    ['fail', '{"n": 5, "a": 6}', ['quantity_negative', 'charge_item_extractors[0].less_paths[0]']],
    ['clamp', '{"n": 5, "a": 6}', ['0', 'quantity_clamped']],
    ['keep', '{"n": 5, "a": 3, "b": 3}', ['5', 'quantity_kept']],
    ['clamp', '{"n": 5, "a": 5}', ['0']],
    ['keep', '{"n": 5, "a": 2}', ['3']],
    ['clamp', '{"n": -5}', ['quantity_negative', 'charge_item_extractors[0].path']],
    ['clamp', '{"n": 5, "a": -1}', ['quantity_negative', 'charge_item_extractors[0].less_paths[0]']],
  ])('%s of %s', (mode, rawJson, outcome) => {
    expect(notesOf(mode, rawJson)).toEqual(outcome);
  });
});

describe('settings about what is subtracted', () => {
  it.each([
    ['on_negative', { on_negative: 'clamp' as const }],
    ['on_negative', { on_negative: 'keep' as const, less_paths: [] }],
    ['stated_total', { stated_total: { path: 'all' } }],
  ])('%s is refused where nothing is subtracted: %j', (field, settings) => {
    expect(compileExtractor(items({ path: 'n', ...settings }))).toMatchObject({
      issues: [
        {
          path: `charge_item_extractors[0].${field}`,
          message: 'needs less_paths: without them, nothing is subtracted',
        },
      ],
    });
  });

  it('may say what is so anyway', () => {
    expect(compileExtractor(items({ path: 'n', on_negative: 'fail' })).ok).toBe(true);
  });
});

describe('notes', () => {
  const config = items(
    { metric: 'plain', path: 'n', less_paths: ['m'] },
    { metric: 'clamped', path: 'n', less_paths: ['a'], on_negative: 'clamp' },
    { metric: 'kept', name: 'Kept', path: 'n', less_paths: ['a'], on_negative: 'keep' },
    { metric: 'beside', path: 'n', less_paths: ['a'], stated_total: { path: 'all' } },
  );
  const rawJson = '{"n": 5, "a": 6, "all": 11}';

  it('say what was not as expected, and where in the rules', () => {
    const rated = rate(config, rawJson);
    expect(rated.ok && rated.notes).toEqual([
      {
        code: 'quantity_clamped',
        metric: 'clamped',
        path: 'charge_item_extractors[1].less_paths',
        message: 'The amounts to subtract exceed the quantity of clamped: it was set to 0.',
      },
      {
        code: 'quantity_kept',
        metric: 'kept',
        path: 'charge_item_extractors[2].less_paths',
        message: 'The amounts to subtract exceed the quantity of Kept: nothing was subtracted.',
      },
      {
        code: 'quantity_parts_beside',
        metric: 'beside',
        path: 'charge_item_extractors[3].stated_total',
        message: 'By all, beside does not include the amounts to subtract: nothing was subtracted.',
      },
    ]);
  });

  it('leave out metrics of which the event has charge items of its own', () => {
    const rated = rate(config, rawJson, { billing: { items: [{ metric: 'kept', quantity: 1 }] } });
    expect(rated.ok && rated.notes.map(({ metric }) => metric)).toEqual(['clamped', 'beside']);
  });
});

describe('stated_total', () => {
  const config = items({
    ...{ path: 'n', less_paths: ['a'], stated_total: { path: 'all', other_paths: ['o'] } },
  });

  it.each([
    ['{"n": 5, "a": 2, "o": 10, "all": 15}', '3'],
    ['{"n": 5, "a": 2, "o": 10, "all": 17}', '5'],
    ['{"n": 5, "a": 9, "all": 14}', '5'],
    ['{"n": 5, "a": 2, "o": 10}', '3'],
  ])('%s', (rawJson, quantity) => {
    expect(itemsOf(rate(config, rawJson))).toMatchObject([{ quantity }]);
  });

  it('fails the event where it is no number', () => {
    expect(failureOf(rate(config, '{"n": 5, "all": "5"}'))).toEqual([
      'quantity_type_mismatch',
      'charge_item_extractors[0].stated_total.path',
    ]);
  });
});

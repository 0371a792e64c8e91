import type { ExtractorConfig } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { compileExtractor } from './index.js';

function issuesOf(config: ExtractorConfig): readonly (readonly [string, string])[] {
  const result = compileExtractor(config);
  return result.ok ? [] : result.issues.map(({ path, message }) => [path, message] as const);
}

type Item = NonNullable<ExtractorConfig['charge_item_extractors']>[number];

const item = (changes: Partial<Item> = {}): Item => ({
  metric: 'llm.tokens',
  path: 'usage.tokens',
  type: 'number',
  ...changes,
});

const items = (...chargeItems: Item[]): ExtractorConfig => ({ charge_item_extractors: chargeItems });

const counted = (period: string): ExtractorConfig =>
  items(item({ cumulative: { counter: 'a', period, per: 'subject' }, total_expr: 'total.quantity' }));

it('the message about the period of a counter names every period that has a name', () => {
  const [[path, message] = []] = issuesOf(counted('fortnight'));
  expect(path).toBe('charge_item_extractors[0].cumulative.period');
  for (const period of ['minute', 'hour', 'day', 'week', 'month', 'year', 'lifetime']) {
    expect(issuesOf(counted(period))).toEqual([]);
    expect(message).toContain(` ${period}, `);
  }
});

describe('accepts', () => {
  it.each<[string, ExtractorConfig]>([
    ['nothing at all', {}],
    ['a subject with empty defaults', { subject: { default_type: '', default_id: '' } }],
    ['a subject ID of 255 characters', { subject: { default_id: '😀'.repeat(255) } }],
    ['a currency without expressions', items(item({ currency: 'CREDITS_2' }))],
    ['one metric twice, under two names', items(item({ name: 'fresh' }), item({ name: 'cached' }))],
    ['a unit price alone', items(item({ unit_price_expr: 'dec("1")' }))],
    ['an amount alone', items(item({ amount_expr: 'item.quantity * dec("2")' }))],
    [
      'a unit price and an amount',
      items(item({ unit_price_expr: 'dec("1")', amount_expr: 'dec_mul(item.quantity, item.unit_price)' })),
    ],
    [
      'dimensions that are named as JavaScript names things',
      {
        dimensions: ['__proto__', 'constructor', 'toString', 'a.b-c_D'].map((name) => ({
          name,
          path: 'x',
          type: 'string' as const,
        })),
      },
    ],
  ])('%s', (_, config) => {
    expect(issuesOf(config)).toEqual([]);
  });
});

describe('refuses', () => {
  it.each<[string, ExtractorConfig, string, string]>([
    ['a path', { subject: { type_path: '$..a' } }, 'subject.type_path', 'may select more than one'],
    ['a path', { subject: { id_path: 'a b' } }, 'subject.id_path', 'column 3'],
    ['a subject type', { subject: { default_type: 'User' } }, 'subject.default_type', '^[a-z]'],
    ['a subject ID', { subject: { default_id: 'x'.repeat(256) } }, 'subject.default_id', 'at most 255'],
    ['a subject ID', { subject: { default_id: 'a\0b' } }, 'subject.default_id', 'without NUL'],
    ['a subject ID', { subject: { default_id: '\ud800' } }, 'subject.default_id', 'lone surrogates'],
    [
      'a dimension name',
      { dimensions: [{ name: '1st', path: 'a', type: 'string' }] },
      'dimensions[0].name',
      'expected text that matches',
    ],
    [
      'a dimension twice',
      {
        dimensions: [
          { name: 'model', path: 'a', type: 'string' },
          { name: 'model', path: 'b', type: 'string' },
        ],
      },
      'dimensions[1].name',
      'already defined by dimensions[0]',
    ],
    [
      'a dimension path',
      { dimensions: [{ name: 'model', path: 'a[*]', type: 'string' }] },
      'dimensions[0].path',
      'may select more than one',
    ],
    [
      'a metric',
      items(item({ metric: 'LLM' })),
      'charge_item_extractors[0].metric',
      'expected text that matches',
    ],
    [
      'a metric',
      items(item({ metric: `a${'b'.repeat(128)}` })),
      'charge_item_extractors[0].metric',
      '{0,127}',
    ],
    ['a currency', items(item({ currency: 'usd' })), 'charge_item_extractors[0].currency', 'such as USD'],
    ['a path', items(item({ path: '$.a-b' })), 'charge_item_extractors[0].path', 'in brackets'],
    [
      'a unit price',
      items(item({ unit_price_expr: 'dec(' })),
      'charge_item_extractors[0].unit_price_expr',
      'line 1, column 5: expected a value',
    ],
    [
      'an amount',
      items(item(), item({ name: 'b', amount_expr: 'item.quantity * occurred_at' })),
      'charge_item_extractors[1].amount_expr',
      'line 1, column 17: no Decimal * int',
    ],
    [
      'a unit price that asks for itself',
      items(item({ unit_price_expr: 'item.unit_price' })),
      'charge_item_extractors[0].unit_price_expr',
      'item.unit_price is not known here',
    ],
    [
      'an amount of a unit price that nothing yields',
      items(item({ amount_expr: 'item.unit_price' })),
      'charge_item_extractors[0].amount_expr',
      'item.unit_price is not known here',
    ],
    [
      'a price of a total that asks for the charge item',
      items(
        item({ cumulative: { counter: 'a', period: 'day', per: 'subject' }, total_expr: 'item.quantity' }),
      ),
      'charge_item_extractors[0].total_expr',
      'unknown variable: item; expected total or dimensions',
    ],
    [
      'a unit price that asks for a total',
      items(item({ unit_price_expr: 'total.quantity' })),
      'charge_item_extractors[0].unit_price_expr',
      'unknown variable: total; only total_expr has it',
    ],
    [
      'a price that no event can be charged',
      items(item({ unit_price_expr: 'dec("1e20")' })),
      'charge_item_extractors[0].unit_price_expr',
      'does not fit 20 integer digits',
    ],
    [
      'one metric twice',
      items(item(), item()),
      'charge_item_extractors[1].name',
      'llm.tokens is already used',
    ],
    [
      'one name twice',
      items(item({ name: 'in' }), item({ name: 'in', metric: 'other' })),
      'charge_item_extractors[1].name',
      'the name in is already used by charge_item_extractors[0]',
    ],
  ])('%s: %#', (_, config, path, message) => {
    const issues = issuesOf(config);
    expect(issues.map(([at]) => at)).toEqual([path]);
    expect(issues[0]?.[1]).toContain(message);
  });

  it('everything that is wrong at once, in order', () => {
    const config: ExtractorConfig = {
      subject: { type_path: '*', default_id: '\0' },
      dimensions: [{ name: '-', path: '', type: 'number' }],
      charge_item_extractors: [item({ metric: '!', path: '..', unit_price_expr: 'true', amount_expr: '!' })],
    };
    expect(issuesOf(config).map(([path]) => path)).toEqual([
      'subject.default_id',
      'subject.type_path',
      'dimensions[0].name',
      'dimensions[0].path',
      'charge_item_extractors[0].metric',
      'charge_item_extractors[0].path',
      'charge_item_extractors[0].unit_price_expr',
      'charge_item_extractors[0].amount_expr',
    ]);
  });
});

import { PageQuery } from '@tollgate/contract';
import { type TSchema, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { DomainError, ERROR_DETAILS_MAX } from '../../kernel/errors.js';
import { validatorCompiler } from './validation.js';

type Outcome = true | { value?: unknown; error?: unknown };

function validate(schema: TSchema, data: unknown, httpPart = 'body'): Outcome {
  const validator = validatorCompiler({ schema, method: 'POST', url: '/', httpPart });
  return validator(data) as Outcome;
}

function detailsOf(outcome: Outcome) {
  const error = outcome === true ? undefined : outcome.error;
  if (error instanceof DomainError) return error.details;
  return expect.unreachable('the request should have been refused');
}

const closed = { additionalProperties: false } as const;
const Item = Type.Object(
  {
    metric: Type.String({ minLength: 1, maxLength: 5 }),
    type: Type.Optional(Type.Union([Type.Literal('number'), Type.Literal('decimal_string')])),
    size: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    measure: Type.Optional(
      Type.Union([
        Type.Unsafe({ type: 'string', enum: ['p50', 'p90'] }),
        Type.String({ pattern: '^unique:', minLength: 8 }),
      ]),
    ),
    'x-unit': Type.Optional(Type.String({ pattern: '^[a-z]+$' })),
    'x-label': Type.Optional(Type.String({ pattern: '\\S' })),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    quantity: Type.Optional(Type.Union([Type.Number(), Type.String({ minLength: 1 })])),
    hints: Type.Optional(Type.Record(Type.String(), Type.Number(), { maxProperties: 2 })),
  },
  closed,
);
const Body = Type.Object(
  { items: Type.Array(Item, { maxItems: 30_000 }), flag: Type.Optional(Type.Boolean()) },
  closed,
);

describe('a body', () => {
  test('that fits is taken as it is', () => {
    const body = { items: [{ metric: 'm', type: 'number', size: 3 }] };
    expect(validate(Body, body)).toBe(true);
    expect(body).toEqual({ items: [{ metric: 'm', type: 'number', size: 3 }] });
  });

  test.each<[string, unknown, string, string]>([
    [
      'an unknown field',
      { items: [], extra: 1 },
      'extra',
      'unknown field; known ones that are not used: flag',
    ],
    ['an unknown field, and all others', { items: [], flag: true, extra: 1 }, 'extra', 'unknown field'],
    ['a misspelled field', { items: [], Flags: true }, 'Flags', 'unknown field (did you mean flag?)'],
    [
      'a misspelled nested field',
      { items: [{ metric: 'm', siez: 1 }] },
      'items[0].siez',
      'unknown field (did you mean size?)',
    ],
    [
      '__proto__',
      JSON.parse('{"items":[],"__proto__":1}'),
      '__proto__',
      'unknown field; known ones that are not used: flag',
    ],
    ['a strange name', { items: [], flag: true, 'a.b[0]': 1 }, '["a.b[0]"]', 'unknown field'],
    ['a missing field', { items: [{ metric: 'm' }, {}] }, 'items[1].metric', 'is required'],
    ['a wrong type', { items: {} }, 'items', 'expected an array'],
    ['a number as text', { items: [{ metric: 'm', count: '1' }] }, 'items[0].count', 'expected an integer'],
    ['a boolean as text', { items: [], flag: 'true' }, 'flag', 'expected a boolean'],
    ['a fraction', { items: [{ metric: 'm', count: 1.5 }] }, 'items[0].count', 'expected an integer'],
    ['too little', { items: [{ metric: 'm', count: 0 }] }, 'items[0].count', 'expected at least 1'],
    ['too much', { items: [{ metric: 'm', count: 10 }] }, 'items[0].count', 'expected at most 9'],
    [
      'more than any number',
      { items: [{ metric: 'm', count: Number.POSITIVE_INFINITY }] },
      'items[0].count',
      'the number is too large',
    ],
    ['too short', { items: [{ metric: '' }] }, 'items[0].metric', 'expected at least 1 character'],
    ['too long', { items: [{ metric: 'abcdef' }] }, 'items[0].metric', 'expected at most 5 characters'],
    [
      'a choice',
      { items: [{ metric: 'm', type: 'x' }] },
      'items[0].type',
      'expected one of number, decimal_string',
    ],
    [
      'a choice of types',
      { items: [{ metric: 'm', size: true }] },
      'items[0].size',
      'expected a string or an integer',
    ],
    [
      'a choice and no fitting type',
      { items: [{ metric: 'm', quantity: null }] },
      'items[0].quantity',
      'expected a number or a string',
    ],
    [
      'the right type of a choice',
      { items: [{ metric: 'm', quantity: '' }] },
      'items[0].quantity',
      'expected at least 1 character',
    ],
    [
      'a choice and more than any number',
      { items: [{ metric: 'm', quantity: Number.POSITIVE_INFINITY }] },
      'items[0].quantity',
      'the number is too large',
    ],
    [
      'neither a listed text nor one of a form',
      { items: [{ metric: 'm', measure: 'p42' }] },
      'items[0].measure',
      'expected one of p50, p90, or text that matches ^unique:',
    ],
    [
      'a number for a listed text or one of a form',
      { items: [{ metric: 'm', measure: 42 }] },
      'items[0].measure',
      'expected one of p50, p90, or text that matches ^unique:',
    ],
    [
      'text of a form that is too short',
      { items: [{ metric: 'm', measure: 'unique:' }] },
      'items[0].measure',
      'expected at least 8 characters',
    ],
    [
      'too many entries of a map',
      { items: [{ metric: 'm', hints: { a: 1, b: 2, c: 3 } }] },
      'items[0].hints',
      'expected at most 2 entries',
    ],
    [
      'a pattern',
      { items: [{ metric: 'm', 'x-unit': 'A' }] },
      'items[0].x-unit',
      'expected text that matches ^[a-z]+$',
    ],
    [
      'blank text',
      { items: [{ metric: 'm', 'x-label': ' ' }] },
      'items[0].x-label',
      'expected text that is not blank',
    ],
    ['null for nothing', { items: null }, 'items', 'expected an array'],
  ])('with %s is refused at its place', (_what, body, path, message) => {
    expect(detailsOf(validate(Body, body))).toEqual([{ path, message }]);
  });

  test('with many mistakes hears of all, up to a bound', () => {
    const items = Array.from({ length: 3 }, () => ({ metric: 1 }));
    expect(detailsOf(validate(Body, { items, more: 1 }))?.length).toBe(4);
    const many = Array.from({ length: 5_000 }, () => ({}));
    expect(detailsOf(validate(Body, { items: many }))?.length).toBe(ERROR_DETAILS_MAX);
  });

  test('that is huge hears of the first mistake only', () => {
    const items = Array.from({ length: 30_000 }, () => ({}));
    expect(detailsOf(validate(Body, { items }))).toEqual([
      { path: 'items[0].metric', message: 'is required' },
    ]);
  });

  test('a long name is not repeated whole', () => {
    const [detail] = detailsOf(validate(Body, { items: [], ['x'.repeat(10_000)]: 1 })) ?? [];
    expect(detail?.path.length).toBeLessThan(100);
  });
});

describe('a query string', () => {
  const Query = Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      share: Type.Optional(Type.Number()),
      archived: Type.Optional(Type.Boolean()),
      search: Type.Optional(Type.String()),
      status: Type.Optional(Type.Array(Type.String())),
    },
    closed,
  );

  test('is read by its schema', () => {
    const query = { limit: '5', share: '-0.25', archived: 'false', search: '7', status: 'a' };
    expect(validate(Query, query, 'querystring')).toEqual({
      value: { limit: 5, share: -0.25, archived: false, search: '7', status: ['a'] },
    });
  });

  test('gets its defaults', () => {
    expect(validate(PageQuery, {}, 'querystring')).toEqual({ value: { limit: 20, offset: 0 } });
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{ limit: '0x10' }, 'limit', 'expected an integer'],
    [{ limit: '1e2' }, 'limit', 'expected an integer'],
    [{ limit: ' 5' }, 'limit', 'expected an integer'],
    [{ limit: '' }, 'limit', 'expected an integer'],
    [{ limit: '007' }, 'limit', 'expected an integer'],
    [{ limit: '99999999999999999999' }, 'limit', 'expected an integer'],
    [{ limit: ['1', '2'] }, 'limit', 'expected an integer'],
    [{ share: 'Infinity' }, 'share', 'expected a number'],
    [{ archived: '1' }, 'archived', 'expected a boolean'],
    [{ archived: 'TRUE' }, 'archived', 'expected a boolean'],
    [{ limits: '1' }, 'limits', 'unknown field (did you mean limit?)'],
    [
      JSON.parse('{"__proto__":"1"}'),
      '__proto__',
      'unknown field; known ones that are not used: limit, share, archived, search, status',
    ],
    [{ search: 'a\0b' }, 'search', 'text must not contain NUL'],
  ])('%j is refused', (query, path, message) => {
    expect(detailsOf(validate(Query, query, 'querystring'))).toEqual([{ path, message }]);
  });
});

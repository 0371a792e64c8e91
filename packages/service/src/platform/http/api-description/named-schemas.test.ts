import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { NamedSchemas } from './named-schemas.js';

const Money = Type.Object({ amount: Type.String() }, { additionalProperties: false, description: 'Money.' });
const KindSchema = Type.Union([Type.Literal('a'), Type.Literal('b')], { description: 'A kind.' });
const types = { Money, KindSchema };

describe('a schema that has a name', () => {
  test('is referred to, also as a copy, and stands once among the components', () => {
    const schemas = new NamedSchemas(types);
    const copy = JSON.parse(JSON.stringify(Money)) as object;
    const $ref = '#/components/schemas/Money';
    expect(
      schemas.write(Type.Object({ a: Money, b: Type.Optional(Money), c: Type.Array(Type.Unsafe(copy)) })),
    ).toEqual({
      type: 'object',
      properties: { a: { $ref }, b: { $ref }, c: { type: 'array', items: { $ref } } },
      required: ['a', 'c'],
    });
    expect(Object.keys(schemas.components)).toEqual(['Money']);
  });

  test('keeps what a field says of it', () => {
    const written = new NamedSchemas(types).write({ ...Money, description: 'The price.' });
    expect(written).toEqual({ $ref: '#/components/schemas/Money', description: 'The price.' });
  });

  test('can be null', () => {
    const written = new NamedSchemas(types).write(Type.Union([KindSchema, Type.Null()]));
    expect(written).toEqual({ anyOf: [{ $ref: '#/components/schemas/Kind' }, { type: 'null' }] });
  });

  test('differs from one of other fields, or of fields that are described otherwise', () => {
    const schemas = new NamedSchemas(types);
    const other = Type.Object(
      { amount: Type.String({ description: 'Of us.' }) },
      { additionalProperties: false },
    );
    expect(schemas.write(other)).not.toHaveProperty('$ref');
  });

  test('has one name only', () => {
    expect(() => new NamedSchemas({ ...types, Price: { ...Money } })).toThrow(
      'Price and Money are the same schema',
    );
  });
});

describe('in the words of client generators', () => {
  const write = (schema: object) => new NamedSchemas({}).write(schema);

  test('a choice of texts is an enumeration, a single one too', () => {
    expect(write(KindSchema)).toEqual({ type: 'string', enum: ['a', 'b'], description: 'A kind.' });
    expect(write(Type.Literal('a'))).toEqual({ type: 'string', enum: ['a'] });
    expect(write(Type.Enum(['a', 'b']))).toEqual({ type: 'string', enum: ['a', 'b'] });
  });

  test('an integer says how wide it is', () => {
    expect(write(Type.Integer({ maximum: 2_147_483_647 }))).toMatchObject({ format: 'int32' });
    expect(write(Type.Integer({ maximum: 2_147_483_648 }))).toMatchObject({ format: 'int64' });
    expect(write(Type.Integer())).toMatchObject({ format: 'int64' });
  });

  test('null is one of the types, and of the values', () => {
    expect(write(Type.Union([Type.String({ description: 'A name.' }), Type.Null()]))).toEqual({
      type: ['string', 'null'],
      description: 'A name.',
    });
    expect(write(Type.Union([KindSchema, Type.Null()]))).toMatchObject({ enum: ['a', 'b', null] });
    expect(write(Type.Union([Type.Array(Type.String()), Type.Null()]))).toEqual({
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
    });
  });

  test('a default is named in the description', () => {
    const written = write(Type.Integer({ default: 20, description: 'Page size.' }));
    expect(written).toEqual({ type: 'integer', format: 'int64', description: 'Page size. Default: `20`.' });
  });
});

import fc from 'fast-check';

/** The part of JSON Schema that our OpenAPI document uses. */
export interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  required?: string[];
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}

/** Strings that have broken services before. */
const HOSTILE_STRINGS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '__proto__',
  'constructor',
  'null',
  '-1',
  '1e999',
  '0x10',
  '$.a-b',
  '$..*',
  "'; drop table tenants; --",
  '../../etc/passwd',
  '<script>alert(1)</script>',
  'a'.repeat(300),
  '\u202e\u0301👩‍👩‍👧',
];

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 1e308, -1e308, 2 ** 53, [], {}, [[]], { a: {} }),
  fc.constantFrom(...HOSTILE_STRINGS),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Values that mostly fit the schema, at every depth sometimes replaced by something that does not. */
export function nearlyValid(schema: JsonSchema, hostility = 0.08): fc.Arbitrary<unknown> {
  const fitting = fits(schema, hostility);
  const hostileWeight = Math.max(1, Math.round(hostility * 100));
  return fc.oneof(
    { weight: 100 - hostileWeight, arbitrary: fitting },
    { weight: hostileWeight, arbitrary: hostileValue },
  );
}

function fits(schema: JsonSchema, hostility: number): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return fc.oneof(...variants.map((variant) => nearlyValid(variant, hostility)));
  if (schema.allOf) return fc.tuple(...schema.allOf.map((part) => fits(part, hostility))).map(mergeObjects);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'string':
      return text(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -2_000_000_000, max: schema.maximum ?? 2_000_000_000 });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(nearlyValid(schema.items ?? {}, hostility), {
        minLength: schema.minItems ?? 0,
        maxLength: 4,
      });
    case 'object':
      return object(schema, hostility);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function mergeObjects(parts: readonly unknown[]): unknown {
  return Object.assign({}, ...parts.filter((part) => typeof part === 'object'));
}

function text(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern), { size: 'small' });
  const length = {
    minLength: Math.min(schema.minLength ?? 0, 50),
    maxLength: Math.min(schema.maxLength ?? 20, 50),
  };
  return fc.oneof(
    fc.string(length),
    fc.string({ ...length, unit: 'grapheme' }),
    fc.constantFrom(...HOSTILE_STRINGS),
  );
}

function object(schema: JsonSchema, hostility: number): fc.Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0)
    return fc.dictionary(fc.string({ maxLength: 12 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
  const required = schema.required ?? [];
  const record = fc.record(
    Object.fromEntries(properties.map(([name, part]) => [name, nearlyValid(part, hostility)])),
    {
      requiredKeys: required.filter((name) => name in (schema.properties ?? {})),
    },
  );
  const withSurprise = fc
    .tuple(record, fc.string({ maxLength: 12 }), hostileValue)
    .map(([base, key, value]) => ({ ...(base as object), [key]: value }));
  return fc.oneof({ weight: 12, arbitrary: record }, { weight: 1, arbitrary: withSurprise });
}

/** The example with, mostly, one place of it replaced, removed or added to; sometimes the example itself. */
export function mutated(example: unknown): fc.Arbitrary<unknown> {
  return fc
    .record({
      at: fc.nat(),
      value: hostileValue,
      change: fc.constantFrom('none', 'replace', 'remove', 'add'),
    })
    .map(({ at, value, change }) => {
      const copy = structuredClone({ root: example });
      const places = containersOf(copy);
      const [container, key] = places[at % places.length] as Place;
      if (change === 'replace') container[key] = value;
      if (change === 'remove') delete container[key];
      if (change === 'add') container[`${key}_surprise`] = value;
      return copy.root;
    });
}

type Place = [container: Record<string, unknown>, key: string];

/** Every key of every object and array below the value. */
function containersOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const container = value as Record<string, unknown>;
  return Object.keys(container).flatMap((key) => [
    [container, key] as Place,
    ...containersOf(container[key]),
  ]);
}

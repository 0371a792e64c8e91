/** A JSON Schema, limited to the keywords that the contract uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly maximum?: number;
}

/** Returns the schema with each of its direct subschemas replaced. */
export function mapInside(schema: JsonSchema, replace: (inside: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, patternProperties, additionalProperties, items, anyOf } = schema;
  const inEach = (parts: NonNullable<JsonSchema['properties']>) =>
    Object.fromEntries(Object.entries(parts).map(([name, one]) => [name, replace(one)]));
  return {
    ...schema,
    ...(properties && { properties: inEach(properties) }),
    ...(patternProperties && { patternProperties: inEach(patternProperties) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: replace(additionalProperties) }),
    ...(items && { items: replace(items) }),
    ...(anyOf && { anyOf: anyOf.map(replace) }),
  };
}

const INT32_MAX = 2_147_483_647;

/**
 * Returns the same schema in the keywords that client generators know. A choice of texts, or a single text, becomes an
 * `enum`. An integer gets a width, because many generators assume 32 bits without one. A default is mentioned in the
 * description only, because some generators turn a request field with a default into a required one.
 */
export function simplifySchema(schema: JsonSchema): JsonSchema {
  return withTypeOfChoice(withWidth(withDefaultInDescription(withoutEmptyParts(schema))));
}

function withoutEmptyParts(schema: JsonSchema): JsonSchema {
  const { properties, ...rest } = schema;
  return properties !== undefined && Object.keys(properties).length === 0 ? rest : schema;
}

function withDefaultInDescription(schema: JsonSchema): JsonSchema {
  if (schema.default === undefined) return schema;
  const { default: value, description, ...rest } = schema;
  const sentence = `Default: \`${value}\`.`;
  return { ...rest, description: description === undefined ? sentence : `${description} ${sentence}` };
}

function withWidth(schema: JsonSchema): JsonSchema {
  if (schema.type !== 'integer' || schema.enum !== undefined) return schema;
  const { maximum = Number.POSITIVE_INFINITY } = schema;
  return { ...schema, format: maximum <= INT32_MAX ? 'int32' : 'int64' };
}

function withTypeOfChoice(schema: JsonSchema): JsonSchema {
  const { anyOf, const: only, ...rest } = schema;
  if (only !== undefined) return { ...rest, enum: [only] };
  if (anyOf?.every(isPlainTextChoice)) {
    return { ...rest, type: 'string', enum: anyOf.flatMap((one) => one.enum ?? []) };
  }
  const isTextChoice = rest.type === undefined && rest.enum?.every((value) => typeof value === 'string');
  return isTextChoice === true ? { type: 'string', ...rest } : schema;
}

function isPlainTextChoice(schema: JsonSchema): boolean {
  return schema.type === 'string' && schema.enum !== undefined && Object.keys(schema).length === 2;
}

const NULL = 'null';

/** Returns the type of a value that may be null; undefined if it cannot be null, or has several other types. */
export function nonNullType({ anyOf }: JsonSchema): JsonSchema | undefined {
  if (anyOf?.length !== 2 || anyOf[1]?.type !== NULL) return undefined;
  return anyOf[0];
}

/**
 * Returns a schema for a value of this schema, or null. A simple schema gets two types. A named schema gets a choice,
 * and so does a list, because the page at `/docs` does not show the entries of a list that has two types.
 */
export function orNull(schema: JsonSchema, description: string | undefined): JsonSchema {
  const { description: own, ...rest } = schema;
  const { type } = rest;
  const nullable: JsonSchema =
    rest.$ref === undefined && typeof type === 'string' && rest.items === undefined
      ? { ...rest, type: [type, NULL], ...(rest.enum && { enum: [...rest.enum, null] }) }
      : { anyOf: [rest, { type: NULL }] };
  const said = description ?? own;
  return said === undefined ? nullable : { ...nullable, description: said };
}

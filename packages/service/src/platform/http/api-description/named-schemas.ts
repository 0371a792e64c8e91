import { compareText } from '../../../kernel/compare-text.js';
import { type JsonSchema, mapInside, nonNullType, orNull, simplifySchema } from './schema.js';

const COMPONENTS = '#/components/schemas/';

/**
 * Writes schemas for the API description: a schema with a name is written once, and referred to everywhere else.
 * Schemas are compared by structure and not by identity, because TypeBox and spreading copy them. Descriptions are not
 * compared, so that a field can describe its own use of a type.
 */
export class NamedSchemas {
  readonly #plain = new WeakMap<object, JsonSchema>();
  readonly #structures = new WeakMap<object, string>();
  readonly #shortened = new Map<string, string>();
  readonly #named = new Map<string, { readonly name: string; readonly schema: JsonSchema }>();
  readonly #used = new Map<string, JsonSchema>();

  /**
   * @param types values that may have a name, by the name of their export; values that are not schemas, or are too
   * simple for a name, are ignored
   * @throws Error when two names have one structure
   */
  constructor(types: Readonly<Record<string, unknown>>) {
    for (const [exported, type] of Object.entries(types)) {
      if (typeof type !== 'object' || type === null || !deservesName(type)) continue;
      const name = exported.replace(/Schema$/, '');
      const schema = this.#plainOf(type);
      const structure = this.#structureOf(schema);
      const other = this.#named.get(structure);
      if (other !== undefined)
        throw new Error(`${name} and ${other.name} are the same schema: keep one name.`);
      this.#named.set(structure, { name, schema });
    }
  }

  /** Returns the schemas that were referred to, by name. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => compareText(a, b)));
  }

  /** Returns the name of a written schema that is a reference. */
  static nameOf({ $ref }: JsonSchema): string | undefined {
    return $ref?.slice(COMPONENTS.length);
  }

  /** Writes a schema. */
  write(schema: object): JsonSchema {
    return this.#write(this.#plainOf(schema));
  }

  #write(plain: JsonSchema): JsonSchema {
    const named = this.#named.get(this.#structureOf(plain));
    if (named !== undefined) return this.#refer(named, plain.description);
    const value = nonNullType(plain);
    if (value !== undefined) return orNull(this.#write(value), plain.description);
    return mapInside(plain, (inside) => this.#write(inside));
  }

  #refer(named: { name: string; schema: JsonSchema }, description: string | undefined): JsonSchema {
    const { name, schema } = named;
    if (!this.#used.has(name)) {
      this.#used.set(name, {});
      this.#used.set(
        name,
        mapInside(schema, (inside) => this.#write(inside)),
      );
    }
    const $ref = COMPONENTS + name;
    return description === undefined || description === schema.description ? { $ref } : { $ref, description };
  }

  #plainOf(schema: object): JsonSchema {
    let plain = this.#plain.get(schema);
    if (plain === undefined) {
      plain = simplifySchema(mapInside(schema, (inside) => this.#plainOf(inside)));
      this.#plain.set(schema, plain);
    }
    return plain;
  }

  /**
   * Returns the same short text for schemas of the same structure. It is short because the texts of nested schemas
   * would grow with each level.
   */
  #structureOf(plain: JsonSchema): string {
    let structure = this.#structures.get(plain);
    if (structure === undefined) {
      const { description: _description, ...rest } = mapInside(plain, (inside) => ({
        $ref: this.#structureOf(inside),
        ...(inside.description !== undefined && { description: inside.description }),
      }));
      const text = JSON.stringify(Object.entries(rest).sort(([a], [b]) => compareText(a, b)));
      structure = this.#shortened.get(text) ?? String(this.#shortened.size);
      this.#shortened.set(text, structure);
      this.#structures.set(plain, structure);
    }
    return structure;
  }
}

/** Whether a schema gets a name: objects, maps and choices do; texts and numbers are written in place. */
function deservesName(schema: JsonSchema): boolean {
  if (nonNullType(schema) !== undefined) return false;
  const { properties, additionalProperties, anyOf } = schema;
  return (
    properties !== undefined ||
    typeof additionalProperties === 'object' ||
    anyOf !== undefined ||
    (schema.enum?.length ?? 0) > 1
  );
}

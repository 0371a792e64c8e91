import { type JsonSchema, mapInside, nonNullType, orNull, simplifySchema } from './schema.js';

const COMPONENTS = '#/components/schemas/';

/**
 * Writes schemas for the API description: one that has a name stands there once and is referred to everywhere
 * else. A schema is known by its structure and not by its identity, because TypeBox and spreading copy
 * schemas; its description does not count, so that a field can say what it means by a type.
 */
export class NamedSchemas {
  readonly #plain = new WeakMap<object, JsonSchema>();
  readonly #structures = new WeakMap<object, string>();
  readonly #shortened = new Map<string, string>();
  readonly #named = new Map<string, { readonly name: string; readonly schema: JsonSchema }>();
  readonly #used = new Map<string, JsonSchema>();

  /**
   * @param types what may have a name, by the name of its export; what is no schema, or too simple for a
   *   name, is passed over
   * @throws Error when two names stand for one structure
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

  /** The schemas that were referred to, by name. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The name of a written schema that is a reference. */
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
   * The same text for schemas of the same structure, and a short one, or those of large schemas would be
   * longer at each level.
   */
  #structureOf(plain: JsonSchema): string {
    let structure = this.#structures.get(plain);
    if (structure === undefined) {
      const { description: _description, ...rest } = mapInside(plain, (inside) => ({
        $ref: this.#structureOf(inside),
        ...(inside.description !== undefined && { description: inside.description }),
      }));
      const text = JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
      structure = this.#shortened.get(text) ?? String(this.#shortened.size);
      this.#shortened.set(text, structure);
      this.#structures.set(plain, structure);
    }
    return structure;
  }
}

/** Objects, maps and choices; a text or a number is as well said in place. */
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

import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../config.js';
import { generateApiKey } from '../kernel/api-key-text.js';
import { Readiness } from '../platform/http/index.js';
import { createLog } from '../platform/log/index.js';
import { createMetrics } from '../platform/metrics/index.js';
import { createTestPostgres, type TestPostgres } from '../testing/index.js';
import { type Api, createApi } from './api.js';
import { ALONE } from './cell.js';
import type { Stores } from './stores.js';

interface Media {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>> & {
    readonly responses: Readonly<Record<string, Response>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

let store: TestPostgres;
let api: Api;
let document: Document;
let operations: readonly Operation[];

beforeAll(async () => {
  store = await createTestPostgres();
  api = await createApi({
    config: readConfig({ TOLLGATE_PUBLIC_URL: 'https://usage.example/tollgate' }),
    stores: { postgres: store.postgres } as Stores,
    serviceKey: generateApiKey('live'),
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    readiness: new Readiness(),
    tracing: undefined,
    accepting: undefined,
    connectionsMax: 100,
    pipeline: { notify: () => {} },
    cell: ALONE,
  });
  document = (await api.app.inject('/openapi.json')).json();
  operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
});
afterAll(async () => {
  await api.app.close();
  await api.close();
  await store.drop();
});

/** Yields every object inside the value, including the value, with its JSON pointer. */
function* objectsIn(value: unknown, pointer = ''): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [pointer, value as Record<string, unknown>];
  for (const [key, inside] of Object.entries(value)) yield* objectsIn(inside, `${pointer}/${key}`);
}

/** Schemas of objects, maps, choices and enumerations that are written in place, and have no name. */
function inlineSchemas(): (readonly [pointer: string, text: string])[] {
  const { examples: _examples, ...components } = document.components;
  return [...objectsIn({ paths: document.paths, components })]
    .filter(
      ([pointer]) => !/^\/components\/schemas\/[^/]+$/.test(pointer) && !pointer.endsWith('/properties'),
    )
    .filter(([, { properties, additionalProperties, anyOf, enum: values }]) => {
      const isMap = typeof additionalProperties === 'object' && additionalProperties !== null;
      return properties !== undefined || isMap || Array.isArray(anyOf) || Array.isArray(values);
    })
    .filter(([, { anyOf }]) => !isNullable(anyOf))
    .map(([pointer, { description: _description, ...schema }]) => [pointer, JSON.stringify(schema)]);
}

function isNullable(anyOf: unknown): boolean {
  return Array.isArray(anyOf) && anyOf.length === 2 && anyOf[1].type === 'null';
}

/** Largest schema that is written in place if it occurs once. */
const INLINE_CHARS_MAX = 150;
/** Largest schema that may be written in place twice. */
const REPEATED_CHARS_MAX = 60;

describe('schemas', () => {
  test('that are larger or used twice have a name', () => {
    const large = inlineSchemas().filter(([, text]) => text.length > INLINE_CHARS_MAX);
    expect(large).toEqual([]);
    const places = new Map<string, string[]>();
    for (const [pointer, text] of inlineSchemas()) places.set(text, [...(places.get(text) ?? []), pointer]);
    const repeated = [...places].filter(([text, at]) => text.length > REPEATED_CHARS_MAX && at.length > 1);
    expect(repeated).toEqual([]);
  });

  test('that have a name say what they are, and the name is that of a type', () => {
    for (const [name, schema] of Object.entries(document.components.schemas ?? {})) {
      expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
      expect([name, schema]).toEqual([name, expect.objectContaining({ description: expect.any(String) })]);
    }
  });

  test('of integers say how wide they are', () => {
    for (const [pointer, schema] of objectsIn(document)) {
      if (![schema.type].flat().includes('integer') || schema.enum !== undefined) continue;
      expect([pointer, schema.format]).toEqual([pointer, expect.stringMatching(/^int(32|64)$/)]);
    }
  });
});

describe('the document', () => {
  test('names the configured server', () => {
    expect(document.servers).toEqual([{ url: 'https://usage.example/tollgate' }]);
  });

  test('refers to nothing that is absent, and holds nothing that is not referred to', () => {
    const found = [...objectsIn(document)].flatMap(([, { $ref }]) =>
      typeof $ref === 'string' ? [$ref] : [],
    );
    const { securitySchemes: _securitySchemes, ...referable } = document.components;
    const held = Object.entries(referable).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...new Set(found)].sort()).toEqual(held.sort());
  });

  test('is no longer than two thirds of what it is with each schema in its place', () => {
    const { schemas = {}, ...components } = document.components;
    const inPlace = JSON.stringify({ ...document, components }, (_key, value) => {
      const name =
        typeof value?.$ref === 'string' ? /^#\/components\/schemas\/(.*)$/.exec(value.$ref)?.[1] : undefined;
      return name === undefined ? value : schemas[name];
    });
    expect(JSON.stringify(document).length).toBeLessThan((inPlace.length * 2) / 3);
  });
});

describe('operations', () => {
  test('have an id of their own, a summary, a section, and describe every parameter', () => {
    const sections = document.tags.map(({ name }) => name);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { operationId, summary, description, tags, security, parameters = [] } of operations) {
      expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect([operationId, summary, description, security]).not.toContain(undefined);
      expect([operationId, sections.includes(tags[0] ?? '')]).toEqual([operationId, true]);
      for (const { name, description } of parameters)
        expect([operationId, name, description]).toEqual([operationId, name, expect.stringMatching(/.{8}/)]);
    }
  });

  test('describe every response, and share those of errors', () => {
    for (const { operationId, responses } of operations) {
      for (const [status, { $ref, description }] of Object.entries(responses)) {
        if (operationId === 'getReadiness' && status === '503') continue;
        if (Number(status) >= 400) expect([operationId, status, $ref]).not.toContain(undefined);
        else
          expect([operationId, status, description]).toEqual([
            operationId,
            status,
            expect.stringMatching(/.{10}/),
          ]);
      }
    }
    const empty = operations.flatMap(({ responses }) =>
      Object.values(responses).filter(({ description }) =>
        /^(Default Response|Success|OK)\b/.test(description ?? ''),
      ),
    );
    expect(empty).toEqual([]);
  });
});

describe('examples', () => {
  /** Bodies of a store or of another party, which the service does not describe. */
  const WITHOUT_EXAMPLE = ['receivePaymentEvent'];

  test('stand at every request body', () => {
    const without = operations.filter(({ requestBody }) => {
      const media = requestBody?.content['application/json'];
      return requestBody !== undefined && media?.examples === undefined;
    });
    expect(without.map(({ operationId }) => operationId)).toEqual(WITHOUT_EXAMPLE);
  });

  test('stand at most answers', () => {
    const answers = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) => content?.['application/json'] ?? []),
    );
    expect(answers.filter(({ examples }) => examples !== undefined).length).toBeGreaterThan(
      answers.length * 0.8,
    );
  });

  test('fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    ajv.addSchema({ $id: 'api', components: document.components });
    const medias = [...objectsIn({ paths: document.paths, components: document.components })]
      .map(([, value]) => value as unknown as Media)
      .filter(
        ({ schema, example, examples }) => schema?.$ref !== undefined && (example ?? examples) !== undefined,
      );
    expect(medias.length).toBeGreaterThan(100);
    for (const { schema, example, examples } of medias) {
      const validate = ajv.compile({ $ref: `api${schema.$ref}` });
      const names = Object.keys(examples ?? {});
      for (const value of example === undefined
        ? names.map((name) => document.components.examples[name]?.value)
        : [example]) {
        validate(value);
        expect([schema.$ref, validate.errors]).toEqual([schema.$ref, null]);
      }
    }
  });
});

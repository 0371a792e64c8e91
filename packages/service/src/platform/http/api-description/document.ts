import { ErrorBodySchema } from '@tollgate/contract';
import type { RouteOptions } from 'fastify';
import type { Documented, MediaResponse } from '../route-schema.js';
import { ErrorResponses } from './error-responses.js';
import { NamedSchemas } from './named-schemas.js';
import { type JsonSchema, nonNullType } from './schema.js';

/** The input of an API description. */
export interface DescriptionParts {
  /** Version of the product. */
  readonly version: string;
  /** The URL of the service for clients; a path is relative to the URL of the description. */
  readonly serverUrl: string;
  readonly introduction: string;
  /** Sections in the order in which they are shown, each with its description. */
  readonly sections: readonly (readonly [name: string, description: string])[];
  readonly routes: readonly RouteOptions[];
  /** Schemas that may have a name, by their names. */
  readonly types: Readonly<Record<string, unknown>>;
  /**
   * Values of named schemas: each is shown wherever a body has that schema. `<name>.<field>` is another example of the
   * schema, which shows the field.
   */
  readonly examples: Readonly<Record<string, unknown>>;
}

/** Describes all routes, except hidden ones, as OpenAPI 3.1. */
export function describeApi(parts: DescriptionParts): object {
  const writer = new OperationWriter(parts);
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, url, schema } of parts.routes) {
    const documented = schema as Documented | undefined;
    if (method === 'HEAD' || documented === undefined || documented.hide === true) continue;
    const path = url.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [String(method).toLowerCase()]: writer.operation(documented) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: parts.version,
      description: parts.introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: parts.serverUrl }],
    tags: parts.sections.map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    components: writer.components,
  };
}

const JSON_MEDIA = 'application/json';

class OperationWriter {
  readonly #schemas: NamedSchemas;
  readonly #errors: ErrorResponses;
  readonly #examples: DescriptionParts['examples'];
  readonly #usedExamples = new Set<string>();

  constructor({ types, examples }: DescriptionParts) {
    this.#schemas = new NamedSchemas(types);
    this.#errors = new ErrorResponses((schema) => this.#schemas.write(schema));
    this.#examples = examples;
  }

  operation(documented: Documented): object {
    const { operationId, tags, summary, description, security, params, querystring, headers, body } =
      documented;
    const parameters = [
      ...this.#parameters('path', params),
      ...this.#parameters('query', querystring),
      ...this.#parameters('header', headers),
    ];
    return {
      operationId,
      tags,
      summary,
      description,
      security,
      ...(parameters.length > 0 && { parameters }),
      ...(body !== undefined && {
        requestBody: this.#requestBody(body),
      }),
      responses: Object.fromEntries(
        Object.entries(documented.response ?? {}).map(([status, response]) => [
          status,
          this.#response(Number(status), response),
        ]),
      ),
    };
  }

  /** The schemas and examples that operations refer to. */
  get components(): object {
    const examples = [...this.#usedExamples]
      .sort()
      .map((name) => [name, { summary: name.replace('.', ' with '), value: this.#examples[name] }]);
    return {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key of a tenant, or the service key: `Authorization: Bearer <API_KEY>`.',
        },
      },
      schemas: this.#schemas.components,
      ...this.#errors.components,
      examples: Object.fromEntries(examples),
    };
  }

  #parameters(place: 'path' | 'query' | 'header', schema: JsonSchema | undefined): object[] {
    return Object.entries(schema?.properties ?? {}).map(([name, part]) => {
      const { description = part.description, ...written } = this.#schemas.write(part);
      const required = place === 'path' || schema?.required?.includes(name) === true;
      return { name, in: place, description, required, schema: written };
    });
  }

  #response(status: number, response: JsonSchema | MediaResponse): object {
    if (response === ErrorBodySchema) return this.#errors.refer(status);
    if ('content' in response) {
      const content = Object.entries(response.content).map(([type, { schema }]) => [
        type,
        this.#media(schema),
      ]);
      return { description: response.description, content: Object.fromEntries(content) };
    }
    const { description, type } = response;
    if (type === 'null') return { description };
    return { description, content: { [JSON_MEDIA]: this.#media(response) } };
  }

  /** A body that may be null may also be left out. */
  #requestBody(body: JsonSchema): object {
    const value = nonNullType(body);
    return { required: value === undefined, content: { [JSON_MEDIA]: this.#media(value ?? body) } };
  }

  /** The description is omitted: a body already has it next to it. */
  #media(body: JsonSchema): object {
    const { $ref, ...rest } = this.#schemas.write(body);
    if ($ref === undefined) return { schema: rest };
    const name = NamedSchemas.nameOf({ $ref });
    const named = Object.keys(this.#examples).filter((each) => each.split('.', 1)[0] === name);
    if (named.length === 0) return { schema: { $ref } };
    for (const each of named) this.#usedExamples.add(each);
    const examples = named.map((each) => [each, { $ref: `#/components/examples/${each}` }]);
    return { schema: { $ref }, examples: Object.fromEntries(examples) };
  }
}

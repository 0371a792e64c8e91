import swagger from '@fastify/swagger';
import { Type } from 'typebox';
import { registerDocsPage } from './docs-page.js';
import { NAMED_ERROR } from './route-schema.js';
import type { App } from './types.js';

/** What a reader of the description sees first. */
const INTRODUCTION = `Tollgate meters usage, rates it, and shows it.

Send raw usage events (**Ingest**); rules that you publish (**Extractor rule sets**) turn them into priced charge items, which you
list with the origin of every number (**Usage**) and sum over time and dimensions (**Analysis**).

- Every request but a few carries \`Authorization: Bearer <API_KEY>\`.
- Times are Unix seconds. Decimals are strings, exact to the last digit.
- An error is \`{"error", "code", "details"}\`; the code is stable, and \`X-Request-Id\` names the request in our log.
- Nothing is coerced and no unknown field is ignored: a mistake in a body is a 400 that names its place.`;

/** Sections in the order in which a newcomer needs them. */
const SECTIONS = [
  ['Ingest', 'Accepts events: on disk before the answer, all of a batch or none.'],
  ['Usage', 'Rated and failed events, where each number came from, and reprocessing.'],
  ['Analysis', 'Exact sums per bucket, metric and group.'],
  ['Extractor rule sets', 'How raw JSON becomes a subject, dimensions and priced charge items.'],
  ['Limits', 'Plans of usage limits, the subjects that they apply to, and limits of single subjects.'],
  ['Webhooks', 'Endpoints that are told what happens, and what became of telling them.'],
  ['Plans', 'What a tenant can buy, how it is paid, and what the tenant may do by it.'],
  ['Access', 'Who a key speaks for.'],
  ['Tenants', 'Tenants, their projects and keys, and who changed what.'],
  ['Operation', 'Health, metrics and checks for those who run the service.'],
] as const;

/** Describes all routes at `/openapi.json`, and shows the description at `/docs`. */
export async function installOpenApi(app: App, version: string): Promise<void> {
  app.addSchema(NAMED_ERROR);
  await app.register(swagger, {
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema.$id ?? `schema-${index}`),
    },
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        version,
        description: INTRODUCTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: SECTIONS.map(([name, description]) => ({ name, description })),
      security: [{ apiKey: [] }],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
        },
      },
    },
  });
  let text: string | undefined;
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access: { kind: 'public' } },
    schema: {
      tags: ['Operation'],
      summary: 'This description',
      description: 'The API as OpenAPI 3.1.',
      operationId: 'getOpenApi',
      response: {
        200: { content: { 'application/json': { schema: Type.Unsafe<string>({ type: 'object' }) } } },
      },
    },
    handler: async (_request, reply) => {
      text ??= JSON.stringify(app.swagger());
      return reply.header('content-type', 'application/json; charset=utf-8').send(text);
    },
  });
  registerDocsPage(app);
}

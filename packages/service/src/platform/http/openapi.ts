import swagger from '@fastify/swagger';
import { Type } from 'typebox';
import { registerDocsPage } from './docs-page.js';
import { NAMED_ERROR } from './route-schema.js';
import type { App } from './types.js';

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
        description:
          'Usage metering, rating and limit control. Times are Unix seconds; decimals are strings.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
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

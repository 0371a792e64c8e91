import { ERRORS } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type JsonSchema, nearlyValid } from './support/schema-arbitrary.js';
import { type RunningService, startService } from './support/service.js';

const RUNS_PER_OPERATION = 40;

interface Operation {
  readonly parameters?: {
    name: string;
    in: 'path' | 'query' | 'header';
    schema: JsonSchema;
    required?: boolean;
  }[];
  readonly requestBody?: { content: Record<string, { schema: JsonSchema }> };
  readonly responses: Record<string, unknown>;
}

interface OpenApi {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

interface FuzzRequest {
  readonly path: string;
  readonly body: unknown;
}

describe('every documented operation, fed with hostile input', () => {
  let service: RunningService;
  let project: SampleProject;
  let operations: { method: string; path: string; operation: Operation }[];

  beforeAll(async () => {
    service = await startService();
    project = await createSampleProject(service);
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi;
    expect(document.openapi).toMatch(/^3\.1/);
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    );
  });
  afterAll(() => service?.stop());

  it('answers as documented, and never with a 5xx', async () => {
    expect(operations.length).toBeGreaterThan(25);
    for (const { method, path, operation } of operations) {
      await fc.assert(
        fc.asyncProperty(requestFor(path, operation, project), async (request) => {
          await expectDocumentedAnswer(method, path, operation, request);
        }),
        { numRuns: RUNS_PER_OPERATION },
      );
    }
  }, 240_000);

  it('is still alive and consistent afterwards', async () => {
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });

  async function expectDocumentedAnswer(
    method: string,
    path: string,
    operation: Operation,
    request: FuzzRequest,
  ) {
    const key = path.startsWith('/admin/') ? service.serviceKey : project.key;
    const response = await fetch(service.url + request.path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    const text = await response.text();
    const context = `${method} ${request.path} ${JSON.stringify(request.body)} → ${response.status} ${text.slice(0, 500)}`;
    expect(response.status, context).toBeLessThan(500);
    expect(Object.keys(operation.responses), `${method} ${path} does not document ${context}`).toContain(
      String(response.status),
    );
    expect(response.headers.get('x-request-id'), context).toBeTruthy();
    if (response.status < 400) return;
    const body = JSON.parse(text) as { error: unknown; code: keyof typeof ERRORS };
    expect(typeof body.error, context).toBe('string');
    expect(ERRORS[body.code]?.status, context).toBe(response.status);
  }
});

/** A request to the operation: ids of the sample project mostly, bodies and queries mostly valid. */
function requestFor(path: string, operation: Operation, project: SampleProject): fc.Arbitrary<FuzzRequest> {
  const parameters = operation.parameters ?? [];
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const bodySchema = operation.requestBody?.content['application/json']?.schema;
  return fc
    .record({
      ids: fc.dictionary(fc.constant('id'), fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), {
        maxKeys: 1,
      }),
      chaos: fc.integer({ min: 0, max: 9 }),
      query: fc.record(Object.fromEntries(query.map(({ name, schema }) => [name, nearlyValid(schema)])), {
        requiredKeys: [],
      }),
      body: bodySchema === undefined ? fc.constant(undefined) : nearlyValid(bodySchema),
    })
    .map(({ ids, chaos, query: values, body }) => {
      const known = { ...project.pathParameters };
      const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) =>
        encodeURIComponent(chaos === 0 ? (ids['id'] ?? 'x') : (known[name] ?? 'absent')).replace(
          /^\.+$/,
          'dots',
        ),
      );
      const search = new URLSearchParams(
        Object.entries(values).map(([name, value]): [string, string] => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      );
      return { path: search.size === 0 ? filled : `${filled}?${search}`, body };
    });
}

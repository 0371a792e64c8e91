import { ERRORS } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { created } from './support/http.js';
import { inlined } from './support/inlined.js';
import { createSampleProject, SAMPLE_RULE_SET, type SampleProject } from './support/sample-project.js';
import { type JsonSchema, mutated, nearlyValid } from './support/schema-arbitrary.js';
import { type RunningService, startService } from './support/service.js';

/** `TOLLGATE_FUZZ_RUNS=1000 npm test -- tests/fuzz.test.ts` is the long version. Each run has another seed. */
const RUNS_PER_OPERATION = Number(process.env.TOLLGATE_FUZZ_RUNS ?? 20);

interface Operation {
  readonly operationId: string;
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
    project = await withBoard(service, await createSampleProject(service));
    const document = inlined((await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi);
    expect(document.openapi).toMatch(/^3\.1/);
    operations = Object.entries(document.paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          method: method.toUpperCase(),
          path,
          operation,
        })),
      )
      .sort((a, b) => Number(endsWhatOthersNeed(a)) - Number(endsWhatOthersNeed(b)));
  });
  afterAll(() => service?.stop());

  it('responds as documented, and never with a 5xx', async () => {
    expect(operations.length).toBeGreaterThan(25);
    for (const { method, path, operation } of operations) {
      await fc.assert(
        fc.asyncProperty(requestFor(path, operation, project), async (request) => {
          await expectDocumentedAnswer(method, path, operation, request);
        }),
        // The same reading request gets the same response; a repeated writing one finds what the first has changed.
        { numRuns: RUNS_PER_OPERATION, plugins: method === 'GET' ? [fc.ignoreEqualValues()] : [] },
      );
    }
  }, 480_000);

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
    const entry: { status: number; statusInBody?: number } = ERRORS[body.code];
    expect([entry.status, entry.statusInBody], context).toContain(response.status);
  }
});

function endsWhatOthersNeed({ method, path }: { method: string; path: string }): boolean {
  return method === 'DELETE' || path.endsWith('/archive');
}

/** The project with a board, and a chart on it. */
async function withBoard(service: RunningService, project: SampleProject): Promise<SampleProject> {
  const boards = `/v1/projects/${project.projectId}/analysis/boards`;
  const board = await created(service, boards, { key: project.key, body: { name: 'Fuzzed' } });
  const board_id = String(board.report_id);
  const body = { board_id, title: 'Fuzzed', chart_type: 'bar', metrics: ['llm.input_tokens'] };
  const chart = await created(service, `${boards}/${board_id}/charts`, { key: project.key, body });
  const pathParameters = { ...project.pathParameters, board_id, chart_id: String(chart.chart_id) };
  return { ...project, pathParameters };
}

/** Valid bodies for operations with rules beyond their schema: each is sent with one place changed. */
function exampleBodies({ ruleSetId, pathParameters }: SampleProject): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  const event = {
    source: 'fuzz',
    external_event_id: 'external',
    idempotency_key: 'key',
    subject_type: 'customer',
    subject_id: 'c1',
    occurred_at: now,
    raw_json: { model: 'm', customer: 'c1', usage: { input_tokens: 5, output_tokens: 2.5 } },
    'x-billing': {
      items: [{ metric: 'llm.input_tokens', quantity: '7', unit: 'token' }],
      pricing_hints: { 'llm.input_tokens': { unit_price: '0.1', pricing_unit: 1000, currency: 'USD' } },
      discount_hints: { 'llm.input_tokens': { percent: 10 } },
    },
    'x-usage-control': { budget_lease_id: 'bl_1' },
    metadata: { trace: 't' },
  };
  const { board_id, chart_id } = pathParameters;
  const chart = {
    board_id,
    title: 'Cost',
    description: 'by model',
    chart_type: 'area',
    position: 2,
    size: 'full',
    subject_type: 'customer',
    bucket_size: '1h',
    filters: { model: { in: ['m', 'n'] }, region: { exists: false } },
    group_by: ['bucket', 'model'],
    measures: ['amount'],
    metrics: ['llm.input_tokens'],
    limit: 10,
  };
  return {
    createChart: chart,
    updateChart: chart,
    reorderCharts: { order: [{ chart_id, position: 1, size: 'half' }] },
    ingestEvent: event,
    ingestBatch: {
      source: 'fuzz',
      events: [
        { ...event, extractor_rule_set_id: ruleSetId },
        { ...event, extractor_rule_set_id: ruleSetId, idempotency_key: 'other' },
      ],
    },
    createExtractorRuleSet: SAMPLE_RULE_SET,
    updateExtractorRuleSet: SAMPLE_RULE_SET,
    queryUsage: {
      metrics: ['llm.input_tokens'],
      measures: ['quantity', 'amount'],
      time_range: { from: now - 86_400, to: now },
      timezone: 'America/New_York',
      bucket_size: '1h',
      group_by: ['bucket', 'model', 'subject_id'],
      filters: { model: { in: ['m', 'n'] }, region: { exists: false } },
      subject_type: 'customer',
      subject_id: 'c1',
      limit: 100,
    },
    reprocessUsageEvents: { from: now - 86_400, to: now },
  };
}

function bodyFor(operation: Operation, schema: JsonSchema, project: SampleProject): fc.Arbitrary<unknown> {
  const example = exampleBodies(project)[operation.operationId];
  return example === undefined ? nearlyValid(schema) : fc.oneof(mutated(example), nearlyValid(schema));
}

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
      body: bodySchema === undefined ? fc.constant(undefined) : bodyFor(operation, bodySchema, project),
    })
    .map(({ ids, chaos, query: values, body }) => {
      const known = { ...project.pathParameters };
      const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) =>
        encodeURIComponent(chaos === 0 ? (ids.id ?? 'x') : (known[name] ?? 'absent')).replace(
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

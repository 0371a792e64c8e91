import * as contract from '@tollgate/contract';
import { Type } from 'typebox';
import { describeApi } from './api-description/document.js';
import { EXAMPLES } from './api-description/examples/index.js';
import { registerDocsPage } from './docs-page.js';
import type { App } from './types.js';

/** The first text that a reader of the description sees. */
const INTRODUCTION = `Tollgate meters usage, rates it, and shows it.

Send raw usage events (**Ingest**); rules that you publish (**Extractor rule sets**) turn them into priced charge items, which you
list with the origin of every number (**Usage**) and sum over time and dimensions (**Analysis**).

- Send \`Authorization: Bearer <API_KEY>\` with every request. Operations that need no key say "No key".
- Times are Unix seconds. Decimals are strings, exact to the last digit.
- An error is \`{"error", "code", "details"}\`. The code is stable. \`X-Request-Id\` identifies the
  request in the log of the service.
- Values are not converted between types, and unknown fields are refused: a mistake in a body
  returns 400 with the path of the field.`;

/** Sections in the order in which a newcomer needs them. */
const SECTIONS = [
  [
    'Ingest',
    'Accepts events. They are on disk before the response. All events of a batch are accepted, or none.',
  ],
  ['Usage', 'Rated and failed events, the origin of each number, and reprocessing.'],
  ['Analysis', 'Exact sums per bucket, metric and group.'],
  ['Boards', 'Boards and charts: saved queries, and how they are drawn.'],
  ['Extractor rule sets', 'Rules that read a subject, dimensions and charge items from raw JSON.'],
  ['Pricing rule sets', 'The prices of charge items.'],
  ['Rules', 'Tests of rules on one event, and backtests on past usage, before the rules are published.'],
  ['Limits', 'Limit plans, the subject routes that they apply to, and direct limits.'],
  [
    'Realtime limits',
    'Limits of a subject with their current usage, at most a second old, and checks before work starts.',
  ],
  [
    'Budget leases',
    'Amounts that are reserved for work in progress, so that concurrent work cannot exceed a limit.',
  ],
  ['Wallets', 'Accounts, their balance in each currency, and every ledger entry.'],
  ['Webhooks', 'Endpoints that are notified of events, and the deliveries to them.'],
  ['Plans', 'The subscription plans that tenants can buy, their payment, and what they allow.'],
  ['Access', 'The tenant, project and permissions of a key.'],
  ['Tenants', 'Tenants, their projects and keys, and who changed what.'],
  ['Operation', 'Health, metrics and checks for operators of the service.'],
] as const;

/** Deployment settings of the API description. */
export interface ApiIdentity {
  /** Version of the product. */
  readonly version: string;
  /** The URL of the service for clients; undefined: the URL from which the description is read. */
  readonly publicUrl: string | undefined;
}

/** Describes all routes at `/openapi.json`, and shows the description at `/docs`. */
export function installOpenApi(app: App, { version, publicUrl }: ApiIdentity): void {
  let text: Buffer | undefined;
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
        200: Type.Unsafe<Buffer>({
          type: 'object',
          additionalProperties: true,
          description: 'The OpenAPI document.',
        }),
      },
    },
    handler: async (_request, reply) => {
      // Built with the first request, and not at the start: few processes need it. As bytes, because encoding
      // half a megabyte for each request would take milliseconds.
      text ??= Buffer.from(
        JSON.stringify(
          describeApi({
            version,
            serverUrl: publicUrl ?? '/',
            introduction: INTRODUCTION,
            sections: SECTIONS,
            routes: app.routeTable.routes,
            types: contract,
            examples: EXAMPLES,
          }),
        ),
      );
      return reply.header('content-type', 'application/json; charset=utf-8').send(text);
    },
  });
  registerDocsPage(app);
}

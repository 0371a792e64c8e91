import { ProjectParams, RulesTestRequest, RulesTestResult } from '@tollgate/contract';
import type { ProjectRef } from '../../kernel/scope.js';
import type { App } from '../../platform/http/index.js';

export interface TestRouteDeps {
  /** `testRules`, on any thread. */
  readonly testRules: (project: ProjectRef, rawBody: Buffer) => Promise<RulesTestResult>;
}

/** Registers the route that tests rules on one event. */
export function registerTestRoutes(app: App, { testRules }: TestRouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/projects/:project_id/rules/test',
    // `raw_json` belongs to the client. The texts of the rules are checked with the rules.
    config: { access: { kind: 'project', permission: 'rules:read' }, arbitraryText: true },
    schema: {
      tags: ['Rules'],
      summary: 'Test rules',
      description:
        'Rates one event as production would, by saved rules (drafts included) or by rules in the request. Without ' +
        'pricing rules, the event is priced by the rules that were published at its time. If the event would fail, ' +
        '`errors` lists the reasons. Nothing is stored.',
      operationId: 'testRules',
      params: ProjectParams,
      body: RulesTestRequest,
      response: { 200: RulesTestResult },
    },
    handler: (request) => {
      if (request.rawBody === undefined) throw new Error('a validated body without its bytes');
      return testRules(request.project, request.rawBody);
    },
  });
}

import {
  ErrorBodySchema,
  ExtractorRuleSet,
  ExtractorRuleSetInput,
  ExtractorRuleSetListQuery,
  ExtractorRuleSetPage,
  ExtractorRuleSetVersionPage,
  PageQuery,
  RuleSetReadQuery,
  type RuleSetStatus,
} from '@tollgate/contract';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type App, pageOf } from '../../platform/http/index.js';
import type { ChangeContext, RuleSetService } from './service.js';
import type { StoredVersion } from './store.js';

export interface RuleSetRoutesDeps {
  readonly service: RuleSetService;
}

const LIST_URL = '/v1/projects/:project_id/extractor-rule-sets';
const ITEM_URL = `${LIST_URL}/:id`;
const ProjectParams = Type.Object({ project_id: Type.String() });
const RuleSetParams = Type.Object({ project_id: Type.String(), id: Type.String() });

const toRead = { access: { kind: 'project', permission: 'rules:read' } } as const;
const toWrite = { access: { kind: 'project', permission: 'rules:write' } } as const;
const tags = ['Extractor rule sets'];

/** The operations on extractor rule sets. */
export function registerRuleSetRoutes(app: App, deps: RuleSetRoutesDeps): void {
  registerReads(app, deps);
  registerSaves(app, deps);
  registerTransitions(app, deps);
}

function registerReads(app: App, { service }: RuleSetRoutesDeps): void {
  app.route({
    method: 'GET',
    url: LIST_URL,
    config: toRead,
    schema: {
      tags,
      summary: 'List extractor rule sets',
      description:
        'Newest first, each shown by its newest version; with `status`, by its newest version of that status.',
      operationId: 'listExtractorRuleSets',
      params: ProjectParams,
      querystring: ExtractorRuleSetListQuery,
      response: { 200: ExtractorRuleSetPage },
    },
    handler: async ({ project, query }) => {
      const page = pageOf(query);
      const { rows, totalCount } = await service.list(project, { ...page, status: query.status });
      return { extractor_rule_sets: rows.map(answerOf), total_count: totalCount, ...page };
    },
  });

  app.route({
    method: 'GET',
    url: ITEM_URL,
    config: toRead,
    schema: {
      tags,
      summary: 'Read an extractor rule set',
      description: 'The newest version, be it a draft or published; or the one that `version` names.',
      operationId: 'getExtractorRuleSet',
      params: RuleSetParams,
      querystring: RuleSetReadQuery,
      response: { 200: ExtractorRuleSet },
    },
    handler: async ({ project, params, query }) =>
      answerOf(await service.read(project, params.id, query.version)),
  });

  app.route({
    method: 'GET',
    url: `${ITEM_URL}/versions`,
    config: toRead,
    schema: {
      tags,
      summary: 'List the versions of an extractor rule set',
      description: 'Newest first.',
      operationId: 'listExtractorRuleSetVersions',
      params: RuleSetParams,
      querystring: PageQuery,
      response: { 200: ExtractorRuleSetVersionPage },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { rows, totalCount } = await service.listVersions(project, params.id, page);
      return { versions: rows.map(answerOf), total_count: totalCount, ...page };
    },
  });
}

function registerSaves(app: App, { service }: RuleSetRoutesDeps): void {
  app.route({
    method: 'POST',
    url: LIST_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Create an extractor rule set',
      description:
        'Version 1, as a draft. Everything is checked now; ingest is possible once it is published.',
      operationId: 'createExtractorRuleSet',
      params: ProjectParams,
      body: ExtractorRuleSetInput,
      response: { 201: ExtractorRuleSet },
    },
    handler: async (request, reply) => {
      reply.code(201);
      return answerOf(await service.create(contextOf(request), request.body));
    },
  });

  app.route({
    method: 'PUT',
    url: ITEM_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Replace the draft of an extractor rule set',
      description:
        'When the newest version is published, it stays in force and a draft of the next version is opened.',
      operationId: 'updateExtractorRuleSet',
      params: RuleSetParams,
      body: ExtractorRuleSetInput,
      response: { 200: ExtractorRuleSet, 409: ErrorBodySchema },
    },
    handler: async (request) =>
      answerOf(await service.update(contextOf(request), request.params.id, request.body)),
  });
}

function registerTransitions(app: App, { service }: RuleSetRoutesDeps): void {
  app.route({
    method: 'POST',
    url: `${ITEM_URL}/publish`,
    config: toWrite,
    schema: {
      tags,
      summary: 'Publish the draft',
      description: 'The version becomes immutable, and effective for the very next event.',
      operationId: 'publishExtractorRuleSet',
      params: RuleSetParams,
      response: { 200: ExtractorRuleSet, 409: ErrorBodySchema },
    },
    handler: async (request) => answerOf(await service.publish(contextOf(request), request.params.id)),
  });

  app.route({
    method: 'POST',
    url: `${ITEM_URL}/archive`,
    config: toWrite,
    schema: {
      tags,
      summary: 'Archive an extractor rule set',
      description: 'It takes no more events, for good. What was accepted before is still rated.',
      operationId: 'archiveExtractorRuleSet',
      params: RuleSetParams,
      response: { 200: ExtractorRuleSet },
    },
    handler: async (request) => answerOf(await service.archive(contextOf(request), request.params.id)),
  });
}

function contextOf(request: Pick<FastifyRequest, 'project' | 'principal' | 'id'>): ChangeContext {
  return { project: request.project, principal: request.principal, requestId: request.id };
}

/** What was not configured is shown as empty, so that an answer can be sent back as an update. */
function answerOf(version: StoredVersion): ExtractorRuleSet {
  const { config } = version;
  return {
    id: version.id,
    tenant_id: version.tenant_id,
    project_id: version.project_id,
    name: version.name ?? '',
    version: version.version,
    status: statusOf(version),
    effective_from: version.effective_from,
    subject: config.subject ?? {},
    dimensions: config.dimensions ?? [],
    charge_item_extractors: config.charge_item_extractors ?? [],
    created_at: version.created_at,
    published_at: version.published_at,
  };
}

function statusOf({ archived_at, published_at }: StoredVersion): RuleSetStatus {
  if (archived_at !== null) return 'archived';
  return published_at === null ? 'draft' : 'published';
}

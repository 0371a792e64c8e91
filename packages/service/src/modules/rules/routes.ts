import {
  ErrorBodySchema,
  ExtractorTemplateList,
  PageQuery,
  type PricingRuleSetListQuery,
  ProjectParams,
  RuleSetReadQuery,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { type App, contextOf, pageOf } from '../../platform/http/index.js';
import type { RuleSetKind, VersionInput } from './kinds.js';
import { answerOf, EXTRACTOR_RESOURCE, PRICING_RESOURCE, type RuleSetResource } from './rule-set-resource.js';
import type { ExtractorRuleSetService, PricingRuleSetService, RuleSetService } from './service.js';
import type { StoredVersion } from './store.js';
import { TEMPLATES } from './templates/index.js';

export interface RuleSetRoutesDeps {
  readonly extractors: ExtractorRuleSetService;
  readonly pricings: PricingRuleSetService;
}

const RuleSetParams = Type.Object({
  ...ProjectParams.properties,
  id: Type.String({ description: 'Rule set id.' }),
});

const toRead = { access: { kind: 'project', permission: 'rules:read' } } as const;
const toWrite = { access: { kind: 'project', permission: 'rules:write' } } as const;

/** Registers the routes of rule sets of both kinds, and of the extractor templates. */
export function registerRuleSetRoutes(app: App, { extractors, pricings }: RuleSetRoutesDeps): void {
  registerResource(app, EXTRACTOR_RESOURCE, extractors);
  registerResource(app, PRICING_RESOURCE, pricings);
  registerTemplateRoutes(app);
}

function registerResource<Input extends VersionInput, Config extends object>(
  app: App,
  resource: RuleSetResource<Input, Config>,
  service: RuleSetService<Input, Config>,
): void {
  registerList(app, resource, service);
  registerReads(app, resource, service);
  registerSaves(app, resource, service);
  registerTransitions(app, resource, service);
}

const listUrl = ({ segment }: { readonly segment: string }) => `/v1/projects/:project_id/${segment}`;
const itemUrl = (resource: { readonly segment: string }) => `${listUrl(resource)}/:id`;

function registerList<Input extends VersionInput, Config extends object>(
  app: App,
  resource: RuleSetResource<Input, Config>,
  service: RuleSetService<Input, Config>,
): void {
  const { kind, schemas, noun, operation } = resource;
  const tags = [resource.tag];
  app.route({
    method: 'GET',
    url: listUrl(resource),
    config: toRead,
    schema: {
      tags,
      summary: `List ${noun.replace(/^an? /, '')}s`,
      description:
        'Returns rule sets newest first, each with its newest version or, with `status`, with its newest version ' +
        'of that status.',
      operationId: `list${operation}s`,
      params: ProjectParams,
      querystring: schemas.listQuery,
      response: { 200: schemas.page },
    },
    handler: async ({ project, query }) => {
      const {
        status,
        extractor_rule_set_id: extractorRuleSetId,
        purpose,
        ...range
      } = query as PricingRuleSetListQuery;
      const page = pageOf(range);
      const { items, totalCount } = await service.list(project, {
        ...page,
        status,
        extractorRuleSetId,
        purpose,
      });
      const answers = items.map((version) => answerOf(kind, version));
      return { [resource.listField]: answers, total_count: totalCount, ...page };
    },
  });
}

function registerReads<Input extends VersionInput, Config extends object>(
  app: App,
  resource: RuleSetResource<Input, Config>,
  service: RuleSetService<Input, Config>,
): void {
  const { kind, schemas, noun, operation } = resource;
  const tags = [resource.tag];
  app.route({
    method: 'GET',
    url: itemUrl(resource),
    config: toRead,
    schema: {
      tags,
      summary: `Read ${noun}`,
      description: 'Returns the newest version, draft or published, or the one in `version`.',
      operationId: `get${operation}`,
      params: RuleSetParams,
      querystring: RuleSetReadQuery,
      response: { 200: schemas.answer },
    },
    handler: async ({ project, params, query }) =>
      answerOf(kind, await service.read(project, params.id, query.version)),
  });

  app.route({
    method: 'GET',
    url: `${itemUrl(resource)}/versions`,
    config: toRead,
    schema: {
      tags,
      summary: `List the versions of ${noun}`,
      description: 'Returns the versions newest first, each with its changes since the version before.',
      operationId: `list${operation}Versions`,
      params: RuleSetParams,
      querystring: PageQuery,
      response: { 200: schemas.versionPage },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await service.listVersions(project, params.id, page);
      const versions = items.map(({ version, changes }) => ({ ...answerOf(kind, version), ...changes }));
      return { versions, total_count: totalCount, ...page };
    },
  });
}

function registerSaves<Input extends VersionInput, Config extends object>(
  app: App,
  resource: RuleSetResource<Input, Config>,
  service: RuleSetService<Input, Config>,
): void {
  const { kind, schemas, noun, operation, descriptions } = resource;
  const tags = [resource.tag];
  app.route({
    method: 'POST',
    url: listUrl(resource),
    config: toWrite,
    schema: {
      tags,
      summary: `Create ${noun}`,
      description: descriptions.create,
      operationId: `create${operation}`,
      params: ProjectParams,
      body: schemas.input,
      response: { 201: schemas.saved, ...(kind.name === 'pricing' ? { 409: ErrorBodySchema } : {}) },
    },
    handler: async (request, reply) => {
      reply.code(201);
      return savedAnswer(kind, service, await service.create(contextOf(request), request.body as Input));
    },
  });

  app.route({
    method: 'PUT',
    url: itemUrl(resource),
    config: toWrite,
    schema: {
      tags,
      summary: `Replace the draft of ${noun}`,
      description:
        'Replaces the whole draft. If the newest version is published, it stays active, and a draft of the next ' +
        'version is created.',
      operationId: `update${operation}`,
      params: RuleSetParams,
      body: schemas.input,
      response: { 200: schemas.saved, 409: ErrorBodySchema },
    },
    handler: async (request) => {
      const { id } = request.params;
      return savedAnswer(kind, service, await service.update(contextOf(request), id, request.body as Input));
    },
  });
}

function registerTransitions<Input extends VersionInput, Config extends object>(
  app: App,
  resource: RuleSetResource<Input, Config>,
  service: RuleSetService<Input, Config>,
): void {
  const { kind, schemas, noun, operation, descriptions } = resource;
  const tags = [resource.tag];
  app.route({
    method: 'POST',
    url: `${itemUrl(resource)}/publish`,
    config: toWrite,
    schema: {
      tags,
      summary: `Publish the draft of ${noun}`,
      description: descriptions.publish,
      operationId: `publish${operation}`,
      params: RuleSetParams,
      response: { 200: schemas.saved, 409: ErrorBodySchema },
    },
    handler: async (request) =>
      savedAnswer(kind, service, await service.publish(contextOf(request), request.params.id)),
  });

  app.route({
    method: 'POST',
    url: `${itemUrl(resource)}/archive`,
    config: toWrite,
    schema: {
      tags,
      summary: `Archive ${noun}`,
      description: descriptions.archive,
      operationId: `archive${operation}`,
      params: RuleSetParams,
      response: { 200: schemas.answer },
    },
    handler: async (request) => answerOf(kind, await service.archive(contextOf(request), request.params.id)),
  });
}

/** Returns a saved or published version, with warnings for kinds that have them. */
async function savedAnswer<Input extends VersionInput, Config extends object>(
  kind: RuleSetKind<Input, Config>,
  service: RuleSetService<Input, Config>,
  version: StoredVersion<Config>,
) {
  const warnings = await service.warningsAbout(version);
  return { ...answerOf(kind, version), ...(warnings === undefined ? {} : { warnings }) };
}

/** Registers `/v1/extractor-templates`. */
export function registerTemplateRoutes(app: App): void {
  app.route({
    method: 'GET',
    url: '/v1/extractor-templates',
    config: { access: { kind: 'any-key' } },
    schema: {
      tags: ['Extractor rule sets'],
      summary: 'List the extractor templates',
      description:
        'Returns ready-made extractor rules for well-known payloads, with samples and their charge items. To use a ' +
        'template, send its id as `template_id` when you create or update an extractor rule set; fields in the ' +
        'request replace those of the template.',
      operationId: 'listExtractorTemplates',
      response: { 200: ExtractorTemplateList },
    },
    handler: async () => ({ templates: [...TEMPLATES] }),
  });
}

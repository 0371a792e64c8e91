import { ProjectParams, ProjectSettings, UpdateProjectSettingsBody } from '@tollgate/contract';
import { type App, contextOf } from '../../../platform/http/index.js';
import { LIMIT_ACCESS, LIMIT_TAG } from '../rules/request-routes.js';
import type { ProjectSettingsService } from './service.js';

const tags = [LIMIT_TAG];
const url = '/v1/projects/:project_id/settings';

/** Registers the routes of a project's settings. */
export function registerProjectSettingsRoutes(app: App, settings: ProjectSettingsService): void {
  app.route({
    method: 'GET',
    url,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Read the settings of a project',
      description: 'Returns all settings, also those that were never changed.',
      operationId: 'getProjectSettings',
      params: ProjectParams,
      response: { 200: ProjectSettings },
    },
    handler: ({ project }) => settings.read(project),
  });
  app.route({
    method: 'PUT',
    url,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Change the settings of a project',
      description:
        'Fields that are left out keep their values. With `unknown_subjects` `deny`, a check of a subject without a ' +
        'route returns `allowed: false` with the reason `unknown_subject`, and a lease is refused with 409 ' +
        '`unknown_subject`.',
      operationId: 'updateProjectSettings',
      params: ProjectParams,
      body: UpdateProjectSettingsBody,
      response: { 200: ProjectSettings },
    },
    handler: (request) => settings.update(contextOf(request), request.body),
  });
}

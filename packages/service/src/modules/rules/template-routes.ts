import { ExtractorTemplateList } from '@tollgate/contract';
import type { App } from '../../platform/http/index.js';
import { TEMPLATES } from './templates/index.js';

/** `/v1/extractor-templates`. */
export function registerTemplateRoutes(app: App): void {
  app.route({
    method: 'GET',
    url: '/v1/extractor-templates',
    config: { access: { kind: 'any-key' } },
    schema: {
      tags: ['Extractor rule sets'],
      summary: 'List the extractor templates',
      description:
        'Extraction that is ready for well-known payloads, each with samples and what is charged for them. Name one as ' +
        '`template_id` when you create or update an extractor rule set; fields that you send stand in place of its own.',
      operationId: 'listExtractorTemplates',
      response: { 200: ExtractorTemplateList },
    },
    handler: async () => ({ templates: [...TEMPLATES] }),
  });
}

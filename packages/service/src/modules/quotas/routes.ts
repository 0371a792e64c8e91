import { RebuiltQuotas } from '@tollgate/contract';
import type { App } from '../../platform/http/index.js';
import { type Postgres, transaction } from '../../platform/postgres/index.js';
import { rebuildQuotas } from './recount-store.js';

/** Registers the operator's correction of quotas. */
export function registerQuotaRoutes(app: App, { postgres }: { readonly postgres: Postgres }): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/event-quotas/rebuild',
    config: { access: { kind: 'service' } },
    schema: {
      tags: ['Operation'],
      summary: 'Recount accepted events',
      description:
        'Sets the number of accepted events of every tenant and month to the number of rated events, duplicates ' +
        'included, plus those that wait to be rated. Requests that send events wait in the meantime. `tollgate ' +
        'verify` shows whether anything needs correction.',
      operationId: 'rebuildEventQuotas',
      response: { 200: RebuiltQuotas },
    },
    handler: async () => ({ corrected: await transaction(postgres, rebuildQuotas) }),
  });
}

import { VerifyReport } from '@tollgate/contract';
import type { App } from '../../platform/http/index.js';
import { type VerifyDeps, verifyUsage } from './service.js';

/** Registers verification by the running service, which alone can open an embedded ClickHouse. */
export function registerVerifyRoutes(app: App, deps: VerifyDeps): void {
  let running: Promise<VerifyReport> | undefined;
  app.route({
    method: 'POST',
    url: '/admin/v1/verify',
    config: { access: { kind: 'service' } },
    schema: {
      tags: ['Operation'],
      summary: 'Verify usage history and the ledger',
      description:
        'Compares the totals in PostgreSQL with the history and its rollups in ClickHouse, per project and day, ' +
        'and recounts the ledger. A request during a verification returns the result of that verification.',
      operationId: 'verifyUsage',
      response: { 200: VerifyReport },
    },
    handler: () => {
      running ??= verifyUsage(deps).finally(() => {
        running = undefined;
      });
      return running;
    },
  });
}

import { CellInfo } from '@tollgate/contract';
import type { App } from '../../platform/http/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { hasGivenNumbers, schemaVersion } from './number-store.js';

export interface CellRoutesDeps {
  readonly postgres: Postgres;
  /** Undefined for an installation that is not a cell. */
  readonly cellName: string | undefined;
}

/** Registers the route that `tollgate cell add` calls before it adds an installation to the directory. */
export function registerCellRoutes(app: App, { postgres, cellName }: CellRoutesDeps): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/cell',
    config: { access: { kind: 'service' } },
    schema: {
      tags: ['Operation'],
      summary: 'Read the cell',
      description: 'Returns the facts that the directory of cells needs about this installation.',
      operationId: 'getCell',
      response: { 200: CellInfo },
    },
    handler: async () => ({
      name: cellName ?? null,
      schema_version: await schemaVersion(postgres),
      numbers_used: await hasGivenNumbers(postgres),
    }),
  });
}

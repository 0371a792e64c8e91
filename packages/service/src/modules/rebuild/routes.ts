import { LossBody, LossReport, RebuildBody, RebuildReport, RepairReport } from '@tollgate/contract';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import type { App } from '../../platform/http/index.js';
import { ArchiveDamagedError } from '../archive/index.js';
import { findLost, type LostDeps } from './lost.js';
import { type RebuildDeps, rebuildHistory } from './rebuild.js';
import { repairHistory } from './repair.js';

/** Registers the repair of the history by the running service, which alone can open an embedded ClickHouse. */
export function registerRebuildRoutes(app: App, deps: RebuildDeps & LostDeps): void {
  app.route<{ Body: RebuildBody }>({
    method: 'POST',
    url: '/admin/v1/rebuild',
    config: { access: { kind: 'service' } },
    schema: {
      tags: ['Operation'],
      summary: 'Rebuild the usage history',
      description:
        'Deletes the whole history in ClickHouse and inserts it from the archive. Events are accepted and rated ' +
        'meanwhile; charts and lists show a part of the history until the end.',
      operationId: 'rebuildHistory',
      body: RebuildBody,
      response: { 200: RebuildReport },
    },
    handler: ({ body }) => refusing(rebuildHistory(deps, { incomplete: body.incomplete ?? false })),
  });
  app.route<{ Body: RebuildBody }>({
    method: 'POST',
    url: '/admin/v1/repair',
    config: { access: { kind: 'service' } },
    schema: {
      tags: ['Operation'],
      summary: 'Repair the usage history',
      description:
        'Compares the history in ClickHouse with PostgreSQL. Months that differ are replaced from the archive. ' +
        'Use it when a store was restored or replaced.',
      operationId: 'repairHistory',
      body: RebuildBody,
      response: { 200: RepairReport },
    },
    handler: ({ body }) => refusing(repairHistory(deps, { incomplete: body.incomplete ?? false })),
  });
  app.route<{ Body: LossBody }>({
    method: 'POST',
    url: '/admin/v1/losses',
    config: { access: { kind: 'service' } },
    schema: {
      tags: ['Operation'],
      summary: 'List lost objects, or give them up',
      description:
        'Reads all objects to which rows refer: received events, rows that wait for ClickHouse, and the archive. ' +
        'Those that are missing or damaged are listed. With `give_up`, nothing waits for them any more: the loss is ' +
        'recorded in the audit log of each tenant, and a verification reports it as known.',
      operationId: 'listLosses',
      body: LossBody,
      response: { 200: LossReport },
    },
    handler: ({ body: { give_up: isGivenUp = false, reason }, id: requestId }) => {
      if (!isGivenUp) return findLost(deps);
      if (reason === undefined) throw invalidRequest('reason', 'expected a reason together with give_up');
      return findLost(deps, { atMs: deps.clock.nowMs(), reason, requestId });
    },
  });
}

/** The operator may read why an object of the archive cannot be used. */
async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ArchiveDamagedError)
      throw new DomainError('rebuild_refused', { message: error.message });
    throw error;
  }
}

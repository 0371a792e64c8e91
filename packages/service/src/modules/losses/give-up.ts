import type { Tx } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import { insertLoss, type Lost } from './loss-store.js';

/** Who gives up, when and why. */
export interface GivingUp {
  readonly atMs: number;
  readonly reason: string;
  /** The request, or the command, for the audit log. */
  readonly requestId: string;
}

/** Records that the events of an object are given up: for each project, and in the audit log of each tenant. */
export async function recordLoss(tx: Tx, lost: Lost, { atMs, reason, requestId }: GivingUp): Promise<void> {
  await insertLoss(tx, lost, { atMs, reason });
  for (const part of lost.parts) {
    await audit(tx, {
      tenantId: part.tenantId,
      projectId: part.projectId,
      principal: { kind: 'service' },
      action: 'usage_loss.give_up',
      resourceType: 'usage_loss',
      resourceId: `${lost.kind}-${lost.number}`,
      change: { object_key: lost.objectKey, event_count: part.eventCount ?? lost.eventCount, reason },
      requestId,
      atMs,
    });
  }
}

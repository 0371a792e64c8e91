import { present } from '../../kernel/present.js';
import type { Principal } from '../../kernel/principal.js';
import type { ProjectScope } from '../../kernel/scope.js';
import type { ProjectDb, Tx } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import type { OpenCorrection } from './correction.js';
import { type KeptTotals, readRevertedTotals } from './correction-store.js';
import { readTotals } from './part-store.js';
import { shownTotals } from './view.js';

/** Who changes a correction, and by which request. */
export interface CorrectionRequester {
  readonly project: ProjectScope;
  readonly principal: Principal;
  readonly requestId: string;
}

interface RequestedChange {
  readonly verb: 'create' | 'apply' | 'revert' | 'discard';
  readonly id: string;
  readonly change: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

/** Records in the audit log what a request has changed by itself. */
export async function auditRequest(
  tx: Tx,
  { project: { tenantId, projectId }, principal, requestId }: CorrectionRequester,
  { verb, id, change, nowMs }: RequestedChange,
): Promise<void> {
  const about = { resourceType: 'usage_correction', resourceId: id, change };
  const by = { tenantId, projectId, principal, requestId, atMs: nowMs };
  await audit(tx, { ...by, ...about, action: `usage_correction.${verb}` });
}

/** Totals that the audit log keeps of a correction. */
const AUDIT_TOTALS_MAX = 100;

interface CorrectionEnd {
  readonly verb: 'apply' | 'revert';
  readonly status: 'applied' | 'reverted' | 'stale';
  /** Events whose change is in force. */
  readonly eventsApplied: number;
  readonly nowMs: number;
}

/** Returns the totals in force, as the audit log keeps them. */
export async function totalsInForce(db: ProjectDb, id: string): Promise<KeptTotals> {
  const { totals, count } = await readTotals(db, id, 'applied', AUDIT_TOTALS_MAX);
  return { totals: shownTotals(totals), count };
}

/**
 * Records in the audit log that a correction was applied or reverted, by whom, and its totals: those in force, or those
 * that a revert has taken back.
 */
export async function auditEnd(
  tx: Tx,
  db: ProjectDb,
  { id, action, reason, project, createdBy, appliedBy, revertedBy }: OpenCorrection,
  { verb, status, eventsApplied, nowMs }: CorrectionEnd,
): Promise<void> {
  const kept = status === 'reverted' ? await readRevertedTotals(db, id) : await totalsInForce(db, id);
  const { totals, count } = present(kept, 'the totals of a correction');
  await audit(tx, {
    tenantId: project.tenantId,
    projectId: project.projectId,
    principal: principalOf((verb === 'apply' ? appliedBy : revertedBy) ?? createdBy, project),
    action: `usage_correction.${verb}`,
    resourceType: 'usage_correction',
    resourceId: id,
    change: { action, reason, status, events_in_force: eventsApplied, totals, totals_count: count },
    requestId: id,
    atMs: nowMs,
  });
}

function principalOf(actor: string, { tenantId, projectId }: ProjectScope): Principal {
  if (actor === 'service') return { kind: 'service' };
  return { kind: 'key', keyId: actor, tenantId, projectId, permissions: [] };
}

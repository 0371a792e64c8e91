import type { Principal } from '../../kernel/principal.js';
import type { ProjectScope } from '../../kernel/scope.js';
import type { ProjectDb, Tx } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import type { OpenCorrection } from './correction.js';
import { readTotals } from './part-store.js';
import { shownTotals } from './view.js';

/** Totals that the audit log keeps of a correction. */
const AUDIT_TOTALS_MAX = 100;

interface CorrectionEnd {
  readonly verb: 'apply' | 'revert';
  /** Who requested it. */
  readonly actor: string;
  readonly events: number;
  readonly nowMs: number;
}

/** Records in the audit log that a correction was applied or reverted, with its totals. */
export async function auditEnd(
  tx: Tx,
  db: ProjectDb,
  { id, action, reason, project }: OpenCorrection,
  { verb, actor, events, nowMs }: CorrectionEnd,
): Promise<void> {
  const { totals, count } = await readTotals(db, id, 'planned', AUDIT_TOTALS_MAX);
  await audit(tx, {
    tenantId: project.tenantId,
    projectId: project.projectId,
    principal: principalOf(actor, project),
    action: `usage_correction.${verb}`,
    resourceType: 'usage_correction',
    resourceId: id,
    change: { action, reason, events_in_force: events, totals: shownTotals(totals), totals_count: count },
    requestId: id,
    atMs: nowMs,
  });
}

function principalOf(actor: string, { tenantId, projectId }: ProjectScope): Principal {
  if (actor === 'service') return { kind: 'service' };
  return { kind: 'key', keyId: actor, tenantId, projectId, permissions: [] };
}

import type { ProjectRef } from '../../kernel/scope.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import type { Tx } from '../../platform/postgres/index.js';
import { type UnprojectedRows, unprojectedRows } from './batch-store.js';

/**
 * Upper bound of the bytes that wait for the shared tables of ClickHouse, and of those that wait for the tables of
 * single projects. Without these bounds the disk would fill up while ClickHouse is down.
 */
const UNPROJECTED_BYTES_MAX = 4 * 1_024 ** 3;
/** Upper bound of the batches that wait for tables of single projects: a projector reads them all for each group. */
const OWN_BATCHES_MAX = 20_000;
/** Upper bound of the bytes that wait for the tables of a correction, which can wait, and leaves room to new events. */
const CORRECTION_BYTES_MAX = 256 * 1_048_576;

/** The tenants whose events must not be rated now, because too many rows wait for ClickHouse. */
export interface HeldBack {
  /** Nothing may be rated: the queue grows until ingest refuses events. */
  readonly isAll: boolean;
  /** These tenants hold more than their share of the rows for tables of single projects; their events are deferred. */
  readonly tenants: ReadonlySet<string>;
}

export async function readHeldBack(tx: Tx, bytesMax = UNPROJECTED_BYTES_MAX): Promise<HeldBack> {
  return heldBackBy(await unprojectedRows(tx), bytesMax);
}

/** Whether ClickHouse has kept up with the tables of a project, so that a correction may write rows. */
export async function mayWriteCorrections(
  tx: Tx,
  { tenantId, storage }: Pick<ProjectRef, 'tenantId' | 'storage'>,
): Promise<boolean> {
  const rows = await unprojectedRows(tx);
  const size = storage === 'shared' ? rows.shared : rows.ownOf.get(tenantId);
  if (size === undefined) return true;
  const { tenants } = heldBackBy(rows, UNPROJECTED_BYTES_MAX);
  return size.bytes < CORRECTION_BYTES_MAX && (storage === 'shared' || !tenants.has(tenantId));
}

/** Rows for tables of single projects are counted apart: one such table that is broken must not stop all others. */
function heldBackBy({ shared, ownOf }: UnprojectedRows, bytesMax: number): HeldBack {
  const own = [...ownOf];
  const bytesShare = tenantShare(
    own.reduce((sum, [, { bytes }]) => sum + bytes, 0),
    bytesMax,
  );
  const batchesShare = tenantShare(
    own.reduce((sum, [, { batches }]) => sum + batches, 0),
    OWN_BATCHES_MAX,
  );
  const isOver = ([, { bytes, batches }]: (typeof own)[number]) =>
    bytes >= bytesShare || batches >= batchesShare;
  return {
    isAll: shared.bytes >= bytesMax,
    tenants: new Set(own.filter(isOver).map(([tenantId]) => tenantId)),
  };
}

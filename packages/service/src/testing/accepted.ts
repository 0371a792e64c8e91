import { rawEventHex } from '../kernel/id.js';
import type { ProjectRef } from '../kernel/scope.js';
import type { Postgres } from '../platform/postgres/index.js';
import { reprocessRecord as reprocessRecordAt, type SegmentRecord } from '../platform/queue/index.js';

/** A project for which events are accepted. */
export type TestProject = Omit<ProjectRef, 'kind'>;

/** An event as a client sends it in a batch. */
export interface TestEvent {
  readonly occurred_at: number;
  readonly idempotency_key: string;
  readonly extractor_rule_set_id: string;
  readonly raw_json: unknown;
  readonly [field: string]: unknown;
}

export const RECEIVED_AT_MS = 1_750_000_000_000;

/** Writes a tenant and a project to the system of record. */
export async function createProject(
  { pool }: Postgres,
  tenantId: string,
  projectId: string,
  storage: TestProject['storage'] = 'shared',
): Promise<TestProject> {
  await pool.query('insert into tenants (id, name, created_at) values ($1, $1, 0) on conflict do nothing', [
    tenantId,
  ]);
  const { rows } = await pool.query<{ no: number }>(
    `insert into projects (tenant_id, id, name, kind, storage, created_at)
    values ($1, $2, $2, $3, $4, 0) returning no`,
    [tenantId, projectId, storage === 'shared' ? 'development' : 'release', storage],
  );
  return { tenantId, projectId, projectNo: rows[0]?.no ?? 0, storage };
}

export function idHexOf({ tenantId, projectId }: TestProject, event: TestEvent): string {
  return rawEventHex(tenantId, projectId, event.occurred_at, event.idempotency_key);
}

/** Returns the record that ingest would append for a batch request. */
export function batchRecord(
  project: TestProject,
  events: readonly TestEvent[],
  { receivedAtMs = RECEIVED_AT_MS, body = JSON.stringify({ source: 'test', events }) } = {},
): SegmentRecord {
  return {
    scope: { kind: 'batch', ...project, extractorRuleSetId: null },
    receivedAtMs,
    eventCount: events.length,
    ids: Buffer.from(events.map((event) => idHexOf(project, event)).join(''), 'hex'),
    body: Buffer.from(body),
  };
}

/** Returns the record that a reprocess request would append. */
export function reprocessRecord(project: TestProject, idHexes: readonly string[]): SegmentRecord {
  return reprocessRecordAt(project, idHexes, RECEIVED_AT_MS);
}

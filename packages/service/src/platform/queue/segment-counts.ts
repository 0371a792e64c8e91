import { recordBytes, type SegmentRecord } from './segment.js';

/**
 * The columns of a segment's row that describe its records: the oldest arrival, all events, the events that
 * count as accepted of each project, and the events and bytes of each tenant.
 */
export function countsOf(records: readonly SegmentRecord[]): unknown[] {
  if (records.length === 0) throw new RangeError('a segment needs at least one record');
  let receivedAtMs = Number.POSITIVE_INFINITY;
  let eventCount = 0;
  const eventsByProject = new Map<string, number>();
  const byTenant = new Map<string, { events: number; bytes: number }>();
  for (const record of records) {
    const { projectId, tenantId } = record.scope;
    receivedAtMs = Math.min(receivedAtMs, record.receivedAtMs);
    eventCount += record.eventCount;
    // A reprocessed event was accepted and counted before.
    const accepted = record.scope.kind === 'reprocess' ? 0 : record.eventCount;
    eventsByProject.set(projectId, (eventsByProject.get(projectId) ?? 0) + accepted);
    const ofTenant = byTenant.get(tenantId);
    if (ofTenant === undefined) {
      byTenant.set(tenantId, { events: record.eventCount, bytes: recordBytes(record) });
    } else {
      ofTenant.events += record.eventCount;
      ofTenant.bytes += recordBytes(record);
    }
  }
  const tenants = [...byTenant.values()];
  return [
    receivedAtMs,
    eventCount,
    [...eventsByProject.keys()],
    [...eventsByProject.values()],
    [...byTenant.keys()],
    tenants.map(({ events }) => events),
    tenants.map(({ bytes }) => bytes),
  ];
}

import type { QuotaRecord } from './admit.js';

const JUNE_2026_MS = Date.UTC(2026, 5, 1);

interface QuotaRecordOptions {
  readonly tenantId?: string;
  readonly limit?: number;
  readonly receivedAtMs?: number;
}

/** Returns a request in June 2026 that asks to append events; without a limit if none is given. */
export function quotaRecord(
  eventCount: number,
  { tenantId = 'ten_1', limit = -1, receivedAtMs = JUNE_2026_MS }: QuotaRecordOptions = {},
): QuotaRecord {
  const record = {
    scope: {
      kind: 'batch' as const,
      tenantId,
      projectId: `prj_of_${tenantId}`,
      projectNo: 1,
      storage: 'shared' as const,
      extractorRuleSetId: null,
    },
    receivedAtMs,
    eventCount,
    ids: Buffer.alloc(eventCount * 16),
    body: Buffer.from('{}'),
  };
  return { record, monthlyEventLimit: limit };
}

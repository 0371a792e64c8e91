// The row of `usage_events` that a benchmark event becomes.
import { RULE_SET, SUBJECTS, singleBody } from './events.mjs';

const RULE_SET_ID = 'ers_00000000000000000000000000000000';

/** Returns the row that rating produces for one benchmark event. */
export function usageRow(index, nowMs) {
  const rawJson = JSON.stringify(JSON.parse(singleBody(index, 'floor')).raw_json);
  const { model, region, usage } = JSON.parse(rawJson);
  const rawEventId = Buffer.alloc(16);
  rawEventId.writeUInt32BE(Math.floor(nowMs / 1000));
  rawEventId.writeUInt32BE(index, 12);
  const quantities = [usage.prompt_tokens, usage.completion_tokens];
  return {
    tenantId: 'ten_floor',
    projectId: 'prj_floor',
    rawEventId,
    occurredAt: Math.floor(nowMs / 1000),
    attempt: 0,
    corrections: 0,
    isReversal: false,
    correctionId: '',
    receivedAtMs: nowMs,
    processedAtMs: nowMs,
    status: 'processed',
    posting: 'unrouted',
    source: 'bench',
    externalEventId: '',
    idempotencyKey: `floor-${String(index).padStart(12, '0')}`,
    subjectType: 'user',
    subjectId: `user-${index % SUBJECTS}`,
    parents: [],
    subjectIsSent: true,
    accountId: '',
    budgetLeaseId: '',
    leaseStatus: 'none',
    extractorRuleSetId: RULE_SET_ID,
    extractorVersion: 1,
    excludedDimensions: [],
    dimensions: new Map([
      ['model', model],
      ['region', region],
    ]),
    failureCode: '',
    failureMessage: '',
    failurePath: '',
    rawJson,
    metadata: '',
    xBilling: '',
    notes: '',
    itemTransactionIds: [],
    items: RULE_SET.charge_item_extractors.map(({ name, metric, unit, currency }, item) => ({
      extractorName: name,
      metric,
      unit,
      currency,
      quantity: BigInt(quantities[item]) * 10n ** 18n,
      unitPrice: 2_500_000_000_000n,
      amount: BigInt(quantities[item]) * 2_500_000_000_000n,
      discount: 0n,
      source: 'extractor',
      pricingSource: 'extractor',
      ruleSetId: RULE_SET_ID,
      ruleSetVersion: 1,
      ruleName: name,
      cumulative: '',
      cost: null,
    })),
  };
}

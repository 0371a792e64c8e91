/** The cost of a charge item, by a cost rule. Rules of a request have no id, and version 0. */
export interface ItemCostRow {
  /** × 10^18. */
  readonly amount: bigint;
  /** Never empty. */
  readonly currency: string;
  readonly ruleSetId: string;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

/** One charge item of a row. Decimals are their value × 10^18. */
export interface UsageItemRow {
  readonly extractorName: string;
  readonly metric: string;
  readonly unit: string;
  /** Empty when no rule priced the item. */
  readonly currency: string;
  readonly quantity: bigint;
  readonly unitPrice: bigint | null;
  /** The charged amount. */
  readonly amount: bigint;
  /** The part of the amount that a discount hint took off. */
  readonly discount: bigint;
  readonly source: keyof typeof ITEM_SOURCES;
  readonly pricingSource: keyof typeof PRICING_SOURCES;
  readonly ruleSetId: string;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
  /** JSON text of the `CumulativeTotals` that set the amount; empty for a price of the charge item alone. */
  readonly cumulative: string;
  /** Null when no cost rule matched, or the one that did could not be computed. */
  readonly cost: ItemCostRow | null;
}

/** One row of ClickHouse's `usage_events`; an absent text is empty there. */
export interface UsageEventRow {
  readonly tenantId: string;
  readonly projectId: string;
  /** 16 bytes. */
  readonly rawEventId: Uint8Array;
  /** Unix seconds, 0 to 2^32 − 1. */
  readonly occurredAt: number;
  /** 0 at first; each reprocessing adds one, and the row with the greatest is that of its revision. */
  readonly attempt: number;
  /** 0 at first; each correction adds one. The revision is one more, and the greatest is the current one. */
  readonly corrections: number;
  /** Whether this is a reversal row: it takes back the revision that has the same number of corrections. */
  readonly isReversal: boolean;
  /** The correction that wrote the row; empty for revision 1. */
  readonly correctionId: string;
  readonly receivedAtMs: number;
  readonly processedAtMs: number;
  readonly status: keyof typeof EVENT_STATUSES;
  readonly posting: keyof typeof POSTINGS;
  readonly source: string;
  readonly externalEventId: string;
  readonly idempotencyKey: string;
  readonly subjectType: string;
  readonly subjectId: string;
  /** The subjects above at which the usage counts: the parent, the parent of that, and so on. */
  readonly parents: readonly { readonly type: string; readonly id: string }[];
  /** Whether the subject came with the event, and not from its extractor. */
  readonly subjectIsSent: boolean;
  readonly accountId: string;
  readonly budgetLeaseId: string;
  /** Status of the lease that the event names, at the time of rating; `none` without a lease. */
  readonly leaseStatus: keyof typeof LEASE_STATUSES;
  readonly extractorRuleSetId: string;
  /** 0 when the event failed before a version was found. */
  readonly extractorVersion: number;
  readonly dimensions: ReadonlyMap<string, string>;
  /** Names of the dimensions that the rollup leaves out. */
  readonly excludedDimensions: readonly string[];
  readonly failureCode: string;
  readonly failureMessage: string;
  readonly failurePath: string;
  /** JSON text as received: UTF-8 bytes, or the text when no bytes of it exist. */
  readonly rawJson: Uint8Array | string;
  readonly metadata: string;
  readonly xBilling: string;
  /** JSON list of the notes of rating; empty without notes. */
  readonly notes: string;
  readonly items: readonly UsageItemRow[];
  /**
   * For each item, in their order, the ledger transaction that posted it, or an empty text; none at all when
   * nothing was posted.
   */
  readonly itemTransactionIds: readonly string[];
}

export const EVENT_STATUSES = { processed: 1, failed: 2, voided: 3 } as const;
export const POSTINGS = { none: 0, posted: 1, unpriced: 2, unrouted: 3 } as const;
export const LEASE_STATUSES = { none: 0, applied: 1, closed: 2, expired: 3, unknown: 4 } as const;
export const ITEM_SOURCES = { extractor: 1, x_billing: 2, correction: 3 } as const;
export const PRICING_SOURCES = { hint: 1, extractor: 2, pricing_rule_set: 3, unpriced: 4 } as const;

/** Returns the JSON text that was sent. */
export function jsonOf({ rawJson }: Pick<UsageEventRow, 'rawJson'>): string {
  return typeof rawJson === 'string' ? rawJson : Buffer.from(rawJson).toString('utf8');
}

const RAW_EVENT_ID_BYTES = 16;
const UINT16_MAX = 0xffff;
const UINT32_MAX = 0xffff_ffff;
/** A Decimal(38, 18) holds coefficients strictly between −10^38 and 10^38. */
const COEFFICIENT_BOUND = 10n ** 38n;

/** @throws RangeError when a column cannot hold its value of the row */
export function assertStorable(row: UsageEventRow): void {
  const { items, itemTransactionIds } = row;
  if (row.rawEventId.length !== RAW_EVENT_ID_BYTES) throw new RangeError('a raw event id has 16 bytes');
  assertInteger('occurredAt', row.occurredAt, UINT32_MAX);
  assertInteger('attempt', row.attempt, UINT16_MAX);
  assertInteger('corrections', row.corrections, UINT32_MAX);
  assertInteger('receivedAtMs', row.receivedAtMs, Number.MAX_SAFE_INTEGER);
  assertInteger('processedAtMs', row.processedAtMs, Number.MAX_SAFE_INTEGER);
  assertInteger('extractorVersion', row.extractorVersion, UINT32_MAX);
  if (itemTransactionIds.length !== 0 && itemTransactionIds.length !== items.length) {
    throw new RangeError(
      `${items.length} charge items have ${itemTransactionIds.length} ledger transactions`,
    );
  }
  for (const item of items) {
    assertInteger('ruleSetVersion', item.ruleSetVersion, UINT32_MAX);
    assertCoefficient('quantity', item.quantity);
    if (item.unitPrice !== null) assertCoefficient('unitPrice', item.unitPrice);
    assertCoefficient('amount', item.amount);
    assertCoefficient('discount', item.discount);
    if (item.cost !== null) assertStorableCost(item.cost);
  }
}

function assertStorableCost({ amount, currency, ruleSetVersion }: ItemCostRow): void {
  if (currency === '') throw new RangeError('a cost has a currency');
  assertCoefficient('cost amount', amount);
  assertInteger('cost ruleSetVersion', ruleSetVersion, UINT32_MAX);
}

function assertInteger(name: string, value: number, max: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= max) return;
  throw new RangeError(`${name} is ${value}, and not an integer from 0 to ${max}`);
}

function assertCoefficient(name: string, value: bigint): void {
  if (value < COEFFICIENT_BOUND && value > -COEFFICIENT_BOUND) return;
  throw new RangeError(`${name} has more than 38 digits`);
}

/** Whether a correction has left an amount on the event: see `corrections/remainder.ts`. */
export function hasRemainder({ items }: Pick<UsageEventRow, 'items'>): boolean {
  return items.some(({ source }) => source === 'correction');
}

/** Whether a row has a remainder and no price: then its account is the one that has paid before. */
export function isPostedByRemainder({ items }: Pick<UsageEventRow, 'items'>): boolean {
  return (
    hasRemainder({ items }) &&
    items.every(({ source, currency }) => source === 'correction' || currency === '')
  );
}

import type { ProjectRef } from '../../kernel/scope.js';
import { type CountableItem, type Counter, counterKey, counterOf } from '../counters/index.js';
import { type TotalPrices, type TotalRule, totalsOfItem } from '../rules/index.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';

/** The items that are taken out of counters, which are in force; and those that are put in. */
export type CountSide = 'out' | 'in';

/** A charge item that a correction takes out of a counter, or puts in. Decimals × 10^18. */
export interface Count extends CountableItem {
  readonly side: CountSide;
  /** 32 hex digits. */
  readonly eventId: string;
  /** The place of the charge item in its event. */
  readonly item: number;
  readonly partNo: number;
  readonly rule: TotalRule;
  /** When the event was rated last, or `NOT_RATED_MS`. */
  readonly ratedAtMs: number;
  /**
   * The totals around it. Until an item that is put in is counted, those of the item that the event has in this counter
   * and period now; undefined if it has none.
   */
  readonly before: bigint | undefined;
  readonly after: bigint | undefined;
  /** Before discounts; until it is counted, that of the same item, or 0. */
  readonly amount: bigint;
  /** The amount that taking it out gives back. */
  readonly given: bigint;
  readonly isFailed: boolean;
  /** Whether the event stays as it is, because its result is the same. */
  readonly isKept: boolean;
}

/** In place of the time when a failed event was rated. */
export const NOT_RATED_MS = Number.MAX_SAFE_INTEGER;

/** A period of a counter that a correction changes. */
export interface ChangedPeriod {
  readonly counter: Counter;
  readonly key: Buffer;
  /** Unix seconds. */
  readonly startS: number;
  /** Exclusive; undefined for a lifetime. */
  readonly endS: number | undefined;
}

/** A count with its period. */
export interface PeriodCount {
  readonly period: ChangedPeriod;
  readonly count: Omit<Count, 'partNo'>;
}

/** Returns one text for each period of a counter of a project. */
export function periodKey({ key, startS }: Pick<ChangedPeriod, 'key' | 'startS'>): string {
  return `${key.toString('hex')} ${startS}`;
}

/** Whether a total has set the amount of a charge item. */
export function isByTotal({ cumulative, source }: UsageItemRow): boolean {
  return cumulative !== '' && source !== 'correction';
}

/** Returns what was charged for an item by its total: the discount is not part of it. */
export function beforeDiscount({ amount, discount }: UsageItemRow): bigint {
  return amount + discount;
}

export function totalRuleOf(
  { extractorRuleSetId, extractorVersion }: Pick<UsageEventRow, 'extractorRuleSetId' | 'extractorVersion'>,
  { pricingSource, ruleSetId, ruleSetVersion, ruleName, cumulative }: UsageItemRow,
): TotalRule {
  if (pricingSource !== 'extractor' && pricingSource !== 'pricing_rule_set')
    throw new Error(`a charge item with the price source ${pricingSource} has a total`);
  const { counter } = totalsOfItem(cumulative);
  const rule = { pricingSource, ruleSetId, ruleSetVersion, ruleName, counter };
  return { ...rule, extractorRuleSetId, extractorVersion };
}

/** Returns the items of a row in force that are in counters, each with its period. */
export async function countsInForce(
  project: ProjectRef,
  prices: TotalPrices,
  row: UsageEventRow,
  eventId: string,
): Promise<PeriodCount[]> {
  const { subjectType: type, subjectId: id, accountId, dimensions } = row;
  const owner = { subject: id === '' ? undefined : { type, id }, accountId };
  const counts: PeriodCount[] = [];
  for (const [index, item] of row.items.entries()) {
    if (!isByTotal(item)) continue;
    const rule = totalRuleOf(row, item);
    const { counter: definition } = await prices.of(rule);
    const value = definition.of === undefined ? undefined : dimensions.get(definition.of);
    const by = definition.by.map((name) => dimensions.get(name) ?? null);
    const { ruleSetId, quantity } = item;
    const counter = counterOf(project, { counter: definition, ruleSetId, by }, owner);
    if (counter === undefined) throw new Error(`a charge item of evt_${eventId} has a total and no counter`);
    const { periodStart, before, after } = totalsOfItem(item.cumulative);
    const key = counterKey(counter);
    counts.push({
      period: { counter, key, startS: periodStart, endS: undefined },
      count: {
        ...{ side: 'out', eventId, item: index, rule, quantity, value, before, after },
        ...{ ratedAtMs: row.processedAtMs, amount: beforeDiscount(item), given: 0n },
        ...{ isFailed: false, isKept: false },
      },
    });
  }
  return counts;
}

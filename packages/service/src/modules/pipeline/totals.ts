import { compareText } from '../../kernel/compare-text.js';
import { addTo, present } from '../../kernel/present.js';
import type { WalletDebit } from '../limits/index.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';

const SECONDS_PER_DAY = 86_400;

/** The sums that one batch adds to a row of `usage_totals`. Amounts and quantities are value × 10^18. */
export interface UsageTotal {
  readonly tenantId: string;
  readonly projectId: string;
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly metric: string;
  readonly unit: string;
  readonly currency: string;
  itemCount: number;
  quantity: bigint;
  amount: bigint;
  /** Costs in this currency, and the number of charge items that have one. */
  cost: bigint;
  costCount: number;
}

/** The counts that one batch adds to a row of `usage_event_totals`. */
export interface EventTotal {
  readonly tenantId: string;
  readonly projectId: string;
  readonly day: number;
  processed: number;
  failed: number;
  voided: number;
  /** Processed events with a charge item without a price. */
  unpriced: number;
  /** Corrections of events of the day, which only grow. */
  corrections: number;
}

/** The counts that one batch adds to a row of `ingest_totals`. */
export interface IngestTotal {
  readonly tenantId: string;
  readonly projectId: string;
  processed: number;
  failed: number;
  voided: number;
  duplicate: number;
}

/** A project that a batch has rows of. */
export interface ChangedProject {
  readonly projectId: string;
  /** Empty when all of its rows are failed. */
  readonly changed: readonly ChangedRange[];
  /** The first and the last day of its rows, as days since 1970, UTC. */
  readonly firstDay: number;
  readonly lastDay: number;
}

interface DayTotals {
  readonly events: EventTotal;
  readonly byMetric: Map<string, UsageTotal[]>;
}

interface ProjectTotals {
  readonly ingest: IngestTotal;
  readonly changed: ChangedMinutes;
  readonly days: Map<number, DayTotals>;
}

/**
 * Sums a batch, so that each hot row is written once per batch and not once per event. The lists are sorted by primary
 * key: every worker locks rows in the same order.
 */
export class BatchTotals {
  readonly #projects = new Map<string, ProjectTotals>();

  /**
   * Counts a row of `usage_events`; `replacesFailed` when it replaces a failed one. A reversal row, whose charge items
   * are negative, counts −1.
   */
  addRow(row: UsageEventRow, replacesFailed: boolean): void {
    const project = this.#project(row.tenantId, row.projectId);
    const day = dayOf(project, Math.floor(row.occurredAt / SECONDS_PER_DAY));
    const outcome = row.status;
    const count = row.isReversal ? -1 : 1;
    day.events[outcome] += count;
    project.ingest[outcome] += count;
    if (row.isReversal) day.events.corrections++;
    if (replacesFailed) {
      day.events.failed--;
      project.ingest.failed--;
    }
    for (const item of row.items) addItem(day, item, item.source === 'correction' ? 0 : count);
    if (row.items.some(isUnpriced)) day.events.unpriced += count;
    if (row.items.length > 0) project.changed.add(row.occurredAt);
  }

  addDuplicates(tenantId: string, projectId: string, count: number): void {
    this.#project(tenantId, projectId).ingest.duplicate += count;
  }

  /** Returns all projects that have rows, and when their events and charge items occurred. */
  projects(): ChangedProject[] {
    const withRows = [...this.#projects.values()].filter(({ days }) => days.size > 0);
    return withRows.map(({ ingest, changed, days }) => ({
      projectId: ingest.projectId,
      changed: changed.spans(),
      firstDay: Math.min(...days.keys()),
      lastDay: Math.max(...days.keys()),
    }));
  }

  usageTotals(): UsageTotal[] {
    const totals: UsageTotal[] = [];
    for (const { days } of this.#projects.values()) {
      for (const { byMetric } of days.values()) {
        for (const sameMetric of byMetric.values()) totals.push(...sameMetric);
      }
    }
    return totals.sort(
      (a, b) =>
        compareText(a.projectId, b.projectId) ||
        a.day - b.day ||
        compareText(a.metric, b.metric) ||
        compareText(a.unit, b.unit) ||
        compareText(a.currency, b.currency),
    );
  }

  eventTotals(): EventTotal[] {
    const totals: EventTotal[] = [];
    for (const { days } of this.#projects.values()) {
      for (const { events } of days.values()) totals.push(events);
    }
    return totals.sort((a, b) => compareText(a.projectId, b.projectId) || a.day - b.day);
  }

  ingestTotals(): IngestTotal[] {
    const totals = [...this.#projects.values()].map(({ ingest }) => ingest);
    return totals.sort((a, b) => compareText(a.projectId, b.projectId));
  }

  #project(tenantId: string, projectId: string): ProjectTotals {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      const ingest = { tenantId, projectId, processed: 0, failed: 0, voided: 0, duplicate: 0 };
      project = { ingest, changed: new ChangedMinutes(), days: new Map() };
      this.#projects.set(projectId, project);
    }
    return project;
  }
}

function dayOf({ ingest: { tenantId, projectId }, days }: ProjectTotals, day: number): DayTotals {
  let totals = days.get(day);
  if (totals === undefined) {
    totals = {
      events: { tenantId, projectId, day, processed: 0, failed: 0, voided: 0, unpriced: 0, corrections: 0 },
      byMetric: new Map(),
    };
    days.set(day, totals);
  }
  return totals;
}

function isUnpriced({ pricingSource }: UsageItemRow): boolean {
  return pricingSource === 'unpriced';
}

/** Adds an item to the sums of its currency, and its cost to those of the cost's currency. */
function addItem(day: DayTotals, item: UsageItemRow, count: number): void {
  const total = totalOf(day, item, item.currency);
  total.itemCount += count;
  total.quantity += item.quantity;
  total.amount += item.amount;
  const { cost } = item;
  if (cost === null) return;
  const costTotal = cost.currency === item.currency ? total : totalOf(day, item, cost.currency);
  costTotal.cost += cost.amount;
  costTotal.costCount += count;
}

function totalOf(
  { events, byMetric }: DayTotals,
  { metric, unit }: UsageItemRow,
  currency: string,
): UsageTotal {
  const sameMetric = byMetric.get(metric);
  // A metric almost always has one unit and one currency, so a list is faster than a composed key.
  for (const total of sameMetric ?? []) if (total.unit === unit && total.currency === currency) return total;
  const { tenantId, projectId, day } = events;
  const sums = { itemCount: 0, quantity: 0n, amount: 0n, cost: 0n, costCount: 0 };
  const total = { tenantId, projectId, day, metric, unit, currency, ...sums };
  if (sameMetric === undefined) byMetric.set(metric, [total]);
  else sameMetric.push(total);
  return total;
}

/** A range of `occurred_at` in Unix seconds, `from` inclusive and `to` exclusive. */
export interface ChangedRange {
  readonly from: number;
  readonly to: number;
}

const MINUTE_S = 60;
/**
 * Upper bound of the ranges of a project. When there are more, ranges with the smallest gaps are joined: unchanged
 * minutes may be reported, but changed ones are never left out.
 */
export const CHANGED_RANGES_MAX = 16;

/** The minutes that contain a project's charge items of one batch. */
export class ChangedMinutes {
  readonly #minutes = new Set<number>();
  #last = -1;

  add(occurredAt: number): void {
    const minute = Math.floor(occurredAt / MINUTE_S);
    // Consecutive events almost always lie in one minute.
    if (minute === this.#last) return;
    this.#last = minute;
    this.#minutes.add(minute);
  }

  /** Returns ascending ranges with gaps between them; at most `CHANGED_RANGES_MAX`. */
  spans(): ChangedRange[] {
    const minutes = [...this.#minutes].sort((a, b) => a - b);
    const gaps = minutes
      .slice(1)
      .map((minute, index) => minute - present(minutes[index], 'the minute before'));
    const gapsKept = gaps.filter((gap) => gap > 1).sort((a, b) => b - a);
    const isFew = gapsKept.length < CHANGED_RANGES_MAX;
    const gapMin = isFew ? 1 : present(gapsKept[CHANGED_RANGES_MAX - 1], 'the largest gap that is closed');
    const spans: { from: number; to: number }[] = [];
    let previous = Number.NEGATIVE_INFINITY;
    for (const minute of minutes) {
      const last = spans.at(-1);
      const to = (minute + 1) * MINUTE_S;
      if (last === undefined || minute - previous > gapMin) spans.push({ from: minute * MINUTE_S, to });
      else last.to = to;
      previous = minute;
    }
    return spans;
  }
}

/** The posted amounts of a batch's rows, added up independently of the posting plan. */
export class PostedTotals {
  readonly #byTransaction = new Map<string, bigint>();

  addRow({ items, itemTransactionIds }: UsageEventRow): void {
    for (const [index, id] of itemTransactionIds.entries()) {
      if (id === '') continue;
      const item = items[index];
      if (item === undefined) throw new Error(`ledger transaction ${id} is named for a missing charge item`);
      addTo(this.#byTransaction, id, item.amount);
    }
  }

  /** @throws Error unless each debit is the sum of the charge items that name it: such a batch must not commit */
  assertEqual(debits: readonly WalletDebit[]): void {
    for (const { transactionId, amount } of debits) {
      if (this.#byTransaction.get(transactionId) !== amount) {
        throw new Error(`ledger transaction ${transactionId} is not the sum of its charge items`);
      }
    }
    if (debits.length !== this.#byTransaction.size) {
      throw new Error(
        `charge items name ${this.#byTransaction.size} ledger transactions, not ${debits.length}`,
      );
    }
  }
}

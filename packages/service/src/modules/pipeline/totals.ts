import { compareText } from '../../kernel/compare-text.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';
import { ChangedMinutes, type ChangedRange } from './changed-ranges.js';

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
}

/** The counts that one batch adds to a row of `usage_event_totals`. */
export interface EventTotal {
  readonly tenantId: string;
  readonly projectId: string;
  readonly day: number;
  processed: number;
  failed: number;
  /** Processed events with a charge item without a price. */
  unpriced: number;
}

/** The counts that one batch adds to a row of `ingest_totals`. */
export interface IngestTotal {
  readonly tenantId: string;
  readonly projectId: string;
  processed: number;
  failed: number;
  duplicate: number;
}

/** A project that a batch has rows of. */
export interface ChangedProject {
  readonly projectId: string;
  /** Empty when all of its rows are failed. */
  readonly changed: readonly ChangedRange[];
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

  /** Counts a row of `usage_events`; `replacesFailed` when it replaces a failed one. */
  addRow(row: UsageEventRow, replacesFailed: boolean): void {
    const project = this.#project(row.tenantId, row.projectId);
    const day = dayOf(project, Math.floor(row.occurredAt / SECONDS_PER_DAY));
    const outcome = row.status;
    day.events[outcome]++;
    project.ingest[outcome]++;
    if (replacesFailed) {
      day.events.failed--;
      project.ingest.failed--;
    }
    for (const item of row.items) addItem(day, item);
    if (row.items.some(isUnpriced)) day.events.unpriced++;
    if (row.items.length > 0) project.changed.add(row.occurredAt);
  }

  addDuplicates(tenantId: string, projectId: string, count: number): void {
    this.#project(tenantId, projectId).ingest.duplicate += count;
  }

  /** Returns all projects that have rows, and when their charge items occurred. */
  projects(): ChangedProject[] {
    const withRows = [...this.#projects.values()].filter(({ days }) => days.size > 0);
    return withRows.map(({ ingest, changed }) => ({ projectId: ingest.projectId, changed: changed.spans() }));
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
      const ingest = { tenantId, projectId, processed: 0, failed: 0, duplicate: 0 };
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
      events: { tenantId, projectId, day, processed: 0, failed: 0, unpriced: 0 },
      byMetric: new Map(),
    };
    days.set(day, totals);
  }
  return totals;
}

function isUnpriced({ pricingSource }: UsageItemRow): boolean {
  return pricingSource === 'unpriced';
}

function addItem({ events, byMetric }: DayTotals, item: UsageItemRow): void {
  const sameMetric = byMetric.get(item.metric);
  // A metric almost always has one unit and one currency, so a list is faster than a composed key.
  for (const total of sameMetric ?? []) {
    if (total.unit === item.unit && total.currency === item.currency) {
      total.itemCount++;
      total.quantity += item.quantity;
      total.amount += item.amount;
      return;
    }
  }
  const { tenantId, projectId, day } = events;
  const { metric, unit, currency, quantity, amount } = item;
  const total = { tenantId, projectId, day, metric, unit, currency, itemCount: 1, quantity, amount };
  if (sameMetric === undefined) byMetric.set(metric, [total]);
  else sameMetric.push(total);
}

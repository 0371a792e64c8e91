import type { CorrectionFilter } from '@tollgate/contract';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { ProjectHistory } from '../storage/index.js';
import {
  type DimensionCondition,
  dimensionConditions,
  type EventFilter,
  isOfItem,
  matchingIds,
  meetsCondition,
  secondsOfId,
  type UsageEventRow,
} from '../usage/index.js';
import { idOf, type OpenCorrection } from './correction.js';
import { countSelected, failedIdsAmong } from './selection-store.js';

/** The events of a correction. */
export type CorrectedSelection =
  | { readonly kind: 'event'; readonly eventId: string }
  | { readonly kind: 'filter'; readonly filter: CorrectionFilter }
  | {
      readonly kind: 'backtest';
      readonly ruleSetId: string;
      readonly from: number;
      readonly to: number;
      /** The share of events, chosen by their ids as a backtest does. */
      readonly share: number;
    };

/** The next events of a selection. */
export interface MatchingEvents {
  /** 32 hex digits each, ascending; some of them may not match. */
  readonly ids: readonly string[];
  /** Whether the row in force of one of them matches. */
  readonly matches: (row: UsageEventRow) => boolean;
  /** Whether no events follow. */
  readonly isEnd: boolean;
}

/** After its time, an id consists of digits of a hash, or of random ones: the first 32 bits choose a sample. */
const SAMPLE_SPACE = 2 ** 32;

/** Returns the events after those that were planned. */
export async function matchingPage(
  history: ProjectHistory,
  selection: CorrectedSelection,
  { plannedUpTo }: Pick<OpenCorrection, 'plannedUpTo'>,
  limit: number,
): Promise<MatchingEvents> {
  if (selection.kind === 'event') return { ids: [selection.eventId], matches: () => true, isEnd: true };
  const filter = eventFilter(selection);
  const found: string[] = [];
  let isEnd = false;
  // Events that were corrected before have several rows, so one page may have fewer events than rows.
  while (!isEnd && found.length < limit) {
    const after = found.at(-1) ?? plannedUpTo ?? undefined;
    const page = await matchingIds(history, filter, after, limit, 'oldest');
    found.push(...page.ids);
    isEnd = page.isEnd;
  }
  const ids = found.slice(0, limit);
  return { ids, isEnd: isEnd && ids.length === found.length, matches: matcherOf(selection) };
}

/** The number of events of a selection. */
export interface MatchingCount {
  readonly events: number;
  /** Whether it is not too high. A backtest's may be: of voided events, and of those beside its sample. */
  readonly isExact: boolean;
}

export async function countMatching(
  history: ProjectHistory,
  selection: CorrectedSelection,
): Promise<MatchingCount> {
  if (selection.kind === 'event') return { events: 1, isExact: true };
  const filter = eventFilter(selection);
  const isExact = selection.kind === 'filter' && filter.status !== 'failed';
  return { events: await countSelected(history, filter), isExact };
}

/** Whether an event (32 hex digits, which begin with its time) is older than the history that the project keeps. */
export function isHidden({ scope }: Pick<ProjectHistory, 'scope'>, eventId: string): boolean {
  return secondsOfId(eventId) < scope.retainedFrom;
}

/** Leaves out failed events that are not stored any more, because they are being rated again. */
export async function failedAmong(db: ProjectDb, rows: readonly UsageEventRow[]): Promise<UsageEventRow[]> {
  const failed = rows.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return [...rows];
  const stored = await failedIdsAmong(db, failed.map(idOf));
  return rows.filter((row) => row.status !== 'failed' || stored.has(idOf(row)));
}

function eventFilter(selection: Exclude<CorrectedSelection, { kind: 'event' }>): EventFilter {
  if (selection.kind === 'backtest') {
    const { ruleSetId, from, to } = selection;
    return { from, to, extractor_rule_set_id: ruleSetId, conditions: [] };
  }
  const { dimensions, metric, status = 'processed', ...rest } = selection.filter;
  return {
    ...rest,
    status,
    ...(metric === undefined ? {} : { metric: [metric] }),
    conditions: dimensionConditions(dimensions),
  };
}

/** Returns whether the row in force of an event is selected. */
function matcherOf(selection: Exclude<CorrectedSelection, { kind: 'event' }>): MatchingEvents['matches'] {
  if (selection.kind === 'backtest') {
    const isInSample = ({ rawEventId }: UsageEventRow) =>
      Buffer.from(rawEventId).readUInt32BE(4) < selection.share * SAMPLE_SPACE;
    return (row) => isInSample(row) && row.status !== 'voided';
  }
  const {
    status = 'processed',
    subject_type,
    subject_id,
    metric,
    pricing_source,
    dimensions,
  } = selection.filter;
  const conditions = dimensionConditions(dimensions);
  const ofItem = { metric, source: pricing_source, conditions: conditions.filter(isOfItem) };
  const ofEvent = conditions.filter((condition) => !isOfItem(condition));
  return (row) =>
    row.status === status &&
    (subject_type === undefined || row.subjectType === subject_type) &&
    (subject_id === undefined || row.subjectId === subject_id) &&
    hasItem(row, ofItem) &&
    (ofEvent.length === 0 || meetsAll(row, ofEvent));
}

function meetsAll(row: UsageEventRow, conditions: readonly DimensionCondition[]): boolean {
  const side = {
    subject_type: row.subjectType,
    subject_id: row.subjectId,
    account_id: row.accountId,
    dimensions: Object.fromEntries(row.dimensions),
  };
  return conditions.every((condition) => meetsCondition(side, condition));
}

interface ItemSelection {
  readonly metric: string | undefined;
  readonly source: CorrectionFilter['pricing_source'];
  readonly conditions: readonly DimensionCondition[];
}

/** Whether one charge item meets all conditions. */
function hasItem({ items }: UsageEventRow, { metric, source, conditions }: ItemSelection): boolean {
  if (metric === undefined && source === undefined && conditions.length === 0) return true;
  return items.some(
    (item) =>
      (metric === undefined || item.metric === metric) &&
      (source === undefined || item.pricingSource === source) &&
      conditions.every((condition) => meetsCondition({ pricing_source: item.pricingSource }, condition)),
  );
}

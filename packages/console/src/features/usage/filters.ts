import {
  type DimensionFilter,
  UNIX_SECONDS_MAX,
  type UsageEvent,
  type UsageEventsQuery,
} from '@tollgate/contract';
import type { EventsQuery } from '@tollgate/sdk/browser';

/** Text filters of the list, with their labels. */
export const TEXT_FILTERS = {
  subject_type: 'Subject type',
  subject_id: 'Subject ID',
  metric: 'Metric',
  currency: 'Currency',
  source: 'Source',
  failure_code: 'Failure code',
  extractor_rule_set_id: 'Rule set',
  external_event_id: 'External ID',
  ledger_transaction_id: 'Ledger transaction',
} as const;
export type TextFilter = keyof typeof TEXT_FILTERS;
const TEXT_FILTER_NAMES = Object.keys(TEXT_FILTERS) as readonly TextFilter[];

/** Sources of a price, with their names in the filter. */
export const PRICING_SOURCES = {
  unpriced: 'Without a price',
  pricing_rule_set: 'Priced by a rule',
  extractor: 'Priced by the extractor',
  hint: 'Priced by the event',
} as const;
type PricingSource = keyof typeof PRICING_SOURCES;

/** Codes of notes, with their names in the filter. */
export const NOTES = {
  any: 'With a note',
  quantity_clamped: 'Quantity set to 0',
  quantity_kept: 'Nothing subtracted',
  cost_failed: 'Cost failed',
  quantity_parts_beside: 'Parts reported separately',
} as const satisfies Record<NonNullable<UsageEventsQuery['note']>, string>;

const STATUSES: readonly UsageEvent['status'][] = ['processed', 'failed', 'voided'];

/** The filters of the list. The time range is the last N seconds (`last`), a fixed range, or unlimited. */
export interface Filters extends Partial<Record<TextFilter, string>> {
  readonly status?: UsageEvent['status'];
  readonly pricing_source?: PricingSource;
  readonly note?: keyof typeof NOTES;
  /** Conditions on dimensions, as JSON. */
  readonly filters?: string;
  readonly last?: number;
  readonly from?: number;
  readonly to?: number;
}

/** The query to the service: the filters, with a relative time range resolved to times. */
export type EventQuery = Omit<UsageEventsQuery, 'limit' | 'cursor' | 'count'>;

/** The query in the form of the SDK, which takes conditions as an object. */
export function eventsQuery({ filters, ...rest }: EventQuery): EventsQuery {
  const conditions = conditionsOf(filters ?? '');
  return { ...rest, ...(Object.keys(conditions).length === 0 ? {} : { filters: conditions }) };
}

/** Reads the filters from the address. Invalid values are ignored. */
export function filtersOf(parameters: URLSearchParams): Filters {
  const status = parameters.get('status');
  const pricing = parameters.get('pricing_source') ?? '';
  const note = parameters.get('note') ?? '';
  const texts = TEXT_FILTER_NAMES.map((name) => [name, parameters.get(name) ?? ''] as const);
  const times = (['last', 'from', 'to'] as const).map(
    (name) => [name, secondsOf(parameters.get(name))] as const,
  );
  return Object.fromEntries([
    ...(STATUSES.some((each) => each === status) ? [['status', status]] : []),
    ...(Object.hasOwn(PRICING_SOURCES, pricing) ? [['pricing_source', pricing]] : []),
    ...(Object.hasOwn(NOTES, note) ? [['note', note]] : []),
    ...texts.filter(([, text]) => text !== ''),
    ...filtersText(conditionsOf(parameters.get('filters') ?? '')),
    ...times.filter(([, seconds]) => seconds !== undefined),
  ]);
}

function secondsOf(text: string | null): number | undefined {
  if (text === null || !/^\d{1,12}$/.test(text)) return undefined;
  return Math.min(Number(text), UNIX_SECONDS_MAX);
}

/** @param nowS the end of a relative time range */
export function eventQueryOf({ last, metric, ...filters }: Filters, nowS: number): EventQuery {
  const eventQuery = {
    ...filters,
    ...(metric === undefined ? {} : { metric: metric.split(/[\s,]+/).filter(Boolean) }),
  };
  return last === undefined ? eventQuery : { ...eventQuery, from: Math.max(nowS - last, 0) };
}

export type Conditions = Readonly<Record<string, DimensionFilter>>;

/** Parses conditions from JSON text. Invalid text or conditions are ignored. */
export function conditionsOf(text: string): Conditions {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, filter]) => isCondition(filter)));
  } catch {
    return {};
  }
}

function isCondition(value: unknown): value is DimensionFilter {
  if (typeof value !== 'object' || value === null) return false;
  const [[name, operand] = [], ...others] = Object.entries(value);
  if (others.length > 0) return false;
  if (name === 'exists') return typeof operand === 'boolean';
  const isList = Array.isArray(operand) && operand.length > 0;
  return (name === 'in' || name === 'not_in') && isList && operand.every((each) => typeof each === 'string');
}

/** The parameter for the conditions; empty if there are no conditions. */
export function filtersText(conditions: Conditions): [name: 'filters', text: string][] {
  return Object.keys(conditions).length === 0 ? [] : [['filters', JSON.stringify(conditions)]];
}

/** Whether new events can match: not if the time range has an end. */
export function isOpenEnded({ to }: Filters): boolean {
  return to === undefined;
}

/** Whether a time range and a failure code express all filters, so that one request reprocesses all failed events. */
export function isRangeOfFailures(filters: Filters): boolean {
  const { pricing_source: pricing, note, filters: conditions } = filters;
  if (pricing !== undefined || note !== undefined || conditions !== undefined) return false;
  return TEXT_FILTER_NAMES.every((name) => name === 'failure_code' || filters[name] === undefined);
}

/** Both ends of a time range, with defaults for open ends. */
export function filterBounds({ from = 0, to = UNIX_SECONDS_MAX }: EventQuery): { from: number; to: number } {
  return { from, to };
}

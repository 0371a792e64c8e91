import { type CorrectionFilter, UNIX_SECONDS_MAX } from '@tollgate/contract';
import { dateTime } from '../../format.js';
import { conditionsOf, type EventQuery, filterBounds, filtersText, TEXT_FILTERS } from '../usage/filters.js';

/** Filters of the list that a correction does not have, with their labels. */
const LIST_ONLY = {
  currency: TEXT_FILTERS.currency,
  failure_code: TEXT_FILTERS.failure_code,
  note: 'Notes',
  external_event_id: TEXT_FILTERS.external_event_id,
  ledger_transaction_id: TEXT_FILTERS.ledger_transaction_id,
} as const;

/** The filter of a correction, or the labels of the filters that a correction cannot have. */
export type FilterReading =
  | { readonly isUsable: true; readonly filter: CorrectionFilter }
  | { readonly isUsable: false; readonly labels: readonly string[] };

/** Converts the filters of the list. An open end of the time range becomes the end of all times. */
export function correctionFilterOf(eventQuery: EventQuery): FilterReading {
  const { metric = [], filters = '', from: _from, to: _to, ...rest } = eventQuery;
  const labels = (Object.keys(LIST_ONLY) as (keyof typeof LIST_ONLY)[])
    .filter((name) => eventQuery[name] !== undefined)
    .map((name): string => LIST_ONLY[name]);
  if (metric.length > 1) labels.push('Several metrics');
  if (labels.length > 0) return { isUsable: false, labels };
  const dimensions = conditionsOf(filters);
  const [only] = metric;
  return {
    isUsable: true,
    filter: {
      ...filterBounds(eventQuery),
      ...fieldsOf(rest),
      ...(only === undefined ? {} : { metric: only }),
      ...(Object.keys(dimensions).length === 0 ? {} : { dimensions }),
    },
  };
}

/** The fields that both filters have. */
function fieldsOf(query: Partial<EventQuery>): Omit<CorrectionFilter, 'from' | 'to'> {
  const { status, subject_type, subject_id, source, extractor_rule_set_id, pricing_source } = query;
  const fields = { status, subject_type, subject_id, source, extractor_rule_set_id, pricing_source };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const LABELS = {
  status: 'Status',
  subject_type: TEXT_FILTERS.subject_type,
  subject_id: TEXT_FILTERS.subject_id,
  metric: TEXT_FILTERS.metric,
  source: TEXT_FILTERS.source,
  extractor_rule_set_id: TEXT_FILTERS.extractor_rule_set_id,
  pricing_source: 'Price',
} as const;

/** Names and values that describe the events of a correction. */
export function describeFilter(filter: CorrectionFilter): (readonly [name: string, value: string])[] {
  const { from, to, dimensions = {} } = filter;
  const fields = { ...filter, status: filter.status ?? 'processed' };
  return [
    ['Time (UTC)', timeText(from, to)] as const,
    ...(Object.keys(LABELS) as (keyof typeof LABELS)[]).flatMap((name) => {
      const value = fields[name];
      return value === undefined ? [] : [[LABELS[name], value] as const];
    }),
    ...Object.entries(dimensions).map(([name, condition]) => [name, conditionText(condition)] as const),
  ];
}

function timeText(from: number, to: number): string {
  const start = from === 0 ? undefined : dateTime(from, 'UTC');
  const end = to === UNIX_SECONDS_MAX ? undefined : dateTime(to, 'UTC');
  if (start === undefined) return end === undefined ? 'all times' : `until ${end}`;
  return end === undefined ? `since ${start}` : `${start} – ${end}`;
}

function conditionText(condition: NonNullable<CorrectionFilter['dimensions']>[string]): string {
  if ('in' in condition) return `is ${condition.in.join(' or ')}`;
  if ('not_in' in condition) return `is not ${condition.not_in.join(' or ')}`;
  return condition.exists ? 'is present' : 'is absent';
}

/** The parameters of the list of usage that show the events of a correction. */
export function listAddress({ from, to, dimensions, ...fields }: CorrectionFilter): string {
  return new URLSearchParams([
    ...(from === 0 ? [] : [['from', String(from)]]),
    ...(to === UNIX_SECONDS_MAX ? [] : [['to', String(to)]]),
    ...Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ...filtersText(dimensions ?? {}),
  ]).toString();
}

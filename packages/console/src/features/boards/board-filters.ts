import type { Chart, DimensionFilter } from '@tollgate/contract';
import { listedFilters } from './metrics.js';

/** Conditions on dimensions by name, which hold for every chart of a board. */
export type BoardFilters = Readonly<Record<string, DimensionFilter>>;

const NAME = 'filters';
/** A longer text in an address is not a link that the console has made. */
const CHARS_MAX = 4_000;

/** Reads the filters from the address of a board; conditions that are not understood are left out. */
export function boardFiltersOf(address: URLSearchParams): BoardFilters {
  const text = address.get(NAME) ?? '';
  if (text === '' || text.length > CHARS_MAX) return {};
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return {};
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return {};
  return listedFilters(Object.fromEntries(Object.entries(found).filter(([, filter]) => isFilter(filter))));
}

/** The parameter of these filters; conditions without values are left out. */
export function boardFiltersAddress(filters: BoardFilters): Record<string, string> {
  const complete = Object.entries(filters).filter(
    ([, { in: some, not_in: none }]) => (some ?? none)?.length !== 0,
  );
  return complete.length === 0 ? {} : { [NAME]: JSON.stringify(Object.fromEntries(complete)) };
}

/** A chart, with the filters of the board in its query. */
export interface FilteredChart {
  readonly chart: Chart;
  /** The dimension on which no usage can meet both conditions, that of the chart and that of the board. */
  readonly conflict: string | undefined;
}

/** Adds the filters of a board to the query of a chart: all must hold. */
export function filteredChart(chart: Chart, filters: BoardFilters): FilteredChart {
  const all: Record<string, DimensionFilter> = listedFilters(chart.query.filters ?? {});
  for (const [name, filter] of Object.entries(filters)) {
    const own = Object.hasOwn(all, name) ? all[name] : undefined;
    const both = own === undefined ? filter : bothOf(own, filter);
    if (both === undefined) return { chart, conflict: name };
    all[name] = both;
  }
  return { chart: { ...chart, query: { ...chart.query, filters: all } }, conflict: undefined };
}

/** The condition that is met where both are; undefined if none is, or a single one cannot say it. */
function bothOf(a: DimensionFilter, b: DimensionFilter): DimensionFilter | undefined {
  if (a.in !== undefined || b.in !== undefined) {
    const values = (a.in ?? b.in ?? []).filter((value) => isMet(a, value) && isMet(b, value));
    return values.length === 0 ? undefined : { in: values };
  }
  if (a.not_in !== undefined && b.not_in !== undefined) {
    return { not_in: [...new Set([...a.not_in, ...b.not_in])] };
  }
  return a.exists !== undefined && a.exists === b.exists ? a : undefined;
}

function isMet({ in: some, not_in: none, exists }: DimensionFilter, value: string): boolean {
  return exists !== false && (some?.includes(value) ?? true) && none?.includes(value) !== true;
}

function isFilter(value: unknown): value is DimensionFilter {
  if (typeof value !== 'object' || value === null) return false;
  const [condition, ...others] = Object.entries(value);
  if (condition === undefined || others.length > 0) return false;
  const [name, content] = condition;
  if (name === 'exists') return typeof content === 'boolean';
  const isList = Array.isArray(content) && content.length > 0;
  return (name === 'in' || name === 'not_in') && isList && content.every((each) => typeof each === 'string');
}

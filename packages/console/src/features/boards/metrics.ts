import { useQuery } from '@tanstack/react-query';
import type { DimensionFilter, MetricsResponse, ReservedName } from '@tollgate/contract';
import { useProjectClient } from '../../project.js';
import { PRICING_SOURCES } from '../usage/filters.js';

export type UsedMetric = MetricsResponse['metrics'][number];

/** The metrics and dimensions of the project's usage. */
export function useMetrics() {
  const project = useProjectClient();
  return useQuery({
    queryKey: ['metrics', project.projectId],
    queryFn: async () => (await project.analysis.metrics()).metrics,
  });
}

/** Names that are no dimensions, in the order of lists, and what people call them. */
const RESERVED_LABELS: Readonly<Record<ReservedName, string>> = {
  '@subject_id': 'subject ID',
  '@subject_type': 'subject type',
  '@account_id': 'account',
  '@pricing_source': 'source of price',
};
const RESERVED = Object.keys(RESERVED_LABELS) as ReservedName[];

/** The name of a dimension, or what people call a reserved name. */
export function nameLabel(name: string): string {
  return RESERVED.includes(name as ReservedName) ? RESERVED_LABELS[name as ReservedName] : name;
}

/** A name as lists have it: the API also takes `subject_type` and `subject_id` without the `@`. */
export function listedName(name: string): string {
  return name === 'subject_type' || name === 'subject_id' ? `@${name}` : name;
}

/** Filters by listed names. Where both forms of a name have one, both are kept. */
export function listedFilters(
  filters: Readonly<Record<string, DimensionFilter>>,
): Record<string, DimensionFilter> {
  const entries = Object.entries(filters).map(([name, filter]) => {
    const listed = listedName(name);
    return [listed !== name && Object.hasOwn(filters, listed) ? name : listed, filter] as const;
  });
  return Object.fromEntries(entries);
}

/** The names by which usage of at least one of the chosen metrics can be grouped: dimensions, then reserved ones. */
export function namesOf(metrics: readonly UsedMetric[], chosen: readonly string[]): string[] {
  const used = metrics.filter(({ metric }) => chosen.includes(metric));
  if (used.length === 0) return [];
  const names = new Set(used.flatMap(({ dimensions }) => dimensions.map(({ name }) => name)));
  const hasSubjects = used.some(({ subject_types }) => subject_types.length > 0);
  return [...[...names].sort(), ...RESERVED.filter((name) => hasSubjects || !name.startsWith('@subject'))];
}

/** Known values of a dimension, or of a reserved name. */
export function valuesOf(metrics: readonly UsedMetric[], name: string): string[] {
  if (name === '@pricing_source') return Object.keys(PRICING_SOURCES);
  if (name === '@subject_type') {
    return [...new Set(metrics.flatMap(({ subject_types }) => subject_types))].sort();
  }
  const values = metrics.flatMap(({ dimensions }) =>
    dimensions.filter((dimension) => dimension.name === name).flatMap(({ sample_values }) => sample_values),
  );
  return [...new Set(values)].sort();
}

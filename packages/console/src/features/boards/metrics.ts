import { useQuery } from '@tanstack/react-query';
import type { MetricsResponse } from '@tollgate/contract';
import { useProjectClient } from '../../project.js';

export type UsedMetric = MetricsResponse['metrics'][number];

/** The metrics and dimensions of the project's usage. */
export function useMetrics() {
  const project = useProjectClient();
  return useQuery({
    queryKey: ['metrics', project.projectId],
    queryFn: async () => (await project.analysis.metrics()).metrics,
  });
}

/** The dimensions by which at least one of the chosen metrics can be grouped. */
export function dimensionsOf(metrics: readonly UsedMetric[], chosen: readonly string[]): string[] {
  const names = metrics
    .filter(({ metric }) => chosen.includes(metric))
    .flatMap(({ dimensions, subject_types }) => [
      ...dimensions.map(({ name }) => name),
      ...(subject_types.length > 0 ? ['subject_type', 'subject_id'] : []),
    ]);
  return [...new Set(names)].sort();
}

/** Known values of a dimension. */
export function valuesOf(metrics: readonly UsedMetric[], name: string): string[] {
  const values = metrics.flatMap(({ dimensions }) =>
    dimensions.filter((dimension) => dimension.name === name).flatMap(({ sample_values }) => sample_values),
  );
  return [...new Set(values)].sort();
}

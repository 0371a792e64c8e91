import { useQuery } from '@tanstack/react-query';
import type { MetricsResponse } from '@tollgate/contract';
import { useProjectClient } from '../../project.js';

export type UsedMetric = MetricsResponse['metrics'][number];

/** What the project has used: what can be drawn, grouped and filtered by. */
export function useMetrics() {
  const project = useProjectClient();
  return useQuery({
    queryKey: ['metrics', project.projectId],
    queryFn: async () => (await project.analysis.metrics()).metrics,
  });
}

/** Names that all of the chosen metrics, or any of them, can be grouped by. */
export function dimensionsOf(metrics: readonly UsedMetric[], chosen: readonly string[]): string[] {
  const names = metrics
    .filter(({ metric }) => chosen.includes(metric))
    .flatMap(({ dimensions, subject_types }) => [
      ...dimensions.map(({ name }) => name),
      ...(subject_types.length > 0 ? ['subject_type', 'subject_id'] : []),
    ]);
  return [...new Set(names)].sort();
}

/** Values that were seen of a dimension. */
export function valuesOf(metrics: readonly UsedMetric[], name: string): string[] {
  const values = metrics.flatMap(({ dimensions }) =>
    dimensions.filter((dimension) => dimension.name === name).flatMap(({ sample_values }) => sample_values),
  );
  return [...new Set(values)].sort();
}

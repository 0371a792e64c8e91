import { type Warning, warningsOf } from '@tollgate/contract';
import type { ProjectRef } from '../../platform/http/index.js';
import type { KnownNames } from '../analysis/index.js';
import type { ChartRow } from './chart-store.js';

/** Names in `group_by` and `filters` that every event can have. */
const NO_DIMENSIONS: ReadonlySet<string> = new Set(['bucket', 'subject_type', 'subject_id']);

/** Names the metrics and dimensions of a chart that no usage of the project has. */
export async function chartWarnings(
  names: Pick<KnownNames, 'unknown'>,
  project: ProjectRef,
  { metrics, group_by: groupBy, filters }: Pick<ChartRow, 'metrics' | 'group_by' | 'filters'>,
): Promise<Warning[]> {
  const dimensions = [...groupBy, ...Object.keys(filters)].filter(
    (name) => !NO_DIMENSIONS.has(name) && !name.startsWith('@'),
  );
  return [
    ...warningsOf('unknown_metric', await names.unknown(project, 'metrics', metrics ?? [])),
    ...warningsOf('unknown_dimension', await names.unknown(project, 'dimensions', dimensions)),
  ];
}

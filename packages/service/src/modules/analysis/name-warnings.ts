import {
  type AnalysisQuery,
  type AnalysisRow,
  uniqueName,
  type Warning,
  warningsOf,
} from '@tollgate/contract';
import type { ProjectRef } from '../../kernel/scope.js';
import { reservedColumn } from '../usage/index.js';
import type { KnownNames } from './known-names.js';

type NamesOfQuery = Pick<AnalysisQuery, 'metrics' | 'group_by' | 'filters' | 'measures'>;

/**
 * Returns warnings about the metrics and dimensions of a query that no usage of the project has, with the nearest name
 * that it has. Names in the rows of its result need no look-up.
 */
export async function nameWarnings(
  names: Pick<KnownNames, 'unknown'>,
  project: ProjectRef,
  { metrics = [], group_by: groupBy = [], filters = {}, measures = [] }: NamesOfQuery,
  rows: readonly AnalysisRow[] = [],
): Promise<Warning[]> {
  const seenMetrics = new Set(rows.map(({ metric }) => metric));
  const seenDimensions = new Set<string>();
  for (const { group } of rows) {
    for (const [name, value] of Object.entries(group)) if (value !== null) seenDimensions.add(name);
  }
  const counted = measures.flatMap((measure) => uniqueName(measure) ?? []);
  const dimensions = [...groupBy, ...Object.keys(filters), ...counted].filter(
    (name) => name !== 'bucket' && reservedColumn(name) === undefined && !seenDimensions.has(name),
  );
  const unseen = metrics.filter((metric) => !seenMetrics.has(metric));
  const unknownMetrics = await names.unknown(project, 'metrics', unseen);
  const unknownDimensions = await names.unknown(project, 'dimensions', dimensions);
  return [
    ...warningsOf('unknown_metric', unknownMetrics.names, unknownMetrics.known),
    ...warningsOf('unknown_dimension', unknownDimensions.names, unknownDimensions.known),
  ];
}

import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { storageTables } from '../storage/index.js';
import type { AnalysisScope } from './query-sql.js';
import { RESOLUTIONS_S } from './source.js';

/** So many names of each kind are read of a project; of one that has more, every name passes for known. */
export const KNOWN_NAMES_MAX = 1_000;

/** The names that a project's usage has. */
export interface UsedNames {
  readonly metrics: readonly string[];
  readonly dimensions: readonly string[];
  readonly subject_types: readonly string[];
}

const NO_NAMES: UsedNames = { metrics: [], dimensions: [], subject_types: [] };

export async function usedNames(
  clickhouse: Pick<ClickHouse, 'query'>,
  scope: AnalysisScope,
): Promise<UsedNames> {
  const [names = NO_NAMES] = await clickhouse.query<UsedNames>(
    `SELECT groupUniqArray({max:UInt32})(toString(metric)) AS metrics,
       groupUniqArray({max:UInt32})(toString(subject_type)) AS subject_types,
       groupUniqArrayArray({max:UInt32})(arrayConcat(mapKeys(dimensions), raw_only)) AS dimensions
     FROM ${storageTables(scope).rollup}
     WHERE tenant_id = {tenant:String} AND project_id = {project:String} AND resolution = {resolution:UInt16}
       AND bucket >= toDateTime({retained_from:UInt32}, 'UTC')`,
    {
      tenant: scope.tenantId,
      project: scope.projectId,
      retained_from: scope.retainedFrom,
      resolution: RESOLUTIONS_S.usage_rollup_1h,
      max: KNOWN_NAMES_MAX,
    },
  );
  return names;
}

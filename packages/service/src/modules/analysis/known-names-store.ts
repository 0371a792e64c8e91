import { isKept, OWN_ROWS, type ProjectHistory } from '../storage/index.js';
import { RESOLUTIONS_S } from './source.js';

/**
 * Upper bound of the names of each kind that are read of a project; in a project with more, every name counts as known.
 */
export const KNOWN_NAMES_MAX = 1_000;

/** The names that a project's usage has; those that only corrected usage had are left out. */
export interface UsedNames {
  readonly metrics: readonly string[];
  readonly dimensions: readonly string[];
  readonly subject_types: readonly string[];
}

const NO_NAMES: UsedNames = { metrics: [], dimensions: [], subject_types: [] };

export async function usedNames(history: ProjectHistory): Promise<UsedNames> {
  const [names = NO_NAMES] = await history.query<UsedNames>(
    `SELECT groupUniqArray({max:UInt32})(toString(metric)) AS metrics,
       groupUniqArray({max:UInt32})(toString(subject_type)) AS subject_types,
       groupUniqArrayArray({max:UInt32})(names) AS dimensions
     FROM (
       SELECT metric, subject_type, arrayConcat(mapKeys(dimensions), raw_only) AS names
       FROM ${history.tables.rollup}
       WHERE ${OWN_ROWS} AND resolution = {resolution:UInt16} AND ${isKept('bucket')}
       GROUP BY metric, subject_type, names HAVING sum(item_count) != 0
     )`,
    {
      resolution: RESOLUTIONS_S.usage_rollup_1h,
      max: KNOWN_NAMES_MAX,
    },
  );
  return names;
}

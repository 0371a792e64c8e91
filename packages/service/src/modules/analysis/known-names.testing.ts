import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { everythingKept } from '../../testing/history.js';
import { ProjectHistory } from '../storage/index.js';
import { KnownNames } from './known-names.js';
import { usedNames } from './known-names-store.js';

/** The names of all usage that a store holds. */
export function namesOf(clickhouse: Pick<ClickHouse, 'query'>): KnownNames {
  return new KnownNames({
    read: async (project) => usedNames(new ProjectHistory(clickhouse, await everythingKept.scopeOf(project))),
  });
}

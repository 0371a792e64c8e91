import type { RuleSetChange } from '@tollgate/contract';
import { boundChanges, diffConfigs } from './diff.js';
import type { RuleSetKind } from './kinds.js';
import type { StoredVersion } from './store.js';

/** The changes since the version before; null for the first. The list is bounded: changes left out are counted. */
export interface VersionChanges {
  readonly changes: readonly RuleSetChange[] | null;
  readonly changes_omitted: number;
}

/** Compares two versions of a rule set by the fields that responses show. */
export function versionChanges<Config extends object>(
  kind: Pick<RuleSetKind<never, Config>, 'shownConfig'>,
  before: StoredVersion<Config> | undefined,
  after: StoredVersion<Config>,
): VersionChanges {
  if (before === undefined) return { changes: null, changes_omitted: 0 };
  const shown = ({ name, template_id, effective_from, config }: StoredVersion<Config>) => ({
    name: name ?? '',
    template_id,
    effective_from,
    ...kind.shownConfig(config),
  });
  return boundChanges(diffConfigs(shown(before), shown(after)));
}

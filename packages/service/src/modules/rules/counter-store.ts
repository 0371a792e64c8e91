import type { ProjectTx } from '../../platform/postgres/index.js';
import type { DefinedCounter } from './extract/index.js';

/** Returns the definition of each counter in the published versions of a rule set, as text, by name. */
export async function publishedCounters(
  tx: ProjectTx,
  ruleSetId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx
    .selectFrom('rule_set_counters')
    .select(['counter', 'definition'])
    .where('rule_set_id', '=', ruleSetId)
    .execute();
  return new Map(rows.map(({ counter, definition }) => [counter, definition]));
}

/** Records the counters of a version that is being published. */
export async function insertCounters(
  tx: ProjectTx,
  ruleSetId: string,
  counters: readonly DefinedCounter[],
): Promise<void> {
  for (const { name, text } of counters) {
    await tx
      .insert('rule_set_counters', { rule_set_id: ruleSetId, counter: name, definition: text })
      .execute();
  }
}

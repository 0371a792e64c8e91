import type { RuleSetRef, RulesOverTime, RuleVersion } from '../rules/index.js';

type PublishedRules = Pick<RulesOverTime<RuleVersion>, 'at'>;

/** The methods of the rule catalog that a worker uses. */
export interface RuleVersionSource {
  refresh(refs: readonly RuleSetRef[]): Promise<readonly (RuleSetRef & { readonly rules: PublishedRules })[]>;
}

/** The rules as one batch sees them: each rule set is refreshed once, when the batch first needs it. */
export class BatchRules {
  readonly #rules: RuleVersionSource;
  readonly #rulesByProject = new Map<string, Map<string, PublishedRules | undefined>>();

  constructor(rules: RuleVersionSource) {
    this.#rules = rules;
  }

  /** Loads these rule sets for `at`. */
  async prepare(projectId: string, ruleSetIds: ReadonlySet<string>): Promise<void> {
    let known = this.#rulesByProject.get(projectId);
    if (known === undefined) {
      known = new Map();
      this.#rulesByProject.set(projectId, known);
    }
    const missing: RuleSetRef[] = [];
    for (const ruleSetId of ruleSetIds) if (!known.has(ruleSetId)) missing.push({ projectId, ruleSetId });
    if (missing.length === 0) return;
    const found = await this.#rules.refresh(missing);
    for (const { ruleSetId } of missing) known.set(ruleSetId, undefined);
    for (const { ruleSetId, rules } of found) known.set(ruleSetId, rules);
  }

  /**
   * Returns the active version at `occurredAt` (Unix seconds), nearly always without waiting; undefined when none was
   * ever published.
   */
  at(
    projectId: string,
    ruleSetId: string,
    occurredAt: number,
  ): RuleVersion | undefined | Promise<RuleVersion> {
    return this.#rulesByProject.get(projectId)?.get(ruleSetId)?.at(occurredAt);
  }
}

import type { RuleCatalog, RuleVersion } from '../rules/index.js';

/** What a worker asks the rule catalog. */
export type Rules = Pick<RuleCatalog<RuleVersion>, 'refresh' | 'resolve'>;

/** The rules as one batch sees them: each rule set is brought up to date once, when the batch first meets it. */
export class BatchRules {
  readonly #refreshed = new Map<string, Set<string>>();

  constructor(private readonly rules: Rules) {}

  /** Lets `resolve` know these rule sets, until the caller gives the thread back. Nearly always there is no need to wait. */
  async prepare(projectId: string, ruleSetIds: ReadonlySet<string>): Promise<void> {
    let refreshed = this.#refreshed.get(projectId);
    if (refreshed === undefined) {
      refreshed = new Set();
      this.#refreshed.set(projectId, refreshed);
    }
    const missing: { projectId: string; ruleSetId: string }[] = [];
    for (const ruleSetId of ruleSetIds) {
      // The catalog forgets: what another batch has pushed out since is to be read again, and is not absent.
      if (!refreshed.has(ruleSetId) || !this.#isKnown(projectId, ruleSetId))
        missing.push({ projectId, ruleSetId });
    }
    if (missing.length === 0) return;
    await this.rules.refresh(missing);
    for (const { ruleSetId } of missing) refreshed.add(ruleSetId);
  }

  /**
   * The version in force at `occurredAt` (Unix seconds); undefined when none was ever published.
   * @throws Error when the version no longer compiles
   */
  resolve(projectId: string, ruleSetId: string, occurredAt: number): RuleVersion | undefined {
    return this.rules.resolve(projectId, ruleSetId, occurredAt);
  }

  #isKnown(projectId: string, ruleSetId: string): boolean {
    try {
      return this.rules.resolve(projectId, ruleSetId, 0) !== undefined;
    } catch {
      return true;
    }
  }
}

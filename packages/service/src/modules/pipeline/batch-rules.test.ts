import { describe, expect, it } from 'vitest';
import { ALL } from '../../kernel/json/json.js';
import type { RuleSetRef, RuleVersion } from '../rules/index.js';
import { BatchRules, type RuleVersionSource } from './batch-rules.js';

const VERSION: RuleVersion = {
  version: 1,
  reads: ALL,
  rate: () => ({ ok: true, dimensions: new Map(), items: [], notes: [] }),
};

/** Has the rule sets `a` and `b` for every project; reading `b` takes a while. */
class FakeCatalog implements RuleVersionSource {
  readonly refreshes: string[][] = [];

  async refresh(refs: readonly RuleSetRef[]) {
    this.refreshes.push(refs.map(({ projectId, ruleSetId }) => `${projectId}/${ruleSetId}`));
    return refs
      .filter(({ ruleSetId }) => ruleSetId !== 'unknown')
      .map((ref) => ({
        ...ref,
        rules: { at: () => (ref.ruleSetId === 'b' ? Promise.resolve(VERSION) : VERSION) },
      }));
  }
}

describe('BatchRules', () => {
  it('brings a rule set up to date once per batch, and one that does not exist as well', async () => {
    const catalog = new FakeCatalog();
    const rules = new BatchRules(catalog);
    await rules.prepare('prj_1', new Set(['a', 'b', 'unknown']));
    await rules.prepare('prj_1', new Set(['a', 'unknown']));
    await rules.prepare('prj_2', new Set(['a']));
    expect(catalog.refreshes).toEqual([['prj_1/a', 'prj_1/b', 'prj_1/unknown'], ['prj_2/a']]);
  });

  it('names the version at once, later, or none', async () => {
    const rules = new BatchRules(new FakeCatalog());
    await rules.prepare('prj_1', new Set(['a', 'b', 'unknown']));
    expect(rules.at('prj_1', 'a', 0)).toBe(VERSION);
    expect(rules.at('prj_1', 'b', 0)).toBeInstanceOf(Promise);
    expect(await rules.at('prj_1', 'b', 0)).toBe(VERSION);
    expect(rules.at('prj_1', 'unknown', 0)).toBeUndefined();
    expect(rules.at('prj_2', 'a', 0)).toBeUndefined();
  });
});

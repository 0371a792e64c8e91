import { describe, expect, it } from 'vitest';
import type { RuleSetRef, RuleVersion } from '../rules/index.js';
import { BatchRules } from './batch-rules.js';

const VERSION: RuleVersion = {
  version: 1,
  rate: () => ({ ok: true, dimensions: new Map(), items: [] }),
};

/** Knows what was refreshed and not forgotten since. */
class FakeCatalog {
  readonly refreshes: string[][] = [];
  readonly known = new Set<string>();
  broken = '';

  async refresh(refs: readonly RuleSetRef[]): Promise<void> {
    this.refreshes.push(refs.map(({ projectId, ruleSetId }) => `${projectId}/${ruleSetId}`));
    for (const { ruleSetId } of refs) if (ruleSetId !== 'unknown') this.known.add(ruleSetId);
  }

  resolve(_projectId: string, ruleSetId: string): RuleVersion | undefined {
    if (ruleSetId === this.broken) throw new Error('no longer compiles');
    return this.known.has(ruleSetId) ? VERSION : undefined;
  }
}

describe('BatchRules', () => {
  it('brings a rule set up to date once per batch, though the catalog knows it', async () => {
    const catalog = new FakeCatalog();
    catalog.known.add('a');
    const rules = new BatchRules(catalog);
    await rules.prepare('prj_1', new Set(['a', 'b']));
    await rules.prepare('prj_1', new Set(['a']));
    await rules.prepare('prj_2', new Set(['a']));
    expect(catalog.refreshes).toEqual([['prj_1/a', 'prj_1/b'], ['prj_2/a']]);
    expect(rules.resolve('prj_1', 'a', 0)).toBe(VERSION);
  });

  it('asks again for what the catalog has forgotten', async () => {
    const catalog = new FakeCatalog();
    const rules = new BatchRules(catalog);
    await rules.prepare('prj_1', new Set(['a']));
    catalog.known.clear();
    await rules.prepare('prj_1', new Set(['a']));
    expect(rules.resolve('prj_1', 'a', 0)).toBe(VERSION);
  });

  it('does not ask again for what does not compile', async () => {
    const catalog = new FakeCatalog();
    catalog.broken = 'a';
    const rules = new BatchRules(catalog);
    await rules.prepare('prj_1', new Set(['a']));
    await rules.prepare('prj_1', new Set(['a']));
    expect(catalog.refreshes).toHaveLength(1);
    expect(() => rules.resolve('prj_1', 'a', 0)).toThrow('compiles');
  });

  it('tells when there is none', async () => {
    const rules = new BatchRules(new FakeCatalog());
    await rules.prepare('prj_1', new Set(['unknown']));
    expect(rules.resolve('prj_1', 'unknown', 0)).toBeUndefined();
  });
});

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { type CatalogSource, RuleCatalog } from './catalog.js';
import type { PublishedVersion, RuleSetRef } from './catalog-store.js';
import { createRuleSets, createRuleVersions, registerRuleSetRoutes } from './index.js';

const REF: RuleSetRef = { projectId: 'prj_1', ruleSetId: 'ers_1' };

/** Published versions kept in memory; counts what is asked of it. */
class FakeSource implements CatalogSource {
  readonly ruleSets = new Map<string, { revision: number; versions: PublishedVersion[] }>();
  revisionReads = 0;
  versionReads = 0;

  publish(ruleSetId: string, effectiveFrom: number): void {
    const known = this.ruleSets.get(ruleSetId) ?? { revision: 0, versions: [] };
    const version = known.versions.length + 1;
    this.ruleSets.set(ruleSetId, {
      revision: known.revision + 1,
      versions: [...known.versions, { ...REF, ruleSetId, version, effectiveFrom, config: {} }],
    });
  }

  async readRevisions(refs: readonly RuleSetRef[]) {
    this.revisionReads += 1;
    return refs.flatMap((ref) => {
      const found = this.ruleSets.get(ref.ruleSetId);
      return found === undefined ? [] : [{ ...ref, revision: found.revision }];
    });
  }

  async readPublishedVersions(refs: readonly RuleSetRef[]) {
    this.versionReads += 1;
    // In no particular order, as from a database.
    return refs.flatMap((ref) => this.ruleSets.get(ref.ruleSetId)?.versions ?? []).reverse();
  }
}

/** The rule in its plainest form. */
function oracle(effectiveFroms: readonly number[], occurredAt: number): number | undefined {
  let best: number | undefined;
  effectiveFroms.forEach((effectiveFrom, index) => {
    if (effectiveFrom > occurredAt) return;
    if (best === undefined || effectiveFrom >= (effectiveFroms[best - 1] ?? 0)) best = index + 1;
  });
  return best ?? (effectiveFroms.length > 0 ? 1 : undefined);
}

describe('the version in force', () => {
  it('is the one that the plain rule names', async () => {
    const times = fc.integer({ min: 0, max: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(times, { maxLength: 8 }), fc.array(times), async (published, occurred) => {
        const source = new FakeSource();
        const catalog = new RuleCatalog(source, ({ version }) => version);
        for (const effectiveFrom of published) source.publish('ers_1', effectiveFrom);
        await catalog.refresh([REF]);
        for (const at of occurred) {
          expect(catalog.resolve('prj_1', 'ers_1', at)).toBe(oracle(published, at));
        }
      }),
    );
  });
});

describe('RuleCatalog', () => {
  it('reads versions only when the revision has changed, and compiles each once', async () => {
    const source = new FakeSource();
    const compiled: number[] = [];
    const catalog = new RuleCatalog(source, ({ version }) => {
      compiled.push(version);
      return version;
    });
    source.publish('ers_1', 0);
    for (let batch = 0; batch < 3; batch += 1) {
      await catalog.refresh([REF]);
      expect(catalog.resolve('prj_1', 'ers_1', 5)).toBe(1);
    }
    expect([source.revisionReads, source.versionReads, compiled]).toEqual([3, 1, [1]]);
    source.publish('ers_1', 10);
    await catalog.refresh([REF]);
    expect([catalog.resolve('prj_1', 'ers_1', 9), catalog.resolve('prj_1', 'ers_1', 10)]).toEqual([1, 2]);
    expect([source.versionReads, compiled]).toEqual([2, [1, 2]]);
  });

  it('keeps all of a batch, and beyond it a bounded number, the least recent going first', async () => {
    const source = new FakeSource();
    const catalog = new RuleCatalog(source, ({ version }) => version, 2);
    const refs = ['ers_1', 'ers_2', 'ers_3'].map((ruleSetId) => ({ ...REF, ruleSetId }));
    for (const { ruleSetId } of refs) source.publish(ruleSetId, 0);
    await catalog.refresh(refs);
    for (const { ruleSetId } of refs) expect(catalog.resolve('prj_1', ruleSetId, 1)).toBe(1);
    await catalog.refresh(refs.slice(0, 1));
    expect(catalog.resolve('prj_1', 'ers_1', 1)).toBe(1);
    expect(catalog.resolve('prj_1', 'ers_2', 1)).toBeUndefined();
    expect(catalog.resolve('prj_1', 'ers_3', 1)).toBe(1);
  });
});

describe('over PostgreSQL', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
    url = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  });
  afterAll(() => api.close());

  const priced = (price: string, effectiveFrom: number) => ({
    effective_from: effectiveFrom,
    charge_item_extractors: [
      { metric: 'calls', path: 'calls', type: 'number', unit_price_expr: `dec('${price}')` },
    ],
  });

  it('rates a late event by the price of its time, drafts never, an archived rule set still', async () => {
    const { id } = (await api.call('POST', url, priced('1', TEST_NOW_S - 100))).json();
    const catalog = createRuleVersions(api.postgres);
    const ref = { projectId: api.projectId, ruleSetId: id };
    const amountAt = async (occurredAt: number) => {
      await catalog.refresh([ref]);
      const rated = catalog
        .resolve(api.projectId, id, occurredAt)
        ?.rate({ rawJson: { calls: 3 }, occurredAt });
      return rated?.ok === true ? (rated.items[0]?.amount ?? 0n) / 10n ** 18n : undefined;
    };
    expect(await amountAt(TEST_NOW_S)).toBeUndefined();
    await api.call('POST', `${url}/${id}/publish`);
    expect(await amountAt(TEST_NOW_S)).toBe(3n);
    await api.call('PUT', `${url}/${id}`, priced('2', TEST_NOW_S));
    expect(await amountAt(TEST_NOW_S)).toBe(3n);
    await api.call('POST', `${url}/${id}/publish`);
    await api.call('POST', `${url}/${id}/archive`);
    expect(await amountAt(TEST_NOW_S)).toBe(6n);
    expect(await amountAt(TEST_NOW_S - 1)).toBe(3n);
    expect(await amountAt(TEST_NOW_S - 1_000)).toBe(3n);
    expect(catalog.resolve(api.projectId, id, TEST_NOW_S)?.version).toBe(2);
  });

  it("does not know another project's rule set", async () => {
    const { id } = (await api.call('POST', url, {})).json();
    await api.call('POST', `${url}/${id}/publish`);
    const catalog = createRuleVersions(api.postgres);
    await catalog.refresh([{ projectId: 'prj_other', ruleSetId: id }]);
    expect(catalog.resolve('prj_other', id, TEST_NOW_S)).toBeUndefined();
    expect(catalog.resolve(api.projectId, id, TEST_NOW_S)).toBeUndefined();
  });
});

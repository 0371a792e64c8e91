import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { type CatalogSource, RuleCatalog, type RuleSetRef, type RulesRead } from './catalog.js';
import { createRuleSets, createRuleVersions, registerRuleSetRoutes } from './index.js';
import type { RulesInForce } from './timeline.js';

const REF: RuleSetRef = { projectId: 'prj_1', ruleSetId: 'ers_1' };
const PUBLISHED = { config: {}, configBytes: 10 };

/** Published versions kept in memory; counts what is asked of it. */
class FakeSource implements CatalogSource {
  readonly ruleSets = new Map<string, { revision: number; rules: RulesRead }>();
  revisionReads = 0;
  rulesReads = 0;

  publish(ruleSetId: string, effectiveFrom: number): void {
    const { revision, rules } = this.known(ruleSetId);
    const version = { ...PUBLISHED, ruleSetId, version: rules.extractors.length + 1, effectiveFrom };
    const extractors = [...rules.extractors, version];
    this.ruleSets.set(ruleSetId, { revision: revision + 1, rules: { ...rules, extractors } });
  }

  price(ruleSetId: string, pricing: RulesRead['pricings'][number]): void {
    const { revision, rules } = this.known(ruleSetId);
    const pricings = [...rules.pricings, pricing];
    this.ruleSets.set(ruleSetId, { revision: revision + 1, rules: { ...rules, pricings } });
  }

  private known(ruleSetId: string) {
    const rules = { ...REF, ruleSetId, extractors: [], pricings: [] };
    return this.ruleSets.get(ruleSetId) ?? { revision: 0, rules };
  }

  async readRevisions(refs: readonly RuleSetRef[]) {
    this.revisionReads += 1;
    return refs.flatMap((ref) => {
      const found = this.ruleSets.get(ref.ruleSetId);
      return found === undefined ? [] : [{ ...ref, revision: found.revision }];
    });
  }

  async readPublishedRules(refs: readonly RuleSetRef[]) {
    this.rulesReads += 1;
    return refs.flatMap((ref) => {
      const found = this.ruleSets.get(ref.ruleSetId);
      return found === undefined ? [] : [found.rules];
    });
  }
}

const UNBOUNDED = { ruleSetsMax: 1_000, configBytesMax: 1_000, compiledBytesMax: 1_000 };

const versionsOf = ({ extractor, pricings }: RulesInForce) =>
  [extractor, ...pricings].map(({ ruleSetId, version }) => `${ruleSetId} ${version}`);

describe('RuleCatalog', () => {
  it('reads rules only when the revision has changed, and compiles each interval once', async () => {
    const source = new FakeSource();
    const compiled: string[][] = [];
    const catalog = new RuleCatalog(source, () => (rules) => {
      compiled.push(versionsOf(rules));
      return rules.extractor.version;
    });
    source.publish('ers_1', 0);
    for (let batch = 0; batch < 3; batch += 1) {
      await catalog.refresh([REF]);
      expect(catalog.resolve('prj_1', 'ers_1', 5)).toBe(1);
    }
    expect([source.revisionReads, source.rulesReads, compiled]).toEqual([3, 1, [['ers_1 1']]]);
    source.publish('ers_1', 10);
    await catalog.refresh([REF]);
    expect([catalog.resolve('prj_1', 'ers_1', 9), catalog.resolve('prj_1', 'ers_1', 10)]).toEqual([1, 2]);
    expect(source.rulesReads).toBe(2);
  });

  it('knows new pricing by the revision of what it is bound to, and compiles with what it knew', async () => {
    const source = new FakeSource();
    let compilers = 0;
    const catalog = new RuleCatalog(source, () => {
      compilers += 1;
      return versionsOf;
    });
    source.publish('ers_1', 0);
    await catalog.refresh([REF]);
    expect(catalog.resolve('prj_1', 'ers_1', 5)).toEqual(['ers_1 1']);
    source.price('ers_1', {
      ...PUBLISHED,
      ruleSetId: 'prs_1',
      version: 1,
      effectiveFrom: 0,
      archivedAt: null,
    });
    await catalog.refresh([REF]);
    expect(catalog.resolve('prj_1', 'ers_1', 5)).toEqual(['ers_1 1', 'prs_1 1']);
    expect(compilers).toBe(1);
  });

  it('forgets what it has compiled rather than holding more than its bound, and compiles it again', async () => {
    const source = new FakeSource();
    const compiled: string[][] = [];
    const createCompile = () => {
      compiled.push(['new']);
      return (rules: RulesInForce) => {
        compiled.push(versionsOf(rules));
        return rules.extractor.version;
      };
    };
    // Every version has 10 bytes.
    const catalog = new RuleCatalog(source, createCompile, { ...UNBOUNDED, compiledBytesMax: 25 });
    for (const effectiveFrom of [0, 10, 20]) source.publish('ers_1', effectiveFrom);
    await catalog.refresh([REF]);
    const asked = [0, 10, 0, 10, 20, 20, 0];
    expect(asked.map((at) => catalog.resolve('prj_1', 'ers_1', at))).toEqual([1, 2, 1, 2, 3, 3, 1]);
    expect(compiled.flat()).toEqual(['new', 'ers_1 1', 'ers_1 2', 'new', 'ers_1 3', 'ers_1 1']);
  });

  it.each([
    ['rule sets', { ...UNBOUNDED, ruleSetsMax: 2 }],
    ['bytes', { ...UNBOUNDED, configBytesMax: 20 }],
  ])(
    'keeps all of a batch, and beyond it a bounded number of %s, the least recent going first',
    async (_, bounds) => {
      const source = new FakeSource();
      const catalog = new RuleCatalog(
        source,
        () =>
          ({ extractor }) =>
            extractor.version,
        bounds,
      );
      const refs = ['ers_1', 'ers_2', 'ers_3'].map((ruleSetId) => ({ ...REF, ruleSetId }));
      for (const { ruleSetId } of refs) source.publish(ruleSetId, 0);
      await catalog.refresh(refs);
      for (const { ruleSetId } of refs) expect(catalog.resolve('prj_1', ruleSetId, 1)).toBe(1);
      await catalog.refresh(refs.slice(0, 1));
      expect(catalog.resolve('prj_1', 'ers_1', 1)).toBe(1);
      expect(catalog.resolve('prj_1', 'ers_2', 1)).toBeUndefined();
      expect(catalog.resolve('prj_1', 'ers_3', 1)).toBe(1);
    },
  );
});

describe('over PostgreSQL', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
    url = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  });
  afterAll(() => api.close());

  const CALLS = { metric: 'calls', path: 'calls', type: 'number' };
  const priced = (price: string, effectiveFrom: number) => ({
    effective_from: effectiveFrom,
    charge_item_extractors: [{ ...CALLS, unit_price_expr: `dec('${price}')` }],
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

  it('rates by the prices of the time of the event, until their rule set is archived', async () => {
    const { id } = (await api.call('POST', url, { charge_item_extractors: [CALLS] })).json();
    await api.call('POST', `${url}/${id}/publish`);
    const catalog = createRuleVersions(api.postgres);
    const priceAt = async (occurredAt: number) => {
      await catalog.refresh([{ projectId: api.projectId, ruleSetId: id }]);
      const rated = catalog
        .resolve(api.projectId, id, occurredAt)
        ?.rate({ rawJson: { calls: 1 }, occurredAt });
      const item = rated?.ok === true ? rated.items[0] : undefined;
      return item && [item.amount / 10n ** 18n, item.ruleSetId, item.ruleSetVersion];
    };
    const pricingUrl = url.replace('extractor', 'pricing');
    const prices = (price: string, effectiveFrom: number) => ({
      extractor_rule_set_id: id,
      effective_from: effectiveFrom,
      rules: [{ metric: 'calls', unit_price_expr: `dec('${price}')` }],
    });
    expect(await priceAt(TEST_NOW_S)).toEqual([0n, '', 0]);
    const pricing = (await api.call('POST', pricingUrl, prices('5', TEST_NOW_S - 100))).json();
    expect(await priceAt(TEST_NOW_S)).toEqual([0n, '', 0]);
    await api.call('POST', `${pricingUrl}/${pricing.id}/publish`);
    expect(await priceAt(TEST_NOW_S)).toEqual([5n, pricing.id, 1]);
    await api.call('PUT', `${pricingUrl}/${pricing.id}`, prices('6', TEST_NOW_S - 50));
    await api.call('POST', `${pricingUrl}/${pricing.id}/publish`);
    await api.call('POST', `${pricingUrl}/${pricing.id}/archive`);
    expect(await priceAt(TEST_NOW_S)).toEqual([0n, '', 0]);
    expect(await priceAt(TEST_NOW_S - 1)).toEqual([6n, pricing.id, 2]);
    expect(await priceAt(TEST_NOW_S - 51)).toEqual([5n, pricing.id, 1]);
    expect(await priceAt(TEST_NOW_S - 1_000)).toEqual([5n, pricing.id, 1]);
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

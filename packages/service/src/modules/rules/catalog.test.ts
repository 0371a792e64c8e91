import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import {
  RuleCatalog,
  type RuleCatalogSource,
  type RuleSetRef,
  type RulesOverTime,
  type RulesRead,
} from './catalog.js';
import { createRuleSets, createRuleVersions, registerRuleSetRoutes } from './index.js';
import type { ActiveVersions } from './timeline.js';

const REF: RuleSetRef = { projectId: 'prj_1', ruleSetId: 'ers_1' };
const UNBOUNDED = { ruleSetsMax: 1_000, versionsMax: 1_000, loadedBytesMax: 1_000 };
const LOADED_BYTES = 10;

/** Published versions kept in memory; loading one returns its name. Counts the calls. */
class FakeSource implements RuleCatalogSource<string> {
  readonly ruleSets = new Map<string, { revision: number; rules: RulesRead }>();
  readonly loads: string[] = [];
  revisionReads = 0;
  rulesReads = 0;

  publish(ruleSetId: string, effectiveFrom: number): void {
    const { revision, rules } = this.#known(ruleSetId);
    const version = { ruleSetId, version: rules.extractors.length + 1, effectiveFrom };
    const extractors = [...rules.extractors, version];
    this.ruleSets.set(ruleSetId, { revision: revision + 1, rules: { ...rules, extractors } });
  }

  price(ruleSetId: string, pricing: RulesRead['pricings'][number]): void {
    const { revision, rules } = this.#known(ruleSetId);
    const pricings = [...rules.pricings, pricing];
    this.ruleSets.set(ruleSetId, { revision: revision + 1, rules: { ...rules, pricings } });
  }

  #known(ruleSetId: string) {
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

  async load(projectId: string, { extractor, pricings }: ActiveVersions) {
    const compiled = [extractor, ...pricings]
      .map(({ ruleSetId, version }) => `${ruleSetId} ${version}`)
      .join();
    this.loads.push(`${projectId}: ${compiled}`);
    return { compiled, bytes: LOADED_BYTES };
  }
}

/** Returns the current rules of {@link REF}. */
async function refreshed(catalog: RuleCatalog<string>, ref = REF): Promise<RulesOverTime<string>> {
  const [found] = await catalog.refresh([ref]);
  if (found === undefined) throw new Error(`${ref.ruleSetId} is not known`);
  return found.rules;
}

describe('RuleCatalog', () => {
  it('reads versions only when the revision has changed, and what a version says when an event needs it', async () => {
    const source = new FakeSource();
    const catalog = new RuleCatalog(source, UNBOUNDED);
    for (const effectiveFrom of [0, 10, 20]) source.publish('ers_1', effectiveFrom);
    for (let batch = 0; batch < 3; batch += 1) {
      expect(await (await refreshed(catalog)).at(15)).toBe('ers_1 2');
    }
    expect([source.revisionReads, source.rulesReads, source.loads]).toEqual([3, 1, ['prj_1: ers_1 2']]);
    source.publish('ers_1', 14);
    const rules = await refreshed(catalog);
    expect([await rules.at(13), await rules.at(14)]).toEqual(['ers_1 2', 'ers_1 4']);
    expect(source.rulesReads).toBe(2);
  });

  it('returns at once what it has loaded', async () => {
    const source = new FakeSource();
    source.publish('ers_1', 0);
    const rules = await refreshed(new RuleCatalog(source, UNBOUNDED));
    expect(rules.at(5)).toBeInstanceOf(Promise);
    await rules.at(5);
    expect(rules.at(6)).toBe('ers_1 1');
  });

  it('knows new pricing by the revision of what it is bound to', async () => {
    const source = new FakeSource();
    const catalog = new RuleCatalog(source, UNBOUNDED);
    source.publish('ers_1', 0);
    expect(await (await refreshed(catalog)).at(5)).toBe('ers_1 1');
    source.price('ers_1', {
      ruleSetId: 'prs_1',
      version: 1,
      effectiveFrom: 0,
      archivedAt: null,
      purpose: 'price',
    });
    expect(await (await refreshed(catalog)).at(5)).toBe('ers_1 1,prs_1 1');
  });

  it('forgets what it has loaded rather than holding more than its bound, and loads it again', async () => {
    const source = new FakeSource();
    const catalog = new RuleCatalog(source, { ...UNBOUNDED, loadedBytesMax: 2 * LOADED_BYTES });
    for (const effectiveFrom of [0, 10, 20]) source.publish('ers_1', effectiveFrom);
    const rules = await refreshed(catalog);
    const found: (string | undefined)[] = [];
    for (const at of [0, 10, 0, 10, 20, 20, 10, 0]) found.push(await rules.at(at));
    expect(found.map((names) => names?.at(-1)).join('')).toBe('12123321');
    expect(source.loads.map((names) => names.at(-1)).join('')).toBe('1231');
  });

  it.each([
    ['rule sets', { ...UNBOUNDED, ruleSetsMax: 2 }],
    ['versions', { ...UNBOUNDED, versionsMax: 2 }],
  ])(
    'knows all of a batch, and beyond it a bounded number of %s, the least recent going first',
    async (_, bounds) => {
      const source = new FakeSource();
      const catalog = new RuleCatalog(source, bounds);
      const refs = ['ers_1', 'ers_2', 'ers_3'].map((ruleSetId) => ({ ...REF, ruleSetId }));
      for (const { ruleSetId } of refs) source.publish(ruleSetId, 0);
      const all = await catalog.refresh(refs);
      await catalog.refresh(refs.slice(0, 1));
      expect(source.rulesReads).toBe(1);
      // The second one has been dropped: its holder continues to use it, and the catalog reads it again.
      for (const { ruleSetId, rules } of all) expect(await rules.at(1)).toBe(`${ruleSetId} 1`);
      await catalog.refresh([refs[2] ?? REF, refs[0] ?? REF]);
      expect(source.rulesReads).toBe(1);
      await catalog.refresh(refs.slice(1, 2));
      expect(source.rulesReads).toBe(2);
    },
  );

  it('knows nothing of what does not exist, and of what was never published that there is nothing', async () => {
    const source = new FakeSource();
    const catalog = new RuleCatalog(source, UNBOUNDED);
    expect(await catalog.refresh([REF])).toEqual([]);
    source.price('ers_1', {
      ruleSetId: 'prs_1',
      version: 1,
      effectiveFrom: 0,
      archivedAt: null,
      purpose: 'price',
    });
    expect((await refreshed(catalog)).at(5)).toBeUndefined();
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

  const CALLS = { metric: 'calls', path: 'calls', type: 'number' };
  const priced = (price: string, effectiveFrom: number) => ({
    effective_from: effectiveFrom,
    charge_item_extractors: [{ ...CALLS, unit_price_expr: `dec('${price}')` }],
  });

  it('rates a late event by the price of its time, drafts never, an archived rule set still', async () => {
    const { id } = (await api.call('POST', url, priced('1', TEST_NOW_S - 100))).json();
    const catalog = createRuleVersions(api.postgres);
    const ref = { projectId: api.projectId, ruleSetId: id };
    const versionAt = async (occurredAt: number) => {
      const [found] = await catalog.refresh([ref]);
      return found?.rules.at(occurredAt);
    };
    const amountAt = async (occurredAt: number) => {
      const version = await versionAt(occurredAt);
      const rated = version?.rate({ rawJson: { calls: 3 }, occurredAt });
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
    expect((await versionAt(TEST_NOW_S))?.version).toBe(2);
  });

  it('rates by the prices of the time of the event, until their rule set is archived', async () => {
    const { id } = (await api.call('POST', url, { charge_item_extractors: [CALLS] })).json();
    await api.call('POST', `${url}/${id}/publish`);
    const catalog = createRuleVersions(api.postgres);
    const priceAt = async (occurredAt: number) => {
      const [found] = await catalog.refresh([{ projectId: api.projectId, ruleSetId: id }]);
      const version = await found?.rules.at(occurredAt);
      const rated = version?.rate({ rawJson: { calls: 1 }, occurredAt });
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
    expect(await catalog.refresh([{ projectId: 'prj_other', ruleSetId: id }])).toEqual([]);
  });
});

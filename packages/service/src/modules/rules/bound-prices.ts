import type { PricingConfig, PricingPurpose } from '@tollgate/contract';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { type CatalogBounds, type LoadedRules, RuleCatalog, type RuleSetRef } from './catalog.js';
import { readPricingConfigs, readPublishedRules, readRevisions } from './catalog-store.js';
import {
  compilePricing,
  NO_PRICE_LISTS,
  type PriceLists,
  type PurposedPricing,
  priceListsOf,
} from './pricing/index.js';
import { type PricingVersion, refuseToCompile } from './rule-version.js';

/** Sources of active versions, by the ids of their rule sets. */
export type ConfigsById = ReadonlyMap<string, PricingConfig>;

/** The pricing rules of one time, ready to rate, and their sources. */
export interface ActivePrices {
  readonly lists: PriceLists;
  readonly configs: ConfigsById;
  /** The sources of the cost rules, which are not among the others. */
  readonly costConfigs: ConfigsById;
}

export interface PricesOverTime {
  /**
   * Returns the prices for events that occurred at `occurredAt` (Unix seconds): directly when they are in
   * memory, otherwise as a promise. The promise is rejected when a version, which compiled when it was saved,
   * no longer does.
   */
  at(occurredAt: number): ActivePrices | Promise<ActivePrices>;
}

const NO_ACTIVE_PRICES: ActivePrices = { lists: NO_PRICE_LISTS, configs: new Map(), costConfigs: new Map() };

/** The prices of a rule set without any pricing rule. */
export const NO_PRICES: PricesOverTime = { at: () => NO_ACTIVE_PRICES };

const BOUNDS: CatalogBounds = {
  ruleSetsMax: 200,
  versionsMax: 50_000,
  loadedBytesMax: 8 * 1_048_576,
};
/** Upper bound of the source of the expressions that are kept compiled. */
const CODE_BYTES_MAX = 4 * 1_048_576;
/** Memory of an interval without prices. */
const INTERVAL_BYTES = 1_024;

/**
 * The published prices bound to an extractor rule set, without its rules: the prices that production would use at the
 * event's time. They work for any extractor, for example a draft.
 */
export class BoundPrices {
  readonly #catalog: RuleCatalog<ActivePrices>;
  readonly #codeMemory = new BoundedMemory(CODE_BYTES_MAX);

  constructor({ db }: Pick<Postgres, 'db'>) {
    this.#catalog = new RuleCatalog(
      {
        readRevisions: readRevisions.bind(undefined, db),
        readPublishedRules: async (refs) => {
          const published = await readPublishedRules(db, refs);
          return published.map((rules) => ({ ...rules, extractors: [anyExtractor(rules)] }));
        },
        load: async (projectId, { pricings }) =>
          this.#compiled(await readPricingConfigs(db, projectId, pricings)),
      },
      BOUNDS,
    );
  }

  /**
   * Returns the current prices; they include each publication before the call. A rule set that does not exist has no
   * prices.
   */
  async of(projectId: string, extractorRuleSetId: string): Promise<PricesOverTime> {
    // One rule set at a time: the catalog accepts several only while no other caller refreshes it.
    const [found] = await this.#catalog.refresh([{ projectId, ruleSetId: extractorRuleSetId }]);
    if (found === undefined) return NO_PRICES;
    return { at: (occurredAt) => found.rules.at(occurredAt) ?? NO_ACTIVE_PRICES };
  }

  #compiled(versions: readonly PricingVersion[]): LoadedRules<ActivePrices> {
    const pricings: PurposedPricing[] = [];
    let bytes = INTERVAL_BYTES;
    for (const version of versions) {
      const result = compilePricing(version.config, version, this.#codeMemory);
      if (!result.ok) refuseToCompile(version, result.issues);
      pricings.push({ purpose: version.purpose, pricing: result.pricing });
      bytes += version.bytes;
    }
    const configsOf = (purpose: PricingPurpose) =>
      new Map(
        versions
          .filter((each) => each.purpose === purpose)
          .map(({ ruleSetId, config }) => [ruleSetId, config]),
      );
    const compiled = {
      lists: priceListsOf(pricings),
      configs: configsOf('price'),
      costConfigs: configsOf('cost'),
    };
    return { compiled, bytes };
  }
}

/**
 * Takes the place of the versions of the extractor rule set: prices apply whether or not one of them was ever
 * published.
 */
function anyExtractor({ ruleSetId }: RuleSetRef) {
  return { ruleSetId, version: 0, effectiveFrom: 0 };
}

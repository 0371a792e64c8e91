import type { ExtractorConfig, PricingConfig } from '@tollgate/contract';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { fromStored, parseDecimal } from '../../kernel/decimal.js';
import { memoized } from '../../kernel/maps.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { type DimensionValue, EventSteps } from './expression/index.js';
import {
  type CounterDefinition,
  compileExtractor,
  type RatingFailure,
  type RuleOrigin,
  type TotalPricing,
} from './extract/index.js';
import { priceOfTotal } from './price.js';
import { compilePricing } from './pricing/index.js';
import { refuseToCompile } from './rule-version.js';

/** The rule by which a charge item was priced by a total, as the charge item and its event record it. */
export interface TotalRule {
  readonly pricingSource: 'extractor' | 'pricing_rule_set';
  readonly ruleSetId: string;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
  readonly counter: string;
  /** The extractor version that has read the dimensions: it says which of them are numbers. */
  readonly extractorRuleSetId: string;
  readonly extractorVersion: number;
}

/** The price of the totals of one rule. */
export interface TotalPrice {
  readonly counter: CounterDefinition;
  /**
   * Returns the price of a total × 10^18.
   *
   * @param by the values of the counter's dimensions, in their order
   */
  at(total: bigint, by: readonly (string | null)[]): bigint | RatingFailure;
}

/** Reads saved versions of one kind of rule set. @throws DomainError `rule_set_not_found` */
export interface VersionReader<Config> {
  read(owner: ProjectRef, ruleSetId: string, version: number): Promise<{ readonly config: Config }>;
}

export interface TotalPricesDeps {
  readonly extractors: VersionReader<ExtractorConfig>;
  readonly pricings: VersionReader<PricingConfig>;
}

/** Source of the expressions that are kept compiled. */
const CODE_BYTES_MAX = 4 * 1_048_576;

/** The prices of totals by the rules of any version of a project: those that charge items record. */
export class TotalPrices {
  readonly #deps: TotalPricesDeps;
  readonly #project: ProjectRef;
  readonly #codeMemory = new BoundedMemory(CODE_BYTES_MAX);
  readonly #extractors = new Map<string, Promise<ExtractorConfig>>();
  readonly #pricings = new Map<string, Promise<PricingConfig>>();
  readonly #prices = new Map<string, Promise<TotalPrice>>();

  constructor(deps: TotalPricesDeps, project: ProjectRef) {
    this.#deps = deps;
    this.#project = project;
  }

  /** @throws Error if the version has no such rule: charge items name only rules that have priced them */
  of(rule: TotalRule): Promise<TotalPrice> {
    const key = JSON.stringify(Object.values(rule));
    return memoized(this.#prices, key, () => this.#compile(rule));
  }

  async #compile(rule: TotalRule): Promise<TotalPrice> {
    const { ruleSetId, ruleSetVersion: version, ruleName, counter: name, pricingSource } = rule;
    const total = await this.#pricingOf(rule);
    if (total?.counter.name !== name)
      throw new Error(`version ${version} of ${ruleSetId} has no rule ${ruleName} with the counter ${name}`);
    const { dimensions = [] } = await this.#extractor(rule.extractorRuleSetId, rule.extractorVersion);
    const numbers = new Set(dimensions.filter(({ type }) => type === 'number').map((each) => each.name));
    const booleans = new Set(dimensions.filter(({ type }) => type === 'boolean').map((each) => each.name));
    const typed = (dimension: string, text: string): DimensionValue => {
      if (booleans.has(dimension)) return text === 'true';
      return (numbers.has(dimension) ? parseDecimal(text) : undefined) ?? text;
    };
    const origin = { ruleSetId, version, pricingSource };
    return {
      counter: total.counter,
      at: (quantity, by) => {
        const known = new Map<string, DimensionValue>();
        for (const [index, dimension] of total.counter.by.entries()) {
          const text = by[index];
          if (text !== null && text !== undefined) known.set(dimension, typed(dimension, text));
        }
        return priceOfTotal(total, origin, {
          quantity: fromStored(quantity),
          unitPrice: undefined,
          metric: '',
          unit: '',
          dimensions: known,
          subject: undefined,
          occurredAt: 0,
          steps: new EventSteps(),
        });
      },
    };
  }

  async #pricingOf(rule: TotalRule): Promise<TotalPricing | undefined> {
    const { ruleSetId, ruleSetVersion: version, ruleName } = rule;
    const origin: RuleOrigin = { ruleSetId, version };
    if (rule.pricingSource === 'extractor') {
      const compiled = compileExtractor(await this.#extractor(ruleSetId, version), origin, this.#codeMemory);
      if (!compiled.ok) refuseToCompile(origin, compiled.issues);
      const named = compiled.extractor.chargeItems.filter(({ name }) => name === ruleName);
      return named.flatMap(({ pricing }) => pricing?.total ?? []).find(isOfCounter(rule.counter));
    }
    const key = `${ruleSetId} ${version}`;
    const config = await memoized(this.#pricings, key, async () => {
      return (await this.#deps.pricings.read(this.#project, ruleSetId, version)).config;
    });
    const compiled = compilePricing(config, origin, this.#codeMemory);
    if (!compiled.ok) refuseToCompile(origin, compiled.issues);
    return compiled.pricing.rules.find(({ name }) => name === ruleName)?.pricing.total;
  }

  #extractor(ruleSetId: string, version: number): Promise<ExtractorConfig> {
    return memoized(this.#extractors, `${ruleSetId} ${version}`, async () => {
      return (await this.#deps.extractors.read(this.#project, ruleSetId, version)).config;
    });
  }
}

function isOfCounter(name: string) {
  return ({ counter }: TotalPricing) => counter.name === name;
}

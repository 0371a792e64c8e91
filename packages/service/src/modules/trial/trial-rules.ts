import {
  type BacktestRequest,
  type ErrorDetail,
  type ExtractorConfig,
  type ExtractorRuleSetInput,
  PRICING_PURPOSE_DEFAULT,
  type PricingConfig,
  type PricingPurpose,
  type PricingRuleSetInput,
  type RulesTestRequest,
} from '@tollgate/contract';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { DomainError, invalidRequest, refuseInvalid } from '../../kernel/errors.js';
import type { ProjectRef } from '../../kernel/scope.js';
import {
  type ActivePrices,
  type BoundPrices,
  type CompiledExtractor,
  compileExtractor,
  compilePricing,
  EXTRACTOR_KIND,
  NO_PRICES,
  PRICING_KIND,
  type PricesOverTime,
  priceListOf,
  type RuleOrigin,
  refuseToCompile,
  UNSAVED,
} from '../rules/index.js';

/** The rule sets of one kind that a project has saved. */
export interface SavedRuleSets<Config> {
  /**
   * Returns the newest version, including a draft, unless one is named.
   *
   * @throws DomainError `rule_set_not_found`
   */
  read(
    owner: ProjectRef,
    ruleSetId: string,
    version?: number,
  ): Promise<{
    readonly id: string;
    readonly version: number;
    readonly config: Config;
    /** Null for extractors. */
    readonly purpose: PricingPurpose | null;
    /** The extractor rule set that a pricing rule set is bound to; null for extractors. */
    readonly extractor_rule_set_id: string | null;
  }>;
}

export interface RuleSetsForTrial {
  readonly extractors: SavedRuleSets<ExtractorConfig>;
  readonly pricings: SavedRuleSets<PricingConfig>;
  readonly boundPrices: Pick<BoundPrices, 'of'>;
}

/** Rules of one kind, saved or in the request. */
export interface TrialConfig<Config> {
  readonly origin: RuleOrigin;
  readonly config: Config;
}

interface SavedConfig<Config> extends TrialConfig<Config> {
  /** Null for extractors. */
  readonly purpose: PricingPurpose | null;
  /** The extractor rule set that a pricing rule set is bound to; null for extractors. */
  readonly boundTo: string | null;
}

/** Pricing rules, and what they give. */
interface TrialPrices extends TrialConfig<PricingConfig> {
  readonly purpose: PricingPurpose;
}

/** The rules under test, ready to rate. */
export interface TrialRating {
  readonly extractor: CompiledExtractor;
  readonly prices: PricesOverTime;
}

/** The same, with the text of the extractor, and of the pricing rules that the request names. */
export interface TrialRules {
  readonly rating: TrialRating;
  readonly extractor: TrialConfig<ExtractorConfig>;
  readonly pricing: TrialConfig<PricingConfig> | undefined;
}

type Naming = Pick<
  RulesTestRequest & BacktestRequest,
  'extractor' | 'version' | 'pricing' | 'pricing_rule_set_id' | 'pricing_version'
> & { readonly extractor_rule_set_id?: string };

/** Source of the expressions of one trial that are kept compiled: more than two rule sets can have. */
const CODE_BYTES_MAX = 4 * 1_048_576;

/**
 * Returns the rules that the request names. Prices or costs for which it names no rules are those of production, if it
 * names an extractor rule set: by the published pricing rule sets that are bound to it and were active when the event
 * occurred.
 *
 * @throws DomainError `invalid_request` as saving the rules would, each place prefixed with `extractor.` or `pricing.`,
 * and `rule_set_not_found` (400) with the field that names it
 */
export async function trialRules(
  ruleSets: RuleSetsForTrial,
  project: ProjectRef,
  naming: Naming,
): Promise<TrialRules> {
  checkNaming(naming);
  const sent = checkSent(naming);
  const extractor = sent.extractor ?? (await savedExtractor(ruleSets, project, naming));
  const pricing = sent.pricing ?? (await savedPricing(ruleSets, project, naming));
  const codeMemory = new BoundedMemory(CODE_BYTES_MAX);
  const bound = await boundPrices(ruleSets, project, naming);
  const prices = pricing === undefined ? bound : replaced(bound, pricing, codeMemory);
  return { rating: { extractor: compiledExtractor(extractor, codeMemory), prices }, extractor, pricing };
}

function checkNaming({ extractor, version, ...naming }: Naming): void {
  const { pricing, pricing_rule_set_id: pricingId, pricing_version: pricingVersion } = naming;
  if (extractor === undefined && naming.extractor_rule_set_id === undefined) {
    throw invalidRequest('extractor', 'is required, unless extractor_rule_set_id is given');
  }
  if (extractor !== undefined && version !== undefined) {
    throw invalidRequest('version', 'is the version of a saved rule set: leave it out if extractor is given');
  }
  if (pricing !== undefined && pricingId !== undefined) {
    throw invalidRequest('pricing', 'must not be given together with pricing_rule_set_id');
  }
  if (pricingVersion !== undefined && pricingId === undefined) {
    throw invalidRequest('pricing_version', 'needs pricing_rule_set_id');
  }
}

interface SentRules {
  readonly extractor?: TrialConfig<ExtractorConfig>;
  readonly pricing?: TrialPrices;
}

/** Checks the rules in the request; errors of both kinds are reported together. */
function checkSent(naming: Naming): SentRules {
  const details: ErrorDetail[] = [];
  const extractor = attempt('extractor', naming.extractor, details, (input: ExtractorRuleSetInput) =>
    EXTRACTOR_KIND.checkedConfig(input),
  );
  // The extractor rule set that a pricing rule set is bound to is not part of its config.
  const pricing = attempt(
    'pricing',
    naming.pricing,
    details,
    (input: Omit<PricingRuleSetInput, 'extractor_rule_set_id'>) =>
      PRICING_KIND.checkedConfig({ extractor_rule_set_id: '', ...input }),
  );
  refuseInvalid(details);
  return {
    ...(extractor === undefined ? {} : { extractor: { origin: UNSAVED, config: extractor } }),
    ...(pricing === undefined
      ? {}
      : { pricing: { origin: UNSAVED, config: pricing, purpose: purposeOf(naming.pricing?.purpose) } }),
  };
}

/** Returns the checked config of an input, or adds its problems to `details`. */
function attempt<Input, Config>(
  field: string,
  input: Input | undefined,
  details: ErrorDetail[],
  check: (input: Input) => Config,
): Config | undefined {
  if (input === undefined) return undefined;
  try {
    return check(input);
  } catch (error) {
    if (!(error instanceof DomainError) || error.details === undefined) throw error;
    for (const { path, message } of error.details) details.push({ path: `${field}.${path}`, message });
    return undefined;
  }
}

function savedExtractor(
  { extractors }: RuleSetsForTrial,
  project: ProjectRef,
  { extractor_rule_set_id: id = '', version }: Naming,
): Promise<TrialConfig<ExtractorConfig>> {
  return saved(extractors, project, id, version, 'an extractor', 'extractor_rule_set_id');
}

async function savedPricing(
  { pricings }: RuleSetsForTrial,
  project: ProjectRef,
  { pricing_rule_set_id: id, pricing_version: version }: Naming,
): Promise<TrialPrices | undefined> {
  if (id === undefined) return undefined;
  const found = await saved(pricings, project, id, version, 'a pricing', 'pricing_rule_set_id');
  return { ...found, purpose: purposeOf(found.purpose) };
}

const purposeOf = (purpose: PricingPurpose | null | undefined) => purpose ?? PRICING_PURPOSE_DEFAULT;

async function boundPrices(
  ruleSets: RuleSetsForTrial,
  project: ProjectRef,
  { extractor_rule_set_id: id }: Naming,
): Promise<PricesOverTime> {
  return id === undefined ? NO_PRICES : ruleSets.boundPrices.of(project.projectId, id);
}

/**
 * @param kind that of the rule sets, as the error names it
 * @throws DomainError `rule_set_not_found`, as a 400 that names the field, because the path of the request is right
 */
export async function saved<Config>(
  ruleSets: SavedRuleSets<Config>,
  project: ProjectRef,
  ruleSetId: string,
  version: number | undefined,
  kind: 'an extractor' | 'a pricing',
  path: string,
): Promise<SavedConfig<Config>> {
  try {
    const found = await ruleSets.read(project, ruleSetId, version);
    const { id, version: foundVersion, config, purpose, extractor_rule_set_id: boundTo } = found;
    return { origin: { ruleSetId: id, version: foundVersion }, config, purpose, boundTo };
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'rule_set_not_found') throw error;
    const withVersion = version === undefined ? '' : ` that has version ${version}`;
    const message = `expected ${kind} rule set of this project${withVersion}`;
    throw new DomainError('rule_set_not_found', { details: [{ path, message }], inBody: true });
  }
}

/**
 * Compiles an extractor that was saved or has just been checked; each expression is compiled when an event first needs
 * it.
 */
export function compiledExtractor(
  { config, origin }: TrialConfig<ExtractorConfig>,
  codeMemory: BoundedMemory,
): CompiledExtractor {
  const result = compileExtractor(config, origin, codeMemory);
  return result.ok ? result.extractor : refuseToCompile(origin, result.issues);
}

/** Returns the active rules with those of one purpose replaced, at any time. */
function replaced(
  bound: PricesOverTime,
  { config, origin, purpose }: TrialPrices,
  codeMemory: BoundedMemory,
): PricesOverTime {
  const result = compilePricing(config, origin, codeMemory);
  if (!result.ok) refuseToCompile(origin, result.issues);
  const list = priceListOf([result.pricing]);
  const configs = new Map([[origin.ruleSetId, config]]);
  const replace = ({ lists, ...active }: ActivePrices): ActivePrices =>
    purpose === 'price'
      ? { ...active, lists: { ...lists, prices: list }, configs }
      : { ...active, lists: { ...lists, costs: list }, costConfigs: configs };
  return {
    at: (occurredAt) => {
      const active = bound.at(occurredAt);
      return active instanceof Promise ? active.then(replace) : replace(active);
    },
  };
}

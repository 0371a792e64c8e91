import type {
  BacktestRequest,
  ErrorDetail,
  ExtractorConfig,
  ExtractorRuleSetInput,
  PricingConfig,
  PricingRuleSetInput,
  RulesTestRequest,
} from '@tollgate/contract';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { DomainError, ERROR_DETAILS_MAX, invalidRequest } from '../../kernel/errors.js';
import type { ProjectRef } from '../../kernel/scope.js';
import {
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
  ): Promise<{ readonly id: string; readonly version: number; readonly config: Config }>;
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

/** The rules under test, ready to rate. */
export interface TrialRating {
  readonly extractor: CompiledExtractor;
  readonly prices: PricesOverTime;
}

/** The same, with the text of the extractor. */
export interface TrialRules {
  readonly rating: TrialRating;
  readonly extractor: TrialConfig<ExtractorConfig>;
}

type Naming = Pick<
  RulesTestRequest & BacktestRequest,
  'extractor' | 'version' | 'pricing' | 'pricing_rule_set_id' | 'pricing_version'
> & { readonly extractor_rule_set_id?: string };

/** Source of the expressions of one trial that are kept compiled: more than two rule sets can have. */
const CODE_BYTES_MAX = 4 * 1_048_576;

/**
 * Returns the rules that the request names. When it names an extractor rule set and no pricing rules, these are those
 * of production: the published pricing rule sets that are bound to it and were active when the event occurred.
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
  const prices =
    pricing === undefined ? await boundPrices(ruleSets, project, naming) : pricesOf(pricing, codeMemory);
  return { rating: { extractor: compiledExtractor(extractor, codeMemory), prices }, extractor };
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
  readonly pricing?: TrialConfig<PricingConfig>;
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
  const first = details[0];
  if (first !== undefined) {
    throw new DomainError('invalid_request', {
      message: `The request is not valid: ${first.path}: ${first.message}.`,
      details: details.slice(0, ERROR_DETAILS_MAX),
    });
  }
  return {
    ...(extractor === undefined ? {} : { extractor: { origin: UNSAVED, config: extractor } }),
    ...(pricing === undefined ? {} : { pricing: { origin: UNSAVED, config: pricing } }),
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
  return saved(extractors, project, id, version, 'extractor_rule_set_id', 'version');
}

async function savedPricing(
  { pricings }: RuleSetsForTrial,
  project: ProjectRef,
  { pricing_rule_set_id: id, pricing_version: version }: Naming,
): Promise<TrialConfig<PricingConfig> | undefined> {
  if (id === undefined) return undefined;
  return saved(pricings, project, id, version, 'pricing_rule_set_id', 'pricing_version');
}

async function boundPrices(
  ruleSets: RuleSetsForTrial,
  project: ProjectRef,
  { extractor_rule_set_id: id }: Naming,
): Promise<PricesOverTime> {
  return id === undefined ? NO_PRICES : ruleSets.boundPrices.of(project.projectId, id);
}

/** @throws DomainError `rule_set_not_found`, as a 400 that names the field, because the path of the request is right */
export async function saved<Config>(
  ruleSets: SavedRuleSets<Config>,
  project: ProjectRef,
  ruleSetId: string,
  version: number | undefined,
  idField: string,
  versionField: string,
): Promise<TrialConfig<Config>> {
  try {
    const found = await ruleSets.read(project, ruleSetId, version);
    return { origin: { ruleSetId: found.id, version: found.version }, config: found.config };
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'rule_set_not_found') throw error;
    const message =
      version === undefined
        ? 'no such rule set in this project'
        : `no such rule set, or no such ${versionField}`;
    throw new DomainError('rule_set_not_found', { details: [{ path: idField, message }], inBody: true });
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

/** Returns prices that are the same at any time. */
function pricesOf({ config, origin }: TrialConfig<PricingConfig>, codeMemory: BoundedMemory): PricesOverTime {
  const result = compilePricing(config, origin, codeMemory);
  if (!result.ok) refuseToCompile(origin, result.issues);
  const prices = { list: priceListOf([result.pricing]), configs: new Map([[origin.ruleSetId, config]]) };
  return { at: () => prices };
}

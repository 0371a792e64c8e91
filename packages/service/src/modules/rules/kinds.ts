import {
  type ExtractorConfig,
  type ExtractorRuleSetInput,
  PRICING_CURRENCY_DEFAULT,
  PRICING_PRIORITY_DEFAULT,
  type PricingConfig,
  type PricingPurpose,
  type PricingRuleSetInput,
  type Warning,
} from '@tollgate/contract';
import { parseDecimal, toText } from '../../kernel/decimal.js';
import { refuseInvalid } from '../../kernel/errors.js';
import type { ProjectScope } from '../../kernel/scope.js';
import type { ProjectDb } from '../../platform/postgres/index.js';
import { compileExtractor, type DefinedCounter, definedCounters } from './extract/index.js';
import { compilePricing } from './pricing/index.js';
import { savedPricingWarnings } from './rule-warnings.js';
import type { RuleSetKindName, StoredVersion } from './store.js';
import { expandTemplate } from './templates/index.js';

/** Fields that a version of either kind can have in addition to its config. */
export interface VersionInput {
  readonly name?: string;
  readonly template_id?: string;
  readonly effective_from?: number;
  readonly extractor_rule_set_id?: string;
  readonly purpose?: PricingPurpose;
}

/** The differences between the two kinds of rule sets. */
export interface RuleSetKind<Input extends VersionInput, Config extends object> {
  readonly name: RuleSetKindName;
  readonly idPrefix: 'ers' | 'prs';
  /** Its name in the audit log. */
  readonly resourceType: string;
  /**
   * Returns the config of the input as it is stored.
   *
   * @throws DomainError `invalid_request` with every place that does not compile.
   */
  checkedConfig(input: Input): Config;
  /** Returns warnings about a saved or published version; undefined for kinds without warnings. */
  warningsAbout?(db: ProjectDb, version: StoredVersion<Config>): Promise<Warning[]>;
  /** Returns the counters of a checked config. */
  countersOf(config: Config): readonly DefinedCounter[];
  /** Returns the config as it is shown and compared, with absent parts filled in as empty. */
  shownConfig(config: Config): Required<Config>;
}

/**
 * Calls `checkedConfig` of the kind for a project, on any thread: five hundred long expressions take a second to
 * compile.
 *
 * @throws DomainError as `checkedConfig` does
 */
export type CheckConfig = <Input extends VersionInput, Config extends object>(
  project: ProjectScope,
  kind: RuleSetKind<Input, Config>,
  input: Input,
) => Promise<Config>;

/** Checks on the calling thread. */
export const checkConfigHere: CheckConfig = async (_project, kind, input) => kind.checkedConfig(input);

export const EXTRACTOR_KIND: RuleSetKind<ExtractorRuleSetInput, ExtractorConfig> = {
  name: 'extractor',
  idPrefix: 'ers',
  resourceType: 'extractor_rule_set',
  checkedConfig: (input) => {
    const config = expandTemplate(input);
    const compiled = compileExtractor(config);
    if (!compiled.ok) refuseInvalid(compiled.issues);
    const { charge_item_extractors: extractors } = config;
    return extractors === undefined
      ? config
      : { ...config, charge_item_extractors: extractors.map(withPlainUnit) };
  },
  countersOf: ({ charge_item_extractors: entries = [] }) =>
    definedCounters(entries, 'charge_item_extractors'),
  shownConfig: (config) => ({
    subject: {},
    dimensions: [],
    charge_item_extractors: [],
    on_unpriced: 'accept',
    ...config,
  }),
};

export const PRICING_KIND: RuleSetKind<PricingRuleSetInput, PricingConfig> = {
  name: 'pricing',
  idPrefix: 'prs',
  resourceType: 'pricing_rule_set',
  checkedConfig: ({ currency = PRICING_CURRENCY_DEFAULT, rules = [], aliases = [] }) => {
    const compiled = compilePricing({ currency, rules, aliases });
    if (!compiled.ok) refuseInvalid(compiled.issues);
    // Sorted after the check, because its findings name the places that were sent. The sort is stable.
    const sorted = rules.map(withPlainUnit).toSorted((a, b) => priorityOf(a) - priorityOf(b));
    return { currency, rules: sorted, aliases };
  },
  warningsAbout: savedPricingWarnings,
  countersOf: ({ currency, rules = [] }) =>
    definedCounters(
      rules.map((rule) => ({ ...rule, ...(currency === undefined ? {} : { currency }) })),
      'rules',
    ),
  shownConfig: (config) => ({ currency: PRICING_CURRENCY_DEFAULT, rules: [], aliases: [], ...config }),
};

/** Returns an entry with its checked pricing unit as the API writes decimals. */
function withPlainUnit<Entry extends { readonly pricing_unit?: string | number }>(entry: Entry): Entry {
  if (entry.pricing_unit === undefined) return entry;
  const unit = parseDecimal(String(entry.pricing_unit));
  return unit === undefined ? entry : { ...entry, pricing_unit: toText(unit) };
}

const priorityOf = ({ priority = PRICING_PRIORITY_DEFAULT }: { readonly priority?: number }) => priority;

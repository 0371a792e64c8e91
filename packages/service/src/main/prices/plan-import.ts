import { isDeepStrictEqual } from 'node:util';
import {
  NAME_CHARS_MAX,
  PRICING_CURRENCY_DEFAULT,
  PRICING_PURPOSE_DEFAULT,
  PRICING_RULE_SETS_IN_FORCE_MAX,
  type PricingPurpose,
  type PricingRuleSet,
  type PricingRuleSetInput,
} from '@tollgate/contract';
import type { ConvertedModel } from '../../modules/rules/index.js';
import { StartError } from '../start-error.js';
import { divideModels, type ModelShare } from './divide-models.js';
import type { PricesImport, RuleSetFields } from './options.js';

const NAME_DEFAULTS: Readonly<Record<PricingPurpose, string>> = {
  price: 'Imported model prices',
  cost: 'Imported model costs',
};

/** One pricing rule set, and its planned content. */
export interface PlannedRuleSet {
  /** The newest version of the existing rule set. */
  readonly known: PricingRuleSet | undefined;
  readonly input: PricingRuleSetInput;
  /** Whether it already has the planned content. */
  readonly isSaved: boolean;
  readonly isOverfull: boolean;
}

/** Existing rule sets of an import, by index; there may be gaps. */
export type KnownRuleSets = readonly (PricingRuleSet | undefined)[];

/** Default name of an import of these models; each choice of models has its own rule sets for each purpose. */
export function importName({ ruleSet, models, providers }: PricesImport): string {
  if (ruleSet.name !== undefined) return ruleSet.name;
  const chosen = [...providers, ...models].join(', ');
  const base = NAME_DEFAULTS[ruleSet.purpose ?? PRICING_PURPOSE_DEFAULT];
  const name = chosen === '' ? base : `${base}: ${chosen}`;
  if (nameAt(name, PRICING_RULE_SETS_IN_FORCE_MAX - 1).length > NAME_CHARS_MAX) {
    throw new StartError('The default name for these models is too long: set one with --name.');
  }
  return name;
}

function nameAt(name: string, place: number): string {
  return place === 0 ? name : `${name} ${place + 1}`;
}

/**
 * Returns the rule sets of an earlier import of this name, among those of the extractor rule set and the purpose.
 * @throws StartError if two have the same name, because the import cannot choose one
 */
export function findEarlierImport(name: string, ruleSets: readonly PricingRuleSet[]): KnownRuleSets {
  const placesByName = new Map(
    Array.from({ length: PRICING_RULE_SETS_IN_FORCE_MAX }, (_, place) => [nameAt(name, place), place]),
  );
  const known: (PricingRuleSet | undefined)[] = [];
  for (const ruleSet of ruleSets) {
    const place = placesByName.get(ruleSet.name);
    if (place === undefined || ruleSet.status === 'archived') continue;
    const other = known[place];
    if (other !== undefined) {
      throw new StartError(
        `The pricing rule sets ${other.id} and ${ruleSet.id} are both named "${ruleSet.name}": archive one of them, give ` +
          'another --name, or name the one to change with --update.',
      );
    }
    known[place] = ruleSet;
  }
  return Array.from(known);
}

/** The planned rule sets: one for each share of the models, including earlier ones that have no models left. */
export function planImport(
  models: readonly ConvertedModel[],
  extractorRuleSetId: string,
  fields: RuleSetFields & { readonly name: string },
  known: KnownRuleSets = [],
): PlannedRuleSet[] {
  const shares = divideModels(models, homesOf(known));
  const count = Math.max(shares.length, known.length);
  return Array.from({ length: count }, (_, place): PlannedRuleSet => {
    const share = shares[place] ?? { rules: [], aliases: [], isOverfull: false };
    const before = known[place];
    const input = inputOf(share, extractorRuleSetId, { ...fields, name: nameAt(fields.name, place) }, before);
    return {
      known: before,
      input,
      isSaved: before !== undefined && says(before, input),
      isOverfull: share.isOverfull,
    };
  });
}

function homesOf(known: KnownRuleSets): Map<string, number> {
  const currentPlaces = new Map<string, number>();
  for (const [place, ruleSet] of known.entries()) {
    for (const { match_expr: condition } of ruleSet?.rules ?? []) {
      if (condition !== undefined && !currentPlaces.has(condition)) currentPlaces.set(condition, place);
    }
  }
  return currentPlaces;
}

function inputOf(
  { rules, aliases }: ModelShare,
  extractorRuleSetId: string,
  { name, purpose, currency, effectiveFrom }: RuleSetFields & { readonly name: string },
  known: PricingRuleSet | undefined,
): PricingRuleSetInput {
  return {
    extractor_rule_set_id: extractorRuleSetId,
    ...(purpose !== undefined && { purpose }),
    name,
    currency: currency ?? known?.currency ?? PRICING_CURRENCY_DEFAULT,
    ...(effectiveFrom !== undefined && { effective_from: effectiveFrom }),
    rules: [...rules],
    ...(aliases.length > 0 && { aliases: [...aliases] }),
  };
}

/** Whether a version already equals the body of an update. */
function says(
  version: PricingRuleSet,
  { aliases = [], effective_from: from, purpose, ...input }: PricingRuleSetInput,
) {
  const { extractor_rule_set_id, name, currency, rules } = version;
  return (
    (from === undefined || from === version.effective_from) &&
    (purpose === undefined || purpose === version.purpose) &&
    isDeepStrictEqual(version.aliases, aliases) &&
    isDeepStrictEqual({ extractor_rule_set_id, name, currency, rules }, input)
  );
}

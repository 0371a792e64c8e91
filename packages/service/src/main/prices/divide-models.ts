import {
  PRICING_ALIASES_MAX,
  PRICING_PRIORITY_DEFAULT,
  PRICING_RULES_MAX,
  type PricingAlias,
  type PricingRule,
} from '@tollgate/contract';
import { type ConvertedModel, uniqueAliases } from '../../modules/rules/index.js';
import { StartError } from '../start-error.js';

/** The planned content of one pricing rule set. */
export interface ModelShare {
  /** By ascending priority, as the service keeps them. */
  readonly rules: readonly PricingRule[];
  readonly aliases: readonly PricingAlias[];
  /** Whether a model had to move because there was no room left. */
  readonly isOverfull: boolean;
}

/** Index of the pricing rule set that already holds a model, by the condition of its rules. */
export type RuleSetsByModel = ReadonlyMap<string, number>;

/**
 * Divides models over as many pricing rule sets as their rules and aliases need. A model stays where it is
 * while there is room, so that a new table changes only the rule sets whose prices have changed. Any other
 * takes the first place with room.
 * @throws StartError for a model that no rule set has room for
 */
export function divideModels(
  models: readonly ConvertedModel[],
  currentPlaces: RuleSetsByModel = new Map(),
): ModelShare[] {
  const places = Array.from({ length: Math.max(0, ...currentPlaces.values()) + 1 }, () => new Place());
  const unplaced = models.filter((model) => {
    const current = currentPlaces.get(model.condition);
    const place = current === undefined ? undefined : places[current];
    return place === undefined || !place.take(model);
  });
  for (const model of unplaced) {
    if (places.some((place) => place.take(model))) continue;
    const place = new Place();
    if (!place.take(model))
      throw new StartError(`${model.model} has more prices than a pricing rule set has rules.`);
    places.push(place);
  }
  const wereFull = new Set(unplaced.map(({ condition }) => currentPlaces.get(condition)));
  return places.map(({ models: taken }, number) => ({
    rules: taken.flatMap(({ rules }) => rules).sort((a, b) => priorityOf(a) - priorityOf(b)),
    aliases: uniqueAliases(taken.flatMap(({ aliases }) => aliases)),
    isOverfull: wereFull.has(number),
  }));
}

const priorityOf = ({ priority = PRICING_PRIORITY_DEFAULT }: PricingRule): number => priority;

class Place {
  readonly models: ConvertedModel[] = [];
  #rules = 0;
  #aliases = 0;

  /** Returns false when there is no room for the model. */
  take(model: ConvertedModel): boolean {
    const rules = this.#rules + model.rules.length;
    const aliases = this.#aliases + model.aliases.length;
    if (rules > PRICING_RULES_MAX || aliases > PRICING_ALIASES_MAX) return false;
    this.models.push(model);
    [this.#rules, this.#aliases] = [rules, aliases];
    return true;
  }
}

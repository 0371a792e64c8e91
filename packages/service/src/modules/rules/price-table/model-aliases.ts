import { ALIAS_CHARS_MAX, type PricingAlias } from '@tollgate/contract';
import { groupBy } from '../../../kernel/maps.js';

/** A model of the table. */
export interface TableModel {
  readonly model: string;
  readonly provider: unknown;
  /** Equal for models that cost the same. */
  readonly prices: string;
  /** Equal for models that cost the same but for batches, service tiers and large prompts. */
  readonly basePrices: string;
}

/** A name that ends with a release date already, as in `-2025-08-07`, `-20250929` and `@20250929`. */
const DATED = /[-@]202\d/;
/**
 * Endings that are a release date, as far as a pattern can tell: any year of this decade. A shorter one, such as
 * `-20*`, would also match sizes of models such as `-20b`.
 */
const DATE_PATTERNS = ['-202*', '@202*'];

/**
 * Returns other names under which models are reported, by model: with the prefix of their provider
 * (`openai/gpt-5-mini`), without it (`gemini/gemini-2.5-pro`), and with a release date after them. A name that fits
 * models with different prices is not an alias. A name with the prefix of a provider means that provider's model, even
 * if a gateway in the same table has another price for it.
 *
 * @param models those that have rules
 * @param others all other models of the table, which stay unpriced, except for releases at the price of their model
 * @param chosen names that are no aliases
 */
export function modelAliases(
  models: readonly TableModel[],
  others: readonly TableModel[],
  chosen: ReadonlySet<string>,
): ReadonlyMap<string, readonly PricingAlias[]> {
  const withPrefix = clearNames(models, prefixed, chosen);
  const withoutPrefix = clearNames(
    models,
    shortened,
    new Set([...chosen, ...withPrefix.map(([name]) => name)]),
  );
  const otherNames = [...withPrefix, ...withoutPrefix];
  const exact = otherNames.map(([pattern, named]) => ({ named, pattern, value: named.model }));
  const names = [...models.map((named) => [named.model, named] as const), ...otherNames];
  const taken = [...exact, ...unpricedNames(others, new Set(names.map(([name]) => name)))].filter(
    ({ pattern }) => DATED.test(pattern),
  );
  const dated = names
    .filter(([name]) => !DATED.test(name))
    .flatMap(([name, named]) => datedAliases(name, named, taken));
  const aliases = [...exact, ...dated].filter(
    ({ pattern, value }) =>
      !value.includes('*') && pattern.length <= ALIAS_CHARS_MAX && value.length <= ALIAS_CHARS_MAX,
  );
  const byModel = groupBy(aliases, ({ named }) => named.model);
  return new Map(
    Array.from(byModel, ([model, own]) => [
      model,
      uniqueAliases(own.map(({ pattern, value }) => ({ dimension: 'model', pattern, value }))),
    ]),
  );
}

/** Returns aliases without those that repeat a pattern. */
export function uniqueAliases(aliases: readonly PricingAlias[]): PricingAlias[] {
  const patterns = new Set<string>();
  return aliases.filter(({ pattern }) => !patterns.has(pattern) && patterns.add(pattern));
}

/** An alias and its model; the value of a name that stays unpriced is the name itself. */
interface NamedAlias extends Omit<PricingAlias, 'dimension'> {
  readonly named: TableModel;
}

/**
 * Returns the aliases of a name with release dates. Names of other models that their patterns fit come first, because
 * the first pattern of a rule set applies, and other rule sets do not see it.
 */
function datedAliases(name: string, named: TableModel, taken: readonly NamedAlias[]): NamedAlias[] {
  return DATE_PATTERNS.flatMap((date) => {
    const start = name + date.slice(0, -1);
    const before = taken.filter((each) => each.pattern.startsWith(start) && isOther(each, named));
    return [
      ...before.map((each) => ({ ...each, named })),
      { named, pattern: name + date, value: named.model },
    ];
  });
}

/** Whether a name that fits a pattern of a model means another model. */
function isOther({ named, pattern, value }: NamedAlias, model: TableModel): boolean {
  if (value !== pattern) return value !== model.model;
  return named.provider === model.provider && named.basePrices !== model.basePrices;
}

/** Returns the names of models without rules; names of models with rules are left out. */
function unpricedNames(others: readonly TableModel[], priced: ReadonlySet<string>): NamedAlias[] {
  return others.flatMap((named) =>
    [named.model, prefixed(named), shortened(named)]
      .filter((name) => name !== undefined)
      .filter((name) => !priced.has(name))
      .map((name) => ({ named, pattern: name, value: name })),
  );
}

/** Returns names that are not taken, each with its model: the first of several at one price. */
function clearNames(
  models: readonly TableModel[],
  nameOf: (model: TableModel) => string | undefined,
  taken: ReadonlySet<string>,
): (readonly [name: string, model: TableModel])[] {
  const modelsByName = new Map<string, TableModel[]>();
  for (const priced of models) {
    const name = nameOf(priced);
    if (name !== undefined && !taken.has(name))
      modelsByName.set(name, [...(modelsByName.get(name) ?? []), priced]);
  }
  return [...modelsByName].flatMap(([name, [first, ...rest]]) =>
    first !== undefined && rest.every(({ prices }) => prices === first.prices)
      ? [[name, first] as const]
      : [],
  );
}

function prefixed({ model, provider }: TableModel): string | undefined {
  if (typeof provider !== 'string' || provider === '') return undefined;
  return model.includes('/') ? undefined : `${provider}/${model}`;
}

function shortened({ model, provider }: TableModel): string | undefined {
  const slash = model.indexOf('/');
  if (typeof provider !== 'string' || slash <= 0 || slash === model.length - 1) return undefined;
  // `vertex_ai/…` belongs to the provider `vertex_ai-language-models`.
  return provider.startsWith(model.slice(0, slash)) ? model.slice(slash + 1) : undefined;
}

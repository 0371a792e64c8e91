import { ALIAS_CHARS_MAX, type PricingAlias } from '@tollgate/contract';

/** A model that has rules. */
export interface PricedModel {
  readonly model: string;
  readonly provider: unknown;
  /** Equal for models that cost the same. */
  readonly prices: string;
}

/** A name that ends with a release date already, as in `-2025-08-07`, `-20250929` and `@20250929`. */
const DATED = /[-@]202\d/;
/**
 * Endings that are a release date, as far as a pattern can tell: any year of this decade. A shorter one, such as
 * `-20*`, would also match sizes of models such as `-20b`.
 */
const DATE_PATTERNS = ['-202*', '@202*'];

/**
 * Returns other names under which the models of a table are reported: with the prefix of their provider
 * (`openai/gpt-5-mini`), without it (`gemini/gemini-2.5-pro`), and with a release date after them. A name that fits
 * models with different prices is not an alias. A name with the prefix of a provider means that provider's model, even
 * if a gateway in the same table has another price for it.
 */
export function modelAliases(models: readonly PricedModel[]): PricingAlias[] {
  const known = new Set(models.map(({ model }) => model));
  const withPrefix = clearNames(models, prefixed, known);
  const withoutPrefix = clearNames(
    models,
    shortened,
    new Set([...known, ...withPrefix.map(([name]) => name)]),
  );
  const others = [...withPrefix, ...withoutPrefix];
  const names = [...models.map(({ model }) => [model, model] as const), ...others];
  const dated = names
    .filter(([name]) => !DATED.test(name))
    .flatMap(([name, model]) => DATE_PATTERNS.map((date) => [name + date, model] as const));
  return [...others, ...dated]
    .filter(
      ([pattern, model]) =>
        !model.includes('*') && pattern.length <= ALIAS_CHARS_MAX && model.length <= ALIAS_CHARS_MAX,
    )
    .map(([pattern, value]) => ({ dimension: 'model', pattern, value }));
}

/** Returns names that are not taken, each with its model: the first of several at one price. */
function clearNames(
  models: readonly PricedModel[],
  nameOf: (model: PricedModel) => string | undefined,
  taken: ReadonlySet<string>,
): (readonly [name: string, model: string])[] {
  const modelsByName = new Map<string, PricedModel[]>();
  for (const priced of models) {
    const name = nameOf(priced);
    if (name !== undefined && !taken.has(name))
      modelsByName.set(name, [...(modelsByName.get(name) ?? []), priced]);
  }
  return [...modelsByName].flatMap(([name, [first, ...rest]]) =>
    first !== undefined && rest.every(({ prices }) => prices === first.prices)
      ? [[name, first.model] as const]
      : [],
  );
}

function prefixed({ model, provider }: PricedModel): string | undefined {
  if (typeof provider !== 'string' || provider === '') return undefined;
  return model.includes('/') ? undefined : `${provider}/${model}`;
}

function shortened({ model, provider }: PricedModel): string | undefined {
  const slash = model.indexOf('/');
  if (typeof provider !== 'string' || slash <= 0 || slash === model.length - 1) return undefined;
  // `vertex_ai/…` belongs to the provider `vertex_ai-language-models`.
  return provider.startsWith(model.slice(0, slash)) ? model.slice(slash + 1) : undefined;
}

import { ALIAS_CHARS_MAX, type PricingAlias } from '@tollgate/contract';

/** A model that has rules. */
export interface PricedModel {
  readonly model: string;
  readonly provider: unknown;
  /** Equal for models that cost the same. */
  readonly prices: string;
}

/** A name that ends with the date of a release already, as in `-2025-08-07`, `-20250929` and `@20250929`. */
const DATED = /[-@]202\d/;
/**
 * Endings that are the date of a release, as far as a pattern can say: any year of this decade. A shorter
 * one, such as `-20*`, would also fit sizes of models such as `-20b`.
 */
const DATE_PATTERNS = ['-202*', '@202*'];

/**
 * Other names under which the models of a table are reported: with the prefix of their provider
 * (`openai/gpt-5-mini`), without it (`gemini/gemini-2.5-pro`), and with the date of a release after them. A
 * name that fits models with different prices is no alias. A name with the prefix of a provider means that provider's
 * model, even if a gateway in the same table has another price for it.
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

/** Names that are not taken, each with the model that is meant by it: the first, of several at one price. */
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
  // `vertex_ai/…` is of the provider `vertex_ai-language-models`.
  return provider.startsWith(model.slice(0, slash)) ? model.slice(slash + 1) : undefined;
}

import { ALIAS_CHARS_MAX, type PricingAlias } from '@tollgate/contract';

/** A model that has rules. */
export interface PricedModel {
  readonly model: string;
  readonly provider: unknown;
  /** Equal for models that cost the same. */
  readonly prices: string;
}

/** A name that ends with the date of a release already, as in `-2025-08-07`, `-20250929` and `@20250929`. */
const DATED = /[-@]20\d\d/;

/**
 * Other names under which the models of a table are reported: without the prefix of their provider (`gemini/gemini-2.5-pro`), with it,
 * and with the date of a release behind them. A name that models of several prices could be meant by has no alias.
 */
export function modelAliases(models: readonly PricedModel[]): PricingAlias[] {
  const known = new Set(models.map(({ model }) => model));
  const modelsByName = new Map<string, PricedModel[]>();
  for (const priced of models) {
    for (const name of otherNames(priced)) {
      if (!known.has(name)) modelsByName.set(name, [...(modelsByName.get(name) ?? []), priced]);
    }
  }
  const others = [...modelsByName].flatMap(([name, [first, ...rest]]) =>
    first !== undefined && rest.every(({ prices }) => prices === first.prices)
      ? [[name, first.model] as const]
      : [],
  );
  const names = [...models.map(({ model }) => [model, model] as const), ...others];
  const dated = names
    .filter(([name]) => !DATED.test(name))
    .map(([name, model]) => [`${name}-20*`, model] as const);
  return [...others, ...dated]
    .filter(
      ([pattern, model]) =>
        !model.includes('*') && pattern.length <= ALIAS_CHARS_MAX && model.length <= ALIAS_CHARS_MAX,
    )
    .map(([pattern, value]) => ({ dimension: 'model', pattern, value }));
}

function otherNames({ model, provider }: PricedModel): string[] {
  if (typeof provider !== 'string' || provider === '') return [];
  const slash = model.indexOf('/');
  if (slash < 0) return [`${provider}/${model}`];
  // `vertex_ai/…` is of the provider `vertex_ai-language-models`.
  const isPrefix = slash > 0 && slash < model.length - 1 && provider.startsWith(model.slice(0, slash));
  return isPrefix ? [model.slice(slash + 1)] : [];
}

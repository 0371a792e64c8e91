import type { PricingRule } from '@tollgate/contract';
import { dimensionAbove, modelIs, serviceTierIs } from './match-expression.js';
import {
  compareVariants,
  hasFallback,
  isDescription,
  PRICED_METRICS,
  type PricedMetric,
  type PriceVariant,
  priceVariant,
} from './price-keys.js';
import { type ReadPrice, readPrice, type UnitPrice } from './unit-price.js';

/** One entry of a price table. */
export type PriceRow = Readonly<Record<string, unknown>>;

/** A key of a row that became no rule, or a rule with another price, and the reason. */
export interface PriceFinding {
  readonly key: string;
  readonly reason: string;
}

/**
 * The result of converting one row. Every key is a description of the model, part of a rule, left out, or
 * refused.
 */
export interface ConvertedRow {
  readonly rules: readonly PricingRule[];
  /** Prompt sizes, in tokens, above which some of the rules apply. */
  readonly promptSizes: readonly number[];
  /** Metrics that are priced by the key of another metric. */
  readonly fallbacks: readonly PricedMetric[];
  /** Keys without a rule, because nothing that the templates count depends on them. */
  readonly leftOut: readonly string[];
  readonly refused: readonly PriceFinding[];
  readonly rounded: readonly string[];
}

/** A tenant's own rules with a lower number, 0 by default, come before imported ones. */
export const IMPORTED_PRIORITY = 100;

/**
 * Returns the rules of one model: one for each metric that the row prices, after those for its variants: batches,
 * service tiers and larger prompts.
 * @param promptTokensDimension number dimension with the size of the whole prompt in tokens, or its bands
 */
export function convertRow(model: string, row: PriceRow, promptTokensDimension: string): ConvertedRow {
  const prices = new RowPrices(row);
  const fallbacks: PricedMetric[] = [];
  const promptSizes = new Set<number>();
  const rules = PRICED_METRICS.flatMap((metric): PricingRule[] => {
    const key = priceKeyOf(metric, row);
    const base = key === undefined ? undefined : prices.take(key);
    if (key === undefined || base === undefined) return [];
    if (key !== metric.key) fallbacks.push(metric);
    const variants = prices.takeVariants(key);
    for (const { variant } of variants) if (variant.above !== undefined) promptSizes.add(variant.above);
    const all: VariantPrice[] = [...variants, { price: base }];
    return all.map(({ price, variant }, position) =>
      ruleOf({
        model,
        provider: row.litellm_provider,
        metric: metric.metric,
        price,
        variant,
        // The first matching rule counts, so each has a place of its own.
        priority: IMPORTED_PRIORITY - (variants.length - position),
        promptTokensDimension,
      }),
    );
  });
  return { rules, promptSizes: [...promptSizes], fallbacks, ...prices.remainder() };
}

/** Returns the key that prices a metric, even if its price is unusable: no other price must replace it silently. */
function priceKeyOf({ key, fallback }: PricedMetric, row: PriceRow): string | undefined {
  if (isPresent(row, key)) return key;
  return fallback !== undefined && hasFallback(row.mode) && isPresent(row, fallback) ? fallback : undefined;
}

function isPresent(row: PriceRow, key: string): boolean {
  return Object.hasOwn(row, key) && row[key] !== null;
}

interface RuleParts extends VariantPrice {
  readonly model: string;
  readonly provider: unknown;
  readonly metric: string;
  readonly priority: number;
  readonly promptTokensDimension: string;
}

/** A price, and the requests that it is for; without `variant`, all other requests. */
interface VariantPrice {
  readonly price: UnitPrice;
  readonly variant?: PriceVariant | undefined;
}

function ruleOf(parts: RuleParts): PricingRule {
  const { model, provider, metric, price, priority, variant, promptTokensDimension } = parts;
  const names = [model, metric];
  const conditions = [modelIs(model)];
  if (variant?.above !== undefined) {
    names.push(`above ${variant.above / 1_000}k`);
    conditions.push(dimensionAbove(promptTokensDimension, variant.above));
  }
  if (variant?.tier !== undefined) {
    names.push(variant.tier);
    conditions.push(serviceTierIs(variant.tier, provider));
  }
  return {
    name: names.join(' '),
    priority,
    metric,
    match_expr: conditions.join(' && '),
    ...price,
  };
}

/** The prices of a row; remembers which were read. */
class RowPrices {
  readonly #row: PriceRow;
  readonly #taken = new Map<string, ReadPrice>();

  constructor(row: PriceRow) {
    this.#row = row;
  }

  /** Returns undefined for a value that is not a price. */
  take(key: string): UnitPrice | undefined {
    const read = this.#taken.get(key) ?? readPrice(this.#row[key]);
    this.#taken.set(key, read);
    return read.ok ? read.price : undefined;
  }

  /** Returns the variants of a price in the order in which they are tried. */
  takeVariants(baseKey: string): (VariantPrice & { readonly variant: PriceVariant })[] {
    return Object.keys(this.#row)
      .flatMap((key) => {
        const variant = priceVariant(key);
        if (variant?.key !== baseKey || !isPresent(this.#row, key)) return [];
        const price = this.take(key);
        return price === undefined ? [] : [{ price, variant }];
      })
      .sort((a, b) => compareVariants(a.variant, b.variant));
  }

  /** Returns the keys of the row that the rules do not cover. */
  remainder(): Pick<ConvertedRow, 'leftOut' | 'refused' | 'rounded'> {
    const taken = [...this.#taken];
    return {
      leftOut: Object.keys(this.#row).filter(
        (key) => isPresent(this.#row, key) && !this.#taken.has(key) && !isDescription(key),
      ),
      refused: taken.flatMap(([key, read]) => (read.ok ? [] : [{ key, reason: read.reason }])),
      rounded: taken.flatMap(([key, read]) => (read.ok && read.isRounded ? [key] : [])),
    };
  }
}

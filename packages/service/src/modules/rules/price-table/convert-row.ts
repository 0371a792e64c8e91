import type { PricingRule } from '@tollgate/contract';
import { type Decimal, toText } from '../../../kernel/decimal.js';
import { dimensionAbove, modelIs } from './match-expression.js';
import {
  hasFallback,
  isDescription,
  PRICED_METRICS,
  type PricedMetric,
  promptSizePrice,
} from './price-keys.js';
import { type ReadPrice, readPrice } from './unit-price.js';

/** One entry of a price table. */
export type PriceRow = Readonly<Record<string, unknown>>;

/** A key of a row that became no rule, or not quite the price it was, and what is wrong with it. */
export interface PriceFinding {
  readonly key: string;
  readonly reason: string;
}

/** What became of one row. Every key is a description of the model, part of a rule, left out, or refused. */
export interface ConvertedRow {
  readonly rules: readonly PricingRule[];
  /** Metrics priced by the key that stands in for theirs. */
  readonly fallbacks: readonly PricedMetric[];
  /** Keys that no rule came of, because nothing that the templates count goes by them. */
  readonly leftOut: readonly string[];
  readonly refused: readonly PriceFinding[];
  readonly rounded: readonly string[];
}

/** Rules of one's own with a lower number, 0 when they name none, come before what was imported. */
export const IMPORTED_PRIORITY = 100;

/**
 * The rules of one model: one for each metric that the row prices. With `promptTokensDimension`, the name of a number
 * dimension with the size of the whole prompt, also those for larger prompts, which come first; without it those keys are left out.
 */
export function convertRow(model: string, row: PriceRow, promptTokensDimension?: string): ConvertedRow {
  const prices = new RowPrices(row);
  const fallbacks: PricedMetric[] = [];
  const rules = PRICED_METRICS.flatMap((metric): PricingRule[] => {
    const key = priceKeyOf(metric, row);
    const base = key === undefined ? undefined : prices.take(key);
    if (key === undefined || base === undefined) return [];
    if (key !== metric.key) fallbacks.push(metric);
    const forModel = (price: Decimal, above?: number) =>
      ruleOf({ model, metric: metric.metric, price, above, dimension: promptTokensDimension });
    const larger = promptTokensDimension === undefined ? [] : prices.takeAbove(key);
    return [...larger.map(({ price, above }) => forModel(price, above)), forModel(base)];
  });
  return { rules, fallbacks, ...prices.remainder() };
}

/** The key that prices a metric. One with an unusable price does: another price must not stand in for it unseen. */
function priceKeyOf({ key, fallback }: PricedMetric, row: PriceRow): string | undefined {
  if (isPresent(row, key)) return key;
  return fallback !== undefined && hasFallback(row.mode) && isPresent(row, fallback) ? fallback : undefined;
}

function isPresent(row: PriceRow, key: string): boolean {
  return Object.hasOwn(row, key) && row[key] !== null;
}

interface RuleParts {
  readonly model: string;
  readonly metric: string;
  readonly price: Decimal;
  /** Tokens that the prompt has to exceed, for a rule about larger prompts. */
  readonly above: number | undefined;
  readonly dimension: string | undefined;
}

function ruleOf({ model, metric, price, above, dimension }: RuleParts): PricingRule {
  const isLarger = above !== undefined && dimension !== undefined;
  return {
    name: isLarger ? `${model} ${metric} above ${above / 1_000}k` : `${model} ${metric}`,
    priority: IMPORTED_PRIORITY,
    metric,
    match_expr: isLarger ? `${modelIs(model)} && ${dimensionAbove(dimension, above)}` : modelIs(model),
    unit_price_expr: `dec("${toText(price)}")`,
  };
}

/** The prices of a row; remembers which were asked for. */
class RowPrices {
  readonly #taken = new Map<string, ReadPrice>();

  constructor(private readonly row: PriceRow) {}

  /** Undefined for what is no price. */
  take(key: string): Decimal | undefined {
    const read = this.#taken.get(key) ?? readPrice(this.row[key]);
    this.#taken.set(key, read);
    return read.ok ? read.price : undefined;
  }

  /** The variants of a price for larger prompts, the largest first: of several that match, the first rule counts. */
  takeAbove(baseKey: string): { price: Decimal; above: number }[] {
    return Object.keys(this.row)
      .flatMap((key) => {
        const variant = promptSizePrice(key);
        if (variant?.key !== baseKey || !isPresent(this.row, key)) return [];
        const price = this.take(key);
        return price === undefined ? [] : [{ price, above: variant.thresholdTokens }];
      })
      .sort((a, b) => b.above - a.above);
  }

  /** What the rules do not say of the row. */
  remainder(): Pick<ConvertedRow, 'leftOut' | 'refused' | 'rounded'> {
    const taken = [...this.#taken];
    return {
      leftOut: Object.keys(this.row).filter(
        (key) => isPresent(this.row, key) && !this.#taken.has(key) && !isDescription(key),
      ),
      refused: taken.flatMap(([key, read]) => (read.ok ? [] : [{ key, reason: read.reason }])),
      rounded: taken.flatMap(([key, read]) => (read.ok && read.isRounded ? [key] : [])),
    };
  }
}

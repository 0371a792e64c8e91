import type { PricingRule } from '@tollgate/contract';
import { unscaled } from '../../../exact-sum.js';
import { scaledNumber } from '../price-model/amount-at.js';
import { readPrice } from '../price-model/read-price.js';
import { moveRule } from '../rule-order.js';

/** Prices in the grid are for a million units, as providers publish them. */
export const GRID_PRICING_UNIT = '1000000';
/** Rules for all other models are tried after those of a model. */
const OTHERS_PRIORITY = 100;

/** A row: a value of the dimension, or null for all other values. */
export type GridRow = string | null;

/** The rules of a rule set that set a price per million units by one dimension. */
export interface PriceGrid {
  /** The dimension of the rows: `model`. */
  readonly dimension: string;
  readonly rows: readonly GridRow[];
  readonly metrics: readonly string[];
  /** Number of rules that the grid does not show. */
  readonly otherCount: number;
  /** Index of the rule that sets a price; undefined without one. */
  readonly ruleAt: (row: GridRow, metric: string) => number | undefined;
  /** The price as it was written; empty without one. */
  readonly priceAt: (row: GridRow, metric: string) => string;
}

interface GridRule {
  readonly index: number;
  readonly row: GridRow;
  readonly metric: string;
  readonly price: string;
}

const FIELDS = new Set(['name', 'priority', 'metric', 'match_expr', 'unit_price_expr', 'pricing_unit']);
const CONDITION = /^\s*dimensions(?:\.([A-Za-z_]\w*)|\[("(?:[^"\\]|\\.)*")\])\s*==\s*("(?:[^"\\]|\\.)*")\s*$/;

/**
 * Reads the rules that the grid can show: a unit price, for one value of the dimension or for all others. If two rules
 * are for the same cell, the first one applies and is shown.
 *
 * @param metrics columns to show even without a price
 * @param dimensions names of the dimensions; the first of them, or `model`, if no rule has one
 */
export function priceGridOf(
  rules: readonly PricingRule[],
  metrics: readonly string[],
  dimensions: readonly string[],
): PriceGrid {
  const read = rules.flatMap((rule, index) => gridRule(rule, index) ?? []);
  const dimension =
    dimensionOf(read) ?? (dimensions.includes('model') ? 'model' : (dimensions[0] ?? 'model'));
  const cells = new Map<string, GridRule>();
  for (const { dimension: own, ...rule } of read) {
    const cell = cellKey(rule.row, rule.metric);
    if ((own === undefined || own === dimension) && !cells.has(cell)) cells.set(cell, rule);
  }
  const shown = [...cells.values()];
  const rows = [...new Set(shown.map(({ row }) => row))];
  return {
    dimension,
    rows: [...rows.filter((row) => row !== null), ...rows.filter((row) => row === null)],
    metrics: [...new Set([...metrics, ...shown.map(({ metric }) => metric)])],
    otherCount: rules.length - shown.length,
    ruleAt: (row, metric) => cells.get(cellKey(row, metric))?.index,
    priceAt: (row, metric) => cells.get(cellKey(row, metric))?.price ?? '',
  };
}

function cellKey(row: GridRow, metric: string): string {
  return JSON.stringify([row, metric]);
}

function gridRule(
  rule: PricingRule,
  index: number,
): (GridRule & { readonly dimension: string | undefined }) | undefined {
  const { metric, match_expr } = rule;
  if (!Object.keys(rule).every((name) => FIELDS.has(name))) return undefined;
  const read = readPrice(rule);
  if ('reason' in read || read.model.kind !== 'per_unit') return undefined;
  const price = pricePerMillion(read.model);
  if (price === undefined) return undefined;
  if (match_expr === undefined) return { index, metric, price, row: null, dimension: undefined };
  const [, plain, quoted, value] = CONDITION.exec(match_expr) ?? [];
  if (value === undefined) return undefined;
  const [row, name] = [textIn(value), plain ?? textIn(quoted ?? '')];
  return row === undefined || name === undefined ? undefined : { index, metric, price, row, dimension: name };
}

/** The price of a million units, as it was written if it is for a million; undefined if it would have to be rounded. */
function pricePerMillion({ price, pricingUnit }: { readonly price: string; readonly pricingUnit: string }) {
  if (pricingUnit === GRID_PRICING_UNIT) return price;
  const [scaled, unit] = [scaledNumber(price), scaledNumber(pricingUnit || '1')];
  if (scaled === undefined || unit === undefined || unit === 0n) return undefined;
  const million = scaled * (scaledNumber(GRID_PRICING_UNIT) ?? 0n);
  return million % unit === 0n ? unscaled(million / unit) : undefined;
}

function textIn(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

/** The dimension that most rules have. */
function dimensionOf(rules: readonly { readonly dimension: string | undefined }[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { dimension } of rules) {
    if (dimension !== undefined) counts.set(dimension, (counts.get(dimension) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

/** Sets the price of a cell; an empty price removes its rule. */
export function withGridPrice(
  rules: readonly PricingRule[],
  grid: PriceGrid,
  { row, metric, price }: { readonly row: GridRow; readonly metric: string; readonly price: string },
): readonly PricingRule[] {
  const index = grid.ruleAt(row, metric);
  const known = index === undefined ? undefined : rules[index];
  const unit_price_expr = `dec(${JSON.stringify(price)})`;
  if (known !== undefined && index !== undefined) {
    return price === ''
      ? rules.toSpliced(index, 1)
      : rules.with(index, { ...known, unit_price_expr, pricing_unit: GRID_PRICING_UNIT });
  }
  if (price === '') return rules;
  const added = {
    name: `${row ?? 'other'} ${metric}`,
    ...(row === null ? { priority: OTHERS_PRIORITY } : {}),
    metric,
    ...(row === null ? {} : { match_expr: conditionOf(grid.dimension, row) }),
    unit_price_expr,
    pricing_unit: GRID_PRICING_UNIT,
  };
  return moveRule([...rules, added], rules.length, placeOf(rules, grid, row));
}

/** Removes all rules of a row. */
export function withoutGridRow(
  rules: readonly PricingRule[],
  grid: PriceGrid,
  row: GridRow,
): readonly PricingRule[] {
  const removed = new Set(grid.metrics.map((metric) => grid.ruleAt(row, metric)));
  return rules.filter((_, index) => !removed.has(index));
}

/** A rule of a model goes after those of other models, and before all rules without a condition. */
function placeOf(rules: readonly PricingRule[], grid: PriceGrid, row: GridRow): number {
  if (row === null) return rules.length;
  const ofModels = grid.rows
    .filter((each) => each !== null)
    .flatMap((each) => grid.metrics.flatMap((metric) => grid.ruleAt(each, metric) ?? []));
  if (ofModels.length > 0) return Math.max(...ofModels) + 1;
  const general = rules.findIndex(({ match_expr }) => match_expr === undefined);
  return general < 0 ? rules.length : general;
}

const PLAIN_NAME = /^[A-Za-z_]\w*$/;

function conditionOf(dimension: string, value: string): string {
  const name = PLAIN_NAME.test(dimension) ? `.${dimension}` : `[${JSON.stringify(dimension)}]`;
  return `dimensions${name} == ${JSON.stringify(value)}`;
}

/** Sets the prices of pasted cells, from a cell to the right and downwards; cells outside the grid are left out. */
export function withPastedPrices(
  rules: readonly PricingRule[],
  gridOf: (rules: readonly PricingRule[]) => PriceGrid,
  at: { readonly rows: readonly GridRow[]; readonly metrics: readonly string[]; readonly text: string },
): readonly PricingRule[] {
  const lines = at.text.replace(/\r/g, '').replace(/\n$/, '').split('\n');
  let next = rules;
  for (const [down, line] of lines.entries()) {
    for (const [right, cell] of line.split('\t').entries()) {
      const [row, metric] = [at.rows[down], at.metrics[right]];
      if (row === undefined || metric === undefined) continue;
      next = withGridPrice(next, gridOf(next), { row, metric, price: cell.replace(/[\s,$€£]/g, '') });
    }
  }
  return next;
}

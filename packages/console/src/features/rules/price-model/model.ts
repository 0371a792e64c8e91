import type { PricingRule } from '@tollgate/contract';

/** The price models of the form, in the order in which it offers them. */
export const PRICE_MODEL_KINDS = [
  'per_unit',
  'graduated',
  'volume',
  'package',
  'allowance',
  'overage',
  'percentage',
] as const;
export type PriceModelKind = (typeof PRICE_MODEL_KINDS)[number];

/** A tier with its last quantity, which is empty for the last tier. Numbers are texts, as a person typed them. */
export interface ModelTier {
  readonly upTo: string;
  readonly unitPrice: string;
}

/** The part of a price that its kind decides. Numbers are texts, as a person typed them. */
export type ModelCore =
  | { readonly kind: 'per_unit'; readonly price: string; readonly pricingUnit: string }
  | { readonly kind: 'graduated' | 'volume'; readonly tiers: readonly ModelTier[] }
  | { readonly kind: 'package'; readonly size: string; readonly price: string }
  | { readonly kind: 'allowance'; readonly included: string; readonly unitPrice: string }
  | {
      readonly kind: 'overage';
      readonly included: string;
      readonly unitPrice: string;
      /** The price beyond the included quantity is so many times the unit price. */
      readonly factor: string;
    }
  | { readonly kind: 'percentage'; readonly percent: string };

/** A price as people mean it. Empty texts of `fee`, `minimum` and `cap` stand for none. */
export type PriceModel = ModelCore & {
  /** Added once: to each charge item, or in each period. */
  readonly fee: string;
  readonly minimum: string;
  readonly cap: string;
};

/** The fields of a pricing rule or charge item extractor that set its price. */
export type RulePrice = Pick<
  PricingRule,
  'unit_price_expr' | 'pricing_unit' | 'amount_expr' | 'cumulative' | 'total_expr'
>;

export const PRICE_FIELD_NAMES = [
  'unit_price_expr',
  'pricing_unit',
  'amount_expr',
  'cumulative',
  'total_expr',
] as const satisfies readonly (keyof RulePrice)[];

/** Sets the price of a rule; its other fields stay. */
export function withPrice<T extends RulePrice>(rule: T, price: RulePrice): T {
  const rest: Partial<T> = { ...rule };
  for (const name of PRICE_FIELD_NAMES) delete rest[name];
  return { ...(rest as T), ...price };
}

export function hasPrice(rule: RulePrice): boolean {
  return PRICE_FIELD_NAMES.some((name) => rule[name] !== undefined);
}

/** Returns a model of another kind that keeps what both kinds have: prices, bounds, fee, minimum and cap. */
export function asKind(model: PriceModel | undefined, kind: PriceModelKind): PriceModel {
  const { fee = '', minimum = '', cap = '' } = model ?? {};
  return { ...coreOf(kind, boundOf(model), pricesOf(model)), fee, minimum, cap };
}

function coreOf(
  kind: PriceModelKind,
  bound: string,
  [first = '', second = first]: readonly string[],
): ModelCore {
  switch (kind) {
    case 'per_unit':
      return { kind, price: second, pricingUnit: '' };
    case 'graduated':
    case 'volume':
      return {
        kind,
        tiers: [
          { upTo: bound, unitPrice: first },
          { upTo: '', unitPrice: second },
        ],
      };
    case 'package':
      return { kind, size: bound, price: second };
    case 'allowance':
      return { kind, included: bound, unitPrice: second };
    case 'overage':
      // The units of an allowance cost nothing, and a price of zero has no multiples.
      return { kind, included: bound, unitPrice: first === '0' ? second : first, factor: '' };
    case 'percentage':
      return { kind, percent: '' };
  }
}

/** The first quantity at which the price changes; empty without one. */
function boundOf(model: PriceModel | undefined): string {
  switch (model?.kind) {
    case 'graduated':
    case 'volume':
      return model.tiers[0]?.upTo ?? '';
    case 'package':
      return model.size;
    case 'allowance':
    case 'overage':
      return model.included;
    default:
      return '';
  }
}

/** The first two prices of a model. */
function pricesOf(model: PriceModel | undefined): readonly string[] {
  switch (model?.kind) {
    case 'graduated':
    case 'volume':
      return model.tiers.slice(0, 2).map(({ unitPrice }) => unitPrice);
    case 'allowance':
      return ['0', model.unitPrice];
    case 'overage':
      return [model.unitPrice];
    case 'per_unit':
    case 'package':
      return [model.price];
    default:
      return [];
  }
}

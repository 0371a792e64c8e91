import type { CounterStep, ExtractorConfig, PricingConfig } from '@tollgate/contract';
import { compare, type Decimal, mul, toText } from '../../kernel/decimal.js';
import { decimalFromJson, parseLossless } from '../../kernel/json/json.js';
import { startedPackages } from './expression/index.js';
import { pricingRuleNames } from './pricing/index.js';

/** A price by tiers that stand in the expression itself. */
const TIERED_PRICE = /^\s*tier_(graduated|volume|package)\s*\(\s*total\.quantity\s*,(.*)\)\s*$/s;
const WRAPPED_NUMBER = /dec\(\s*("[^"]*"|[\d.]+)\s*\)/g;

/** Returns the next change of a price by tiers above a total; undefined where there is none, or none is known. */
export function nextStep(totalExpr: string, quantity: Decimal): CounterStep | undefined {
  const [, kind, text = ''] = TIERED_PRICE.exec(totalExpr) ?? [];
  const literals = kind === undefined ? undefined : literalsOf(text);
  if (literals === undefined) return undefined;
  return kind === 'package' ? nextPackage(literals, quantity) : nextTier(literals[0], quantity);
}

/** Reads arguments that are JSON once numbers stand without `dec()`. */
function literalsOf(text: string): readonly unknown[] | undefined {
  try {
    return parseLossless(`[${text.replaceAll(WRAPPED_NUMBER, '$1')}]`) as readonly unknown[];
  } catch {
    return undefined;
  }
}

function nextTier(tiers: unknown, quantity: Decimal): CounterStep | undefined {
  if (!Array.isArray(tiers)) return undefined;
  const reached = tiers.findIndex((tier) => {
    const upTo = numberAt(tier, 0);
    return upTo === undefined || compare(quantity, upTo) <= 0;
  });
  const upTo = numberAt(tiers[reached], 0);
  const unitPrice = numberAt(tiers[reached + 1], 1);
  if (upTo === undefined || unitPrice === undefined) return undefined;
  return { at_quantity: toText(upTo), unit_price: toText(unitPrice) };
}

/** The next package begins where the packages that were started are full. */
function nextPackage([size, price]: readonly unknown[], quantity: Decimal): CounterStep | undefined {
  const each = numberOf(size);
  const unitPrice = numberOf(price);
  if (each === undefined || unitPrice === undefined) return undefined;
  const full = mul(startedPackages(quantity, each), each);
  return { at_quantity: toText(full), unit_price: toText(unitPrice) };
}

function numberAt(tier: unknown, index: number): Decimal | undefined {
  return Array.isArray(tier) ? numberOf(tier[index]) : undefined;
}

function numberOf(value: unknown): Decimal | undefined {
  return value === null || value === undefined ? undefined : decimalFromJson(value as string);
}

/** Returns the `total_expr` of a rule by the name that charge items record; undefined if there is no such rule. */
export function totalExprOf(config: ExtractorConfig | PricingConfig, ruleName: string): string | undefined {
  if ('charge_item_extractors' in config) {
    return config.charge_item_extractors?.find(({ name, metric }) => (name ?? metric) === ruleName)
      ?.total_expr;
  }
  const { rules = [] } = config as PricingConfig;
  return rules[pricingRuleNames(rules).indexOf(ruleName)]?.total_expr;
}

import type { CounterStep, ExtractorConfig, PricingConfig } from '@tollgate/contract';
import { compare, type Decimal, mul, parseDecimal, toText } from '../../kernel/decimal.js';
import { type Literal, startedPackages, tierCallOf } from './expression/index.js';
import { pricingRuleNames } from './pricing/index.js';

/** Returns the next change of a price by tiers above a total; undefined where there is none, or none is known. */
export function nextStep(totalExpr: string, quantity: Decimal): CounterStep | undefined {
  const call = tierCallOf(totalExpr);
  if (call === undefined) return undefined;
  const { kind, literals } = call;
  return kind === 'package' ? nextPackage(literals, quantity) : nextTier(literals[0], quantity);
}

function nextTier(tiers: Literal | undefined, quantity: Decimal): CounterStep | undefined {
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
function nextPackage([size, price]: readonly Literal[], quantity: Decimal): CounterStep | undefined {
  const each = numberOf(size);
  const unitPrice = numberOf(price);
  if (each === undefined || unitPrice === undefined) return undefined;
  const full = mul(startedPackages(quantity, each), each);
  return { at_quantity: toText(full), unit_price: toText(unitPrice) };
}

function numberAt(tier: Literal | undefined, index: number): Decimal | undefined {
  return Array.isArray(tier) ? numberOf(tier[index]) : undefined;
}

function numberOf(value: Literal | undefined): Decimal | undefined {
  return typeof value === 'string' ? parseDecimal(value) : undefined;
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

import type { ModelCore, ModelTier, PriceModel, RulePrice } from './model.js';
import { NotInForm, type PriceNode, parsePrice } from './parse-price.js';
import { AMOUNT_SCALE, ITEM_QUANTITY, TOTAL_QUANTITY } from './write-price.js';

/** A price as a model, or the reason why the form cannot show it. */
export type ReadPrice = { readonly model: PriceModel } | { readonly reason: string };

/**
 * Reads the expressions of a price as a model. Other ways to write the same formula are read too, such as a number
 * instead of `dec("…")`. A graduated price of two tiers, of which the first is free, is an allowance.
 */
export function readPrice(fields: RulePrice): ReadPrice {
  try {
    return { model: modelOf(fields) };
  } catch (error) {
    if (error instanceof NotInForm) return { reason: error.message };
    throw error;
  }
}

const OTHER_FORMULA = 'its formula is none of these models';

function modelOf({
  unit_price_expr,
  pricing_unit,
  amount_expr,
  cumulative,
  total_expr,
}: RulePrice): PriceModel {
  const isTotal = cumulative !== undefined || total_expr !== undefined;
  const others = [unit_price_expr, pricing_unit, amount_expr].filter((each) => each !== undefined);
  if (isTotal) {
    if (others.length > 0) throw new NotInForm('it has a price for each event and one for a period');
    return modelIn(total_expr, (node) => coreIn(node, TOTAL_QUANTITY));
  }
  if (unit_price_expr === undefined) return modelIn(amount_expr, (node) => coreIn(node, ITEM_QUANTITY));
  const price = numberIn(parsed(unit_price_expr));
  const core: ModelCore = { kind: 'per_unit', price, pricingUnit: String(pricing_unit ?? '') };
  if (amount_expr === undefined) return { ...core, fee: '', minimum: '', cap: '' };
  return modelIn(amount_expr, (node) => {
    const [quantity, unitPrice] = termsOf(node, 'product', 2);
    if (!isName(quantity, ITEM_QUANTITY) || !isName(unitPrice, 'item.unit_price')) throw otherFormula();
    return core;
  });
}

function modelIn(source: string | undefined, readCore: (node: PriceNode) => ModelCore): PriceModel {
  if (source === undefined) throw otherFormula();
  const { rest: raised, bound: cap } = bounded(parsed(source), 'dec_min');
  const { rest: sum, bound: minimum } = bounded(raised, 'dec_max');
  if (sum.type !== 'sum') return { ...readCore(sum), fee: '', minimum, cap };
  const [fee, core] = termsOf(sum, 'sum', 2);
  return { ...readCore(core), fee: numberIn(fee), minimum, cap };
}

/** The arguments of `dec_min` or `dec_max`, of which one is a number; the node itself if it is no such call. */
function bounded(node: PriceNode, name: 'dec_min' | 'dec_max') {
  if (node.type !== 'call' || node.name !== name) return { rest: node, bound: '' };
  const [first, second] = argsOf(node, 2);
  return first.type === 'number'
    ? { rest: second, bound: first.text }
    : { rest: first, bound: numberIn(second) };
}

function coreIn(node: PriceNode, quantity: string): ModelCore {
  if (node.type === 'product') return productIn(node.terms, quantity);
  if (node.type !== 'call') throw otherFormula();
  switch (node.name) {
    case 'tier_graduated':
    case 'tier_volume': {
      const [used, tiers] = argsOf(node, 2);
      assertQuantity(used, quantity);
      return tieredIn(node.name === 'tier_volume' ? 'volume' : 'graduated', tiersIn(tiers));
    }
    case 'tier_package': {
      const [used, size, price] = argsOf(node, 3);
      assertQuantity(used, quantity);
      return { kind: 'package', size: numberIn(size), price: numberIn(price) };
    }
    case 'dec_div': {
      const [product, unit, scale] = argsOf(node, 3);
      if (quantity !== TOTAL_QUANTITY || numberIn(scale) !== String(AMOUNT_SCALE)) throw otherFormula();
      const [used, price] = termsOf(product, 'product', 2);
      assertQuantity(used, quantity);
      return { kind: 'per_unit', price: numberIn(price), pricingUnit: numberIn(unit) };
    }
    default:
      throw otherFormula();
  }
}

function productIn(terms: readonly PriceNode[], quantity: string): ModelCore {
  const [used, number, hundredth] = terms;
  if (terms.length === 2 && number?.type === 'call')
    return overageIn(numberIn(used), coreIn(number, quantity));
  assertQuantity(used, quantity);
  if (terms.length === 3) {
    if (numberIn(hundredth) !== '0.01') throw otherFormula();
    return { kind: 'percentage', percent: numberIn(number) };
  }
  // A charge item has a unit price only if there is an expression for it.
  if (terms.length > 3 || quantity !== TOTAL_QUANTITY) throw otherFormula();
  return { kind: 'per_unit', price: numberIn(number), pricingUnit: '' };
}

/** Reads a price times graduated tiers, which are factors: 1 first, then that of the overage. */
function overageIn(unitPrice: string, factors: ModelCore): ModelCore {
  const [first, last, ...others] = factors.kind === 'graduated' ? factors.tiers : [];
  if (first?.unitPrice !== '1' || last === undefined || others.length > 0) throw otherFormula();
  return { kind: 'overage', included: first.upTo, unitPrice, factor: last.unitPrice };
}

function tieredIn(kind: 'graduated' | 'volume', tiers: readonly ModelTier[]): ModelCore {
  const [first, last] = tiers;
  return kind === 'graduated' && tiers.length === 2 && first?.unitPrice === '0'
    ? { kind: 'allowance', included: first.upTo, unitPrice: last?.unitPrice ?? '' }
    : { kind, tiers };
}

function tiersIn(node: PriceNode): ModelTier[] {
  if (node.type !== 'list' || node.entries.length === 0) throw otherFormula();
  return node.entries.map((entry, index) => {
    if (entry.type !== 'list' || entry.entries.length !== 2) throw otherFormula();
    const [bound, unitPrice] = entry.entries;
    const isLast = index === node.entries.length - 1;
    if (isLast && bound?.type !== 'null') throw new NotInForm('its last tier has an upper bound');
    return { upTo: isLast ? '' : numberIn(bound), unitPrice: numberIn(unitPrice) };
  });
}

/** The names and functions of the expressions that the form writes. */
const KNOWN = new Set([
  ...[ITEM_QUANTITY, TOTAL_QUANTITY, 'item.unit_price'],
  ...['dec_min', 'dec_max', 'dec_div', 'tier_graduated', 'tier_volume', 'tier_package'],
]);

/** Parses an expression, and refuses the first name that the form does not write. */
function parsed(source: string): PriceNode {
  const node = parsePrice(source);
  const foreign = namesIn(node).find((name) => !KNOWN.has(name));
  if (foreign !== undefined) throw new NotInForm(`it uses ${foreign}`);
  return node;
}

function namesIn(node: PriceNode): string[] {
  switch (node.type) {
    case 'name':
      return [node.name];
    case 'call':
      return [node.name, ...node.args.flatMap(namesIn)];
    case 'list':
      return node.entries.flatMap(namesIn);
    case 'sum':
    case 'product':
      return node.terms.flatMap(namesIn);
    default:
      return [];
  }
}

function numberIn(node: PriceNode | undefined): string {
  if (node?.type !== 'number') throw otherFormula();
  return node.text;
}

function assertQuantity(node: PriceNode | undefined, quantity: string): void {
  if (!isName(node, quantity)) throw otherFormula();
}

function isName(node: PriceNode | undefined, name: string): boolean {
  return node?.type === 'name' && node.name === name;
}

function argsOf(node: PriceNode & { readonly type: 'call' }, count: 2): [PriceNode, PriceNode];
function argsOf(node: PriceNode & { readonly type: 'call' }, count: 3): [PriceNode, PriceNode, PriceNode];
function argsOf({ args }: PriceNode & { readonly type: 'call' }, count: number): readonly PriceNode[] {
  if (args.length !== count) throw otherFormula();
  return args;
}

function termsOf(node: PriceNode, type: 'sum' | 'product', count: 2): [PriceNode, PriceNode] {
  if (node.type !== type || node.terms.length !== count) throw otherFormula();
  return node.terms as [PriceNode, PriceNode];
}

function otherFormula(): NotInForm {
  return new NotInForm(OTHER_FORMULA);
}

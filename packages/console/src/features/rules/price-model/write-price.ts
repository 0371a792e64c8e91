import type { Cumulative } from '@tollgate/contract';
import type { ModelCore, ModelTier, PriceModel, RulePrice } from './model.js';

/** Names of the quantity in the expressions of one charge item, and of a period. */
export const ITEM_QUANTITY = 'item.quantity';
export const TOTAL_QUANTITY = 'total.quantity';
export const UNIT_PRICE_AMOUNT = 'item.quantity * item.unit_price';
/** Digits of a recorded amount: a price per pricing unit is rounded to them once. */
export const AMOUNT_SCALE = 18;

/** Returns the expressions of a model: for each charge item by itself, or for the total of a counter. */
export function writePrice(model: PriceModel, cumulative?: Cumulative): RulePrice {
  if (cumulative !== undefined) {
    return { cumulative, total_expr: withinBounds(coreText(model, TOTAL_QUANTITY), model) };
  }
  if (model.kind !== 'per_unit') return { amount_expr: withinBounds(coreText(model, ITEM_QUANTITY), model) };
  const amount = withinBounds(UNIT_PRICE_AMOUNT, model);
  return {
    unit_price_expr: decimalText(model.price),
    ...(model.pricingUnit === '' ? {} : { pricing_unit: model.pricingUnit }),
    ...(amount === UNIT_PRICE_AMOUNT ? {} : { amount_expr: amount }),
  };
}

/** Adds the fee, then raises the result to the minimum, then lowers it to the cap. */
function withinBounds(core: string, { fee, minimum, cap }: PriceModel): string {
  const sum = fee === '' ? core : `${decimalText(fee)} + ${core}`;
  const raised = minimum === '' ? sum : `dec_max(${sum}, ${decimalText(minimum)})`;
  return cap === '' ? raised : `dec_min(${raised}, ${decimalText(cap)})`;
}

function coreText(core: ModelCore, quantity: string): string {
  switch (core.kind) {
    case 'per_unit': {
      const { price, pricingUnit } = core;
      const product = `${quantity} * ${decimalText(price)}`;
      return pricingUnit === ''
        ? product
        : `dec_div(${product}, ${decimalText(pricingUnit)}, ${AMOUNT_SCALE})`;
    }
    case 'graduated':
    case 'volume':
      return `tier_${core.kind}(${quantity}, ${tiersText(core.tiers)})`;
    case 'package':
      return `tier_package(${quantity}, ${boundText(core.size)}, ${JSON.stringify(core.price)})`;
    case 'allowance': {
      const { included, unitPrice } = core;
      const tiers = [
        { upTo: included, unitPrice: '0' },
        { upTo: '', unitPrice },
      ];
      return `tier_graduated(${quantity}, ${tiersText(tiers)})`;
    }
    case 'overage': {
      const { included, unitPrice, factor } = core;
      const tiers = [
        { upTo: included, unitPrice: '1' },
        { upTo: '', unitPrice: factor },
      ];
      return `${decimalText(unitPrice)} * tier_graduated(${quantity}, ${tiersText(tiers)})`;
    }
    case 'percentage':
      return `${quantity} * ${decimalText(core.percent)} * ${decimalText('0.01')}`;
  }
}

function tiersText(tiers: readonly ModelTier[]): string {
  const texts = tiers.map(({ upTo, unitPrice }, index) => {
    const isLast = index === tiers.length - 1;
    return `[${isLast ? 'null' : boundText(upTo)}, ${JSON.stringify(unitPrice)}]`;
  });
  return `[${texts.join(', ')}]`;
}

function decimalText(number: string): string {
  return `dec(${JSON.stringify(number)})`;
}

const WHOLE_NUMBER = /^(0|[1-9]\d{0,14})$/;

/** Whole numbers are easier to read without quotes. */
function boundText(bound: string): string {
  return WHOLE_NUMBER.test(bound) ? bound : JSON.stringify(bound);
}

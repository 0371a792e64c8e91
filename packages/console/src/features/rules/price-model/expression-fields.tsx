import { ExpressionField, type FormPart, PricingUnitField } from '../form/fields.js';
import type { RulePrice } from './model.js';

/** The expressions of a price: those of each charge item, or that of a period's total. */
export function ExpressionFields<T extends RulePrice>({ value, path, onChange }: FormPart<T>) {
  const part: FormPart<RulePrice> = { value, path, onChange: (next) => onChange(next as T) };
  if (value.cumulative !== undefined || value.total_expr !== undefined) {
    return (
      <ExpressionField
        {...part}
        name="total_expr"
        label="Price of the total"
        hint="A Decimal. A charge item costs what it adds to this price."
        placeholder="tier_graduated(total.quantity, [[1000, 0], [null, 0.01]])"
      />
    );
  }
  return (
    <>
      <ExpressionField
        {...part}
        name="unit_price_expr"
        label="Unit price"
        hint="A Decimal. A unit price, an amount or both are required."
        placeholder='dec("0.000002")'
      />
      <PricingUnitField {...part} />
      <ExpressionField
        {...part}
        name="amount_expr"
        label="Amount"
        hint="A Decimal. Empty: quantity × unit price."
        placeholder="dec_mul(item.quantity, item.unit_price)"
      />
    </>
  );
}

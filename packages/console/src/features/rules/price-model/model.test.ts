import { expect, it } from 'vitest';
import { asKind, type PriceModel } from './model.js';

const FREE = { fee: '', minimum: '', cap: '' };

it.each<[PriceModel, string]>([
  [{ kind: 'allowance', included: '100', unitPrice: '0.5', ...FREE }, '0.5'],
  [{ kind: 'per_unit', price: '0.2', pricingUnit: '', ...FREE }, '0.2'],
])('takes the price of %j for the base price of units beyond an allowance', (model, unitPrice) => {
  expect(asKind(model, 'overage')).toMatchObject({ kind: 'overage', unitPrice, factor: '' });
});

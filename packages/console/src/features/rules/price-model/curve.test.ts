import { describe, expect, it } from 'vitest';
import { unscaled } from '../../../exact-sum.js';
import { type Curve, curveOf, quantityAt, ticksUpTo } from './curve.js';
import type { ModelCore, PriceModel } from './model.js';

const none = { fee: '', minimum: '', cap: '' };
const of = (core: ModelCore, bounds: Partial<PriceModel> = {}) =>
  curveOf({ ...core, ...none, ...bounds } as PriceModel, true);
const texts = (curve: Curve | undefined) =>
  curve?.points.map(({ quantity, amount }) => [unscaled(quantity), unscaled(amount)]);
const volume: ModelCore = {
  kind: 'volume',
  tiers: [
    { upTo: '1000', unitPrice: '0.01' },
    { upTo: '', unitPrice: '0.004' },
  ],
};

describe('a price curve', () => {
  it('shows where a volume price falls, as a step of one quantity', () => {
    const curve = of(volume);
    const at = texts(curve)?.filter(([quantity]) => quantity === '1000');
    expect(at).toEqual([
      ['1000', '10'],
      ['1000', '4'],
    ]);
    expect(curve?.drops.map(({ before, after }) => [unscaled(before), unscaled(after)])).toEqual([
      ['10', '4'],
    ]);
  });

  it('shows the price beyond a bound without the least quantity that gets there', () => {
    const [drop] = of(volume, { fee: '5', minimum: '7' })?.drops ?? [];
    expect(unscaled(drop?.after ?? 0n)).toBe('9');
  });

  it('bends where the minimum ends and the cap begins', () => {
    const curve = of({ kind: 'per_unit', price: '3', pricingUnit: '' }, { minimum: '10', cap: '100' });
    const bends = curve?.points.filter(({ quantity }) => quantity % (10n ** 18n / 2n) !== 0n) ?? [];
    const rounded = bends.map(({ quantity }) => unscaled(quantity).slice(0, 8));
    expect(rounded).toEqual(expect.arrayContaining(['3.333333', '33.33333']));
  });

  it('steps up with each package, and begins with the first', () => {
    const curve = of({ kind: 'package', size: '10', price: '3' });
    const steps = texts(curve)?.filter(([quantity], index, all) => quantity === all[index - 1]?.[0]);
    expect(steps).toEqual([
      ['0', '3'],
      ['10', '6'],
      ['20', '9'],
      ['30', '12'],
      ['40', '15'],
    ]);
    expect(curve?.drops).toEqual([]);
  });

  it('has no step where graduated prices change', () => {
    const curve = of({ kind: 'allowance', included: '100', unitPrice: '2' });
    expect(texts(curve)?.filter(([quantity]) => quantity === '100')).toEqual([['100', '0']]);
    expect(texts(curve)?.at(-1)).toEqual(['200', '200']);
  });

  it('reaches beyond minimum, cap and the present quantity', () => {
    const price: ModelCore = { kind: 'per_unit', price: '0.01', pricingUnit: '' };
    expect(unscaled(of(price)?.quantityMax ?? 0n)).toBe('200');
    expect(unscaled(of(price, { minimum: '5' })?.quantityMax ?? 0n)).toBe('800');
    expect(unscaled(of(price, { cap: '50' })?.quantityMax ?? 0n)).toBe('6400');
    expect(unscaled(of({ ...price, price: '0' }, { cap: '50' })?.quantityMax ?? 0n)).toBe('200');
    const reached = curveOf({ ...price, ...none }, true, 4_000n * 10n ** 18n);
    expect(unscaled(reached?.quantityMax ?? 0n)).toBe('5000');
  });

  it('does not exist while a number is missing', () => {
    expect(of({ kind: 'percentage', percent: '' })).toBeUndefined();
    expect(of(volume, { cap: 'x' })).toBeUndefined();
  });

  it('points at round quantities', () => {
    const curve = of(volume) as Curve;
    expect(unscaled(quantityAt(curve, 0.33333))).toBe('533');
    expect(unscaled(quantityAt(curve, 7))).toBe('1600');
    expect(unscaled(quantityAt(of({ kind: 'package', size: '0.5', price: '1' }) as Curve, 0.5))).toBe('1.25');
  });
});

it('puts ticks at round numbers', () => {
  expect(ticksUpTo(10, 4)).toEqual([0, 2.5, 5, 7.5, 10]);
  expect(ticksUpTo(1600, 5)).toEqual([0, 500, 1000, 1500]);
  expect(ticksUpTo(0, 4)).toEqual([0]);
});

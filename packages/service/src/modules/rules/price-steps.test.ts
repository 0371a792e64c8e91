import { describe, expect, it } from 'vitest';
import { parseDecimal } from '../../kernel/decimal.js';
import { nextStep, totalExprOf } from './price-steps.js';

const GRADUATED = 'tier_graduated(total.quantity, [[10, "2"], ["20.5", dec("1.50")], [null, 0]])';

describe('the next step of a price', () => {
  it.each<[string, string, [string, string] | undefined]>([
    [GRADUATED, '0', ['10', '1.5']],
    [GRADUATED, '10', ['10', '1.5']],
    [GRADUATED, '10.1', ['20.5', '0']],
    [GRADUATED, '21', undefined],
    [' tier_volume( total.quantity ,\n[[10, "2"], [null, "1"]])', '4', ['10', '1']],
    ['tier_volume(total.quantity, [[10, "2"], [20, "1"]])', '20', undefined],
    ['tier_package(total.quantity, 1000, dec("5"))', '0', ['0', '5']],
    ['tier_package(total.quantity, 1000, dec("5"))', '1', ['1000', '5']],
    ['tier_package(total.quantity, 1000, dec("5"))', '1000', ['1000', '5']],
    ['tier_package(total.quantity, 1000, dec("5"))', '1600', ['2000', '5']],
    ['tier_graduated(total.quantity, dimensions.tiers)', '1', undefined],
    ['tier_graduated(total.quantity - dec("5"), [[10, "2"], [null, "1"]])', '1', undefined],
    ['dec("2") * tier_volume(total.quantity, [[10, "2"], [null, "1"]])', '1', undefined],
    ["tier_graduated(total.quantity, [[10, '2'], [null, '1']])", '4', ['10', '1']],
    ['tier_volume((total.quantity), [[1e1, .5], [null, 0.25]], ) // by volume', '4', ['10', '0.25']],
    ['tier_volume(total.quantity, [[10, "2"], [null, dec(\'1\') * 2]])', '4', undefined],
    ['tier_volume(total.quantity, [[10, "2"], [null, "1"]]', '4', undefined],
    ['total.quantity', '1', undefined],
  ])('%s at %s', (source, quantity, step) => {
    const decimal = parseDecimal(quantity);
    if (decimal === undefined) throw new Error(quantity);
    expect(nextStep(source, decimal)).toEqual(
      step === undefined ? undefined : { at_quantity: step[0], unit_price: step[1] },
    );
  });
});

it('the rule that priced a charge item is found by the name that the item records', () => {
  const rule = (fields: object) => ({ metric: 'a', ...fields });
  const extractor = {
    charge_item_extractors: [
      { metric: 'a', path: 'a', type: 'number' as const, total_expr: 'one' },
      { name: 'b', metric: 'a', path: 'a', type: 'number' as const, total_expr: 'two' },
    ],
  };
  expect(totalExprOf(extractor, 'a')).toBe('one');
  expect(totalExprOf(extractor, 'b')).toBe('two');
  const pricing = { rules: [rule({ total_expr: 'one' }), rule({ total_expr: 'two' }), rule({ name: 'c' })] };
  expect(totalExprOf(pricing, 'rules[1]')).toBe('two');
  expect(totalExprOf(pricing, 'c')).toBeUndefined();
  expect(totalExprOf(pricing, 'other')).toBeUndefined();
});

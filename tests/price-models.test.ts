import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unscaled } from '../packages/console/src/exact-sum.js';
import { amountAt, scaledNumber } from '../packages/console/src/features/rules/price-model/amount-at.js';
import {
  asKind,
  PRICE_MODEL_KINDS,
  type PriceModel,
  type RulePrice,
} from '../packages/console/src/features/rules/price-model/model.js';
import { problemsOfModel } from '../packages/console/src/features/rules/price-model/model-problems.js';
import { readPrice } from '../packages/console/src/features/rules/price-model/read-price.js';
import { writePrice } from '../packages/console/src/features/rules/price-model/write-price.js';
import { divide, parseDecimal, round } from '../packages/service/src/kernel/decimal.js';
import { compileExpression } from '../packages/service/src/modules/rules/expression/index.js';
import { decimal, envWith } from '../packages/service/src/modules/rules/expression/testing.js';
import { readGuide } from '../packages/service/src/testing/guide.js';

const CUMULATIVE = { counter: 'calls', period: 'month', per: 'subject' } as const;
const DIGITS = 18;

/** An exact fraction: the oracle rounds nothing until the end. */
interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

const fraction = (text: string): Fraction => {
  const [whole = '', digits = ''] = text.split('.');
  return { top: BigInt(whole + digits), bottom: 10n ** BigInt(digits.length) };
};
const plus = (a: Fraction, b: Fraction) => ({
  top: a.top * b.bottom + b.top * a.bottom,
  bottom: a.bottom * b.bottom,
});
const minus = (a: Fraction, b: Fraction) => plus(a, { ...b, top: -b.top });
const times = (a: Fraction, b: Fraction) => ({ top: a.top * b.top, bottom: a.bottom * b.bottom });
const over = (a: Fraction, b: Fraction) => ({ top: a.top * b.bottom, bottom: a.bottom * b.top });
const isLess = (a: Fraction, b: Fraction) => a.top * b.bottom < b.top * a.bottom;
const least = (a: Fraction, b: Fraction) => (isLess(b, a) ? b : a);
const ZERO = fraction('0');

/** The definition of each model, as the guide states it. */
function priceBy(model: PriceModel, q: Fraction): Fraction {
  switch (model.kind) {
    case 'per_unit':
      return over(times(q, fraction(model.price)), fraction(model.pricingUnit || '1'));
    case 'package': {
      const packages = over(q, fraction(model.size));
      const started = (packages.top + packages.bottom - 1n) / packages.bottom;
      return times({ top: started, bottom: 1n }, fraction(model.price));
    }
    case 'allowance': {
      const beyond = minus(q, fraction(model.included));
      return isLess(beyond, ZERO) ? ZERO : times(beyond, fraction(model.unitPrice));
    }
    case 'overage': {
      const beyond = minus(q, fraction(model.included));
      const within = times(isLess(beyond, ZERO) ? q : fraction(model.included), fraction(model.unitPrice));
      if (isLess(beyond, ZERO)) return within;
      return plus(within, times(beyond, times(fraction(model.unitPrice), fraction(model.factor))));
    }
    case 'percentage':
      return over(times(q, fraction(model.percent)), fraction('100'));
    case 'volume': {
      const tier = model.tiers.find(({ upTo }) => upTo === '' || !isLess(fraction(upTo), q));
      return times(q, fraction(tier?.unitPrice ?? '0'));
    }
    case 'graduated':
      return model.tiers
        .map(({ upTo, unitPrice }, index) => {
          const from = fraction(model.tiers[index - 1]?.upTo ?? '0');
          const part = minus(upTo === '' ? q : least(q, fraction(upTo)), from);
          return isLess(part, ZERO) ? ZERO : times(part, fraction(unitPrice));
        })
        .reduce(plus, ZERO);
  }
}

function priceOf(model: PriceModel, quantity: string): Fraction {
  const { fee, minimum, cap } = model;
  const sum = plus(priceBy(model, fraction(quantity)), fraction(fee || '0'));
  const raised = minimum !== '' && isLess(sum, fraction(minimum)) ? fraction(minimum) : sum;
  return cap === '' ? raised : least(raised, fraction(cap));
}

/** Rounds half-even, by the decimals of the service, which have an oracle of their own. */
const recorded = ({ top, bottom }: Fraction) =>
  String(divide(decimal(String(top)), decimal(String(bottom)), DIGITS));

/** The amount by the service's compiler, with its rounding of unit prices and amounts. */
function amountByService(price: RulePrice, quantityText: string): string {
  const quantity = decimal(quantityText);
  const run = (source: string, kind: 'unit_price' | 'amount' | 'total', env = {}) => {
    const options =
      kind === 'amount'
        ? ({ kind, hasUnitPrice: price.unit_price_expr !== undefined } as const)
        : kind === 'total'
          ? ({ kind, dimensions: [] } as const)
          : ({ kind } as const);
    const compiled = compileExpression(source, options);
    if (!compiled.ok) throw new Error(`${source}: ${compiled.issue.message}`);
    return compiled.evaluate(envWith({ quantity, ...env })) as ReturnType<typeof decimal>;
  };
  if (price.total_expr !== undefined) return String(round(run(price.total_expr, 'total'), DIGITS));
  if (price.unit_price_expr === undefined)
    return String(round(run(price.amount_expr ?? '', 'amount'), DIGITS));
  const unit = decimal(String(price.pricing_unit ?? '1'));
  const unitPrice = divide(run(price.unit_price_expr, 'unit_price'), unit, DIGITS);
  return price.amount_expr === undefined
    ? recorded(
        over(times(fraction(quantityText), fraction(textOf(price.unit_price_expr))), fraction(String(unit))),
      )
    : String(round(run(price.amount_expr, 'amount', { unitPrice }), DIGITS));
}

const textOf = (expression: string) => /"(.*)"/.exec(expression)?.[1] ?? '';

/** Decimals from 0 to 10^12 of up to 6 fraction digits, many of them small and some of them equal. */
const number = fc
  .tuple(
    fc.oneof(
      fc.nat(20),
      fc.nat(1_000_000),
      fc.maxSafeNat().map((n) => n % 1_000_000_000_000),
    ),
    fc.nat(6),
    fc.nat(999_999),
  )
  .map(([whole, digits, rest]) => (digits === 0 ? `${whole}` : `${whole}.${String(rest).slice(0, digits)}`));
const positive = number.filter((text) => /[1-9]/.test(text));
const powerOfTen = fc.nat(6).map((digits) => `1${'0'.repeat(digits)}`);
const optional = fc.oneof(fc.constant(''), number);
const bounds = fc
  .uniqueArray(positive, { minLength: 1, maxLength: 5, selector: (text) => scaledNumber(text) })
  .map((texts) => texts.toSorted((a, b) => (isLess(fraction(a), fraction(b)) ? -1 : 1)));
const tiers = fc
  .tuple(bounds, fc.array(number, { minLength: 6, maxLength: 6 }))
  .map(([upTo, prices]) =>
    [...upTo, ''].map((bound, index) => ({ upTo: bound, unitPrice: prices[index] ?? '1' })),
  );
const core = fc.oneof(
  fc.record({
    kind: fc.constant('per_unit' as const),
    price: number,
    pricingUnit: fc.oneof(fc.constant(''), powerOfTen),
  }),
  fc.record({ kind: fc.constantFrom('graduated' as const, 'volume' as const), tiers }),
  fc.record({ kind: fc.constant('package' as const), size: positive, price: number }),
  fc.record({ kind: fc.constant('allowance' as const), included: positive, unitPrice: number }),
  fc.record({
    kind: fc.constant('overage' as const),
    included: positive,
    unitPrice: number,
    factor: number,
  }),
  fc.record({ kind: fc.constant('percentage' as const), percent: number }),
);
const anyModel: fc.Arbitrary<PriceModel> = fc
  .tuple(core, optional, optional, optional)
  .map(([kind, fee, minimum, cap]) => ({ ...kind, fee, minimum, cap }));
const models = anyModel.filter((model) => Object.keys(problemsOfModel(model)).length === 0);
/** Two graduated tiers of which the first is free are an allowance. */
const isAllowance = (model: PriceModel) =>
  model.kind === 'graduated' && model.tiers.length === 2 && model.tiers[0]?.unitPrice === '0';
const cumulatives = fc.constantFrom(undefined, CUMULATIVE);
/** Quantities, also those of the bounds themselves. */
const quantitiesOf = (model: PriceModel) =>
  fc.oneof(
    number,
    ...(model.kind === 'graduated' || model.kind === 'volume'
      ? [fc.constantFrom(...model.tiers.map(({ upTo }) => upTo || '0'))]
      : []),
    ...(model.kind === 'package' ? [fc.constant(model.size)] : []),
    ...(model.kind === 'allowance' || model.kind === 'overage' ? [fc.constant(model.included)] : []),
  );
const priced = fc.tuple(models, cumulatives).chain(([model, cumulative]) =>
  fc.record({
    model: fc.constant(model),
    cumulative: fc.constant(cumulative),
    quantity: quantitiesOf(model),
  }),
);

describe('price models', () => {
  it('are read from the expressions that they write', () => {
    fc.assert(
      fc.property(models, cumulatives, (model, cumulative) => {
        fc.pre(!isAllowance(model));
        const written = writePrice(model, cumulative);
        expect(readPrice(written)).toEqual({ model });
      }),
      { numRuns: 500 },
    );
  });

  it('cost in the service what their definition says, and what the console draws', () => {
    fc.assert(
      fc.property(priced, ({ model, cumulative, quantity }) => {
        const expected = recorded(priceOf(model, quantity));
        expect(amountByService(writePrice(model, cumulative), quantity)).toBe(expected);
        const drawn = amountAt(model, scaledNumber(quantity) ?? -1n, cumulative !== undefined);
        expect(unscaled(drawn ?? -1n)).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('round the unit price of an event with a minimum, as the service records it', () => {
    const model = {
      ...asKind(undefined, 'per_unit'),
      price: '1',
      pricingUnit: '3',
      minimum: '0.5',
    } as PriceModel;
    const written = writePrice(model);
    expect(amountByService(written, '7')).toBe('2.333333333333333331');
    expect(unscaled(amountAt(model, scaledNumber('7') ?? 0n, false) ?? 0n)).toBe('2.333333333333333331');
    expect(unscaled(amountAt(model, scaledNumber('7') ?? 0n, true) ?? 0n)).toBe('2.333333333333333333');
  });

  it('can be read while their numbers are still being typed', () => {
    for (const kind of PRICE_MODEL_KINDS.filter((each) => each !== 'graduated')) {
      const model = { ...asKind(undefined, kind), minimum: '1"\\' };
      expect(readPrice(writePrice(model, CUMULATIVE)), kind).toEqual({ model });
      expect(problemsOfModel(model)).toHaveProperty('minimum');
      expect(amountAt(model, 1n, true)).toBeUndefined();
    }
    expect(parseDecimal('')).toBeUndefined();
  });

  it('are read from other ways to write the same', () => {
    const read = (fields: RulePrice) => readPrice(fields);
    const none = { fee: '', minimum: '', cap: '' };
    expect(read({ amount_expr: 'dec_max(0.5, tier_package( item.quantity, "1000", dec("5") ))' })).toEqual({
      model: { kind: 'package', size: '1000', price: '5', ...none, minimum: '0.5' },
    });
    expect(
      read({
        unit_price_expr: '0.25',
        pricing_unit: 1_000,
        amount_expr: 'dec_mul(item.quantity, item.unit_price)',
      }),
    ).toEqual({ model: { kind: 'per_unit', price: '0.25', pricingUnit: '1000', ...none } });
    expect(read({ amount_expr: 'tier_graduated(item.quantity, [[1000000, 0], [null, 0.0004]])' })).toEqual({
      model: { kind: 'allowance', included: '1000000', unitPrice: '0.0004', ...none },
    });
  });

  it('include every rule of the guide', () => {
    const rules = readGuide('price-models').blocks('json rule');
    expect(rules.length).toBeGreaterThan(8);
    for (const rule of rules) {
      const { metric: _metric, ...price } = JSON.parse(rule) as RulePrice & { metric: string };
      const read = readPrice(price);
      if ('reason' in read) throw new Error(`${rule} ${read.reason}`);
      expect(writePrice(read.model, price.cumulative)).toEqual(price);
    }
  });

  it.each([
    ['dimensions.batch == true ? dec("1") : dec("2")', 'it uses =='],
    ['item.quantity * dimensions.seats', 'it uses dimensions.seats'],
    ['dec_round(item.quantity * dec("2"), 2)', 'it uses dec_round'],
    ['item.quantity', 'its formula is none of these models'],
    ['item.quantity * dec("2")', 'its formula is none of these models'],
    ['tier_volume(item.quantity, [[10, 1]])', 'its last tier has an upper bound'],
    ['tier_volume(item.quantity, [[10, 1], [null, 2]]', 'the expression is incomplete'],
    ['-item.quantity', 'it uses -'],
    ['', 'the expression is incomplete'],
    ['item.quantity > 3.5', 'it uses >'],
    ['dec("1', 'the expression is incomplete'],
  ])('stay expressions if they are no model: %s', (amount_expr, reason) => {
    expect(readPrice({ amount_expr })).toEqual({ reason });
  });

  it('stay expressions if they are of an event and of a period', () => {
    expect(readPrice({ cumulative: CUMULATIVE, unit_price_expr: 'dec("1")' })).toEqual({
      reason: 'it has a price for each event and one for a period',
    });
    expect(readPrice({ amount_expr: 'tier_package(total.quantity, 1, 1)' })).toHaveProperty('reason');
  });
});

import type { PricingConfig, PricingRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../kernel/json/json.js';
import type { RatedEvent } from './rate.js';
import { ratingInputOf } from './rating-input.js';
import { failureOf, type Item, items, itemsOf, OCCURRED_AT, ORIGIN, pricingOf, rate } from './testing.js';

const rule = (fields: Partial<PricingRule> = {}): PricingRule => ({
  metric: 'tokens',
  unit_price_expr: 'dec("2")',
  ...fields,
});

const pricing = (rules: PricingRule[], config: PricingConfig = {}, id = 'prs_1', version = 4) =>
  pricingOf({ rules, ...config }, id, version);

/** Rates three tokens, with the text of an `x-billing`. */
function rateWith(
  item: Partial<Item>,
  billing: string,
  pricings: readonly ReturnType<typeof pricingOf>[] = [],
  rawJson = '{"n": 3}',
): RatedEvent {
  const input = ratingInputOf({
    raw_json: undefined,
    occurred_at: OCCURRED_AT,
    'x-billing': parseLossless(billing),
  });
  const config = {
    dimensions: [{ name: 'model', path: 'model', type: 'string' as const }],
    ...items(item),
  };
  return rate(config, rawJson, { billing: input.billing ?? {} }, pricings);
}

const PRICED_BY_HINT = {
  pricingSource: 'hint',
  ruleSetId: '',
  ruleSetVersion: 0,
  ruleName: '',
};

describe('order of precedence', () => {
  const hint = '{"pricing_hints": {"tokens": {"unit_price": "5"}}}';
  const attached = { unit_price_expr: 'dec("4")', name: 'In', currency: 'EUR' };
  const rules = [pricing([rule({ name: 'base' })], { currency: 'CREDIT' })];

  it.each<[string, Partial<Item>, string, typeof rules, object]>([
    ['a hint', attached, hint, rules, { ...PRICED_BY_HINT, amount: '15', unitPrice: '5', currency: 'EUR' }],
    [
      'what the extractor carries',
      attached,
      '{}',
      rules,
      {
        pricingSource: 'extractor',
        amount: '12',
        currency: 'EUR',
        ruleSetId: ORIGIN.ruleSetId,
        ruleSetVersion: ORIGIN.version,
        ruleName: 'In',
      },
    ],
    [
      'a pricing rule',
      { currency: 'EUR' },
      '{}',
      rules,
      {
        pricingSource: 'pricing_rule_set',
        unitPrice: '2',
        amount: '6',
        currency: 'CREDIT',
        ruleSetId: 'prs_1',
        ruleSetVersion: 4,
        ruleName: 'base',
      },
    ],
    [
      'nothing',
      { currency: 'EUR' },
      '{}',
      [],
      { pricingSource: 'unpriced', unitPrice: null, amount: '0', currency: '', ruleSetId: '', ruleName: '' },
    ],
  ])('%s', (_, item, billing, pricings, expected) => {
    expect(itemsOf(rateWith(item, billing, pricings))).toMatchObject([expected]);
  });

  it('is the same for an item of the client, the extractor of its metric included', () => {
    const own = (rest: string) => `{"items": [{"metric": "tokens", "quantity": "3"}]${rest}}`;
    const priced = (item: Partial<Item>, rest: string, pricings: typeof rules) =>
      itemsOf(rateWith(item, own(rest), pricings))[0];
    const ownHint = ', "pricing_hints": {"tokens": {"unit_price": "5"}}';
    const item = { source: 'x_billing', extractorName: '', quantity: '3' };
    expect(priced(attached, ownHint, rules)).toMatchObject({
      ...item,
      ...PRICED_BY_HINT,
      amount: '15',
      currency: 'EUR',
    });
    expect(priced(attached, '', rules)).toMatchObject({ ...item, pricingSource: 'extractor', amount: '12' });
    expect(priced({}, '', rules)).toMatchObject({ ...item, pricingSource: 'pricing_rule_set', amount: '6' });
    expect(priced({}, '', [])).toMatchObject({ ...item, pricingSource: 'unpriced', amount: '0' });
  });

  it('fails an event with an item that has no price where its extractor says so', () => {
    const failing = (billing: string, pricings: typeof rules = []) => {
      const { billing: parsed } = ratingInputOf({
        raw_json: undefined,
        occurred_at: OCCURRED_AT,
        'x-billing': parseLossless(billing),
      });
      return rate({ ...items({}), on_unpriced: 'fail' }, '{"n": 3}', { billing: parsed ?? {} }, pricings);
    };
    expect(failing('{}')).toMatchObject({
      ok: false,
      failure: {
        code: 'unpriced',
        message: 'No price rule matched the metric tokens.',
        path: 'charge_item_extractors[0]',
      },
    });
    expect(failing('{}', rules)).toMatchObject({ ok: true });
    expect(failing(hint)).toMatchObject({ ok: true });
    const own = '{"items": [{"metric": "tokens", "quantity": 1}, {"metric": "images", "quantity": 2}]}';
    expect(failureOf(failing(own, rules))).toEqual(['unpriced', 'x-billing.items[1]']);
    expect(rate({ ...items({}), on_unpriced: 'accept' }, '{"n": 3}')).toMatchObject({ ok: true });
  });

  it('does not reach a broken expression behind what applies', () => {
    const broken = { unit_price_expr: 'dec(dimensions.absent)' };
    expect(itemsOf(rateWith(broken, hint))).toMatchObject([{ amount: '15' }]);
    expect(failureOf(rateWith(broken, '{}', rules))[0]).toBe('pricing_failed');
  });
});

describe('a pricing rule', () => {
  const priced = (rules: PricingRule[], rawJson?: string) => rateWith({}, '{}', [pricing(rules)], rawJson);

  it.each<[string, Partial<PricingRule>, string | null, string]>([
    ['a unit price', { unit_price_expr: 'dec("0.1")' }, '0.1', '0.3'],
    ['a unit price and an amount', { amount_expr: 'item.quantity + item.unit_price' }, '2', '5'],
    ['a unit price by the quantity', { unit_price_expr: 'dec_mul(item.quantity, dec(2))' }, '6', '18'],
    ['a negative amount', { unit_price_expr: 'dec("-1")' }, '-1', '-3'],
  ])('has %s', (_, fields, unitPrice, amount) => {
    expect(itemsOf(priced([rule(fields)]))).toMatchObject([{ unitPrice, amount, currency: 'USD' }]);
  });

  it('has an amount alone', () => {
    const rules = [{ metric: 'tokens', amount_expr: 'tier_package(item.quantity, 2, "5")' }];
    expect(itemsOf(priced(rules))).toMatchObject([{ unitPrice: null, amount: '10' }]);
  });

  it('matches by dimensions, quantity and time; what cannot be computed is no match', () => {
    const rules = [
      rule({ match_expr: 'dimensions.model == "a"', amount_expr: 'dec(1)', priority: 1 }),
      rule({ match_expr: 'item.quantity >= dec("10")', amount_expr: 'dec(2)', priority: 2 }),
      rule({ match_expr: `occurred_at > ${OCCURRED_AT}`, amount_expr: 'dec(3)', priority: 3 }),
      rule({ match_expr: 'dimensions.absent == 7', amount_expr: 'dec(4)', priority: 4 }),
    ];
    const amountOf = (rawJson: string) => itemsOf(priced(rules, rawJson))[0]?.amount;
    expect(amountOf('{"n": 3, "model": "a"}')).toBe('1');
    expect(amountOf('{"n": 10, "model": "b"}')).toBe('2');
    expect(itemsOf(priced(rules, '{"n": 3}'))).toMatchObject([{ pricingSource: 'unpriced', amount: '0' }]);
  });

  it.each<[string, Partial<PricingRule>, string, string]>([
    [
      'unit price',
      { unit_price_expr: 'dec(dimensions.model)' },
      'pricing_failed',
      'rules[1].unit_price_expr',
    ],
    [
      'amount',
      { amount_expr: '\n dec_div(dec(1), item.quantity - dec(3), 2)' },
      'pricing_failed',
      'rules[1].amount_expr',
    ],
    [
      'price that is out of range',
      { unit_price_expr: 'item.quantity * dec("99999999999999999999")' },
      'decimal_out_of_range',
      'rules[1].unit_price_expr',
    ],
    [
      'amount that is out of range',
      { unit_price_expr: 'dec("99999999999999999999")' },
      'decimal_out_of_range',
      'rules[1]',
    ],
  ])('fails the event by its %s, and says where', (_, fields, code, path) => {
    const rated = priced([rule({ metric: 'other' }), rule(fields)]);
    expect(failureOf(rated)).toEqual([code, path]);
    expect(rated).toMatchObject({
      failure: { message: expect.stringContaining('Pricing rule set prs_1: ') },
    });
    if (code === 'pricing_failed') {
      expect(rated).toMatchObject({ failure: { message: expect.stringMatching(/line \d+, column \d+/) } });
    }
  });

  it('that was never saved has no rule set to name', () => {
    const rules = [rule({ unit_price_expr: 'dec(dimensions.model)' })];
    const rated = rateWith({}, '{}', [pricing(rules, {}, '', 0)]);
    expect(rated).toMatchObject({ failure: { message: expect.stringMatching(/^line 1, column \d+: /) } });
  });

  it('comes from the rule set of lowest priority, and of equal ones from the older rule set', () => {
    const amount = (...sets: [string, number][]) =>
      itemsOf(
        rateWith(
          {},
          '{}',
          sets.map(([id, priority]) => pricing([rule({ priority })], {}, id)),
        ),
      )[0]?.ruleSetId;
    expect(amount(['prs_2', 0], ['prs_1', 0])).toBe('prs_1');
    expect(amount(['prs_1', 0], ['prs_2', -1])).toBe('prs_2');
  });

  it('is not there in a rule set without rules', () => {
    expect(itemsOf(rateWith({}, '{}', [pricing([])]))).toMatchObject([{ pricingSource: 'unpriced' }]);
  });
});

describe('a pricing hint', () => {
  const hinted = (hint: string, item: Partial<Item> = {}, n = '3') =>
    rateWith(item, `{"pricing_hints": {"tokens": ${hint}}}`, [], `{"n": ${n}}`);

  it.each<[string, string, string, string, string]>([
    ['the price of one', '{"unit_price": 0.1}', '3', '0.1', '0.3'],
    ['the price of many', '{"unit_price": "2.5", "pricing_unit": 1000000}', '1200', '0.0000025', '0.003'],
    [
      'a price that is no finite decimal',
      '{"unit_price": 1, "pricing_unit": 3}',
      '3',
      '0.333333333333333333',
      '1',
    ],
    [
      'an amount rounded once',
      '{"unit_price": 2, "pricing_unit": 3}',
      '1',
      '0.666666666666666667',
      '0.666666666666666667',
    ],
    [
      'ties to even',
      '{"unit_price": "0.000000000000000001", "pricing_unit": 2}',
      '5',
      '0',
      '0.000000000000000002',
    ],
    [
      'digits that no double holds',
      '{"unit_price": 0.123456789012345678}',
      '1',
      '0.123456789012345678',
      '0.123456789012345678',
    ],
    ['nothing to pay', '{"unit_price": 0}', '3', '0', '0'],
    ['fields of its own', '{"unit_price": 1, "tier": {"a": []}}', '1', '1', '1'],
  ])('has %s', (_, hint, n, unitPrice, amount) => {
    expect(itemsOf(hinted(hint, {}, n))).toMatchObject([{ ...PRICED_BY_HINT, unitPrice, amount }]);
  });

  it("is in its own currency, or the extractor's, or USD", () => {
    const currencyOf = (hint: string, item: Partial<Item>) => itemsOf(hinted(hint, item))[0]?.currency;
    expect(currencyOf('{"unit_price": 1, "currency": "CREDIT_A"}', { currency: 'EUR' })).toBe('CREDIT_A');
    expect(currencyOf('{"unit_price": 1}', { currency: 'EUR' })).toBe('EUR');
    expect(currencyOf('{"unit_price": 1}', {})).toBe('USD');
  });

  it('is for its metric alone, whatever that is called', () => {
    const billing = '{"pricing_hints": {"calls": {"unit_price": 1}}}';
    for (const metric of ['tokens', 'constructor', 'to_string']) {
      expect(itemsOf(rateWith({ metric }, billing))).toMatchObject([{ pricingSource: 'unpriced' }]);
    }
    const own = '{"pricing_hints": {"constructor": {"unit_price": 2}}}';
    expect(itemsOf(rateWith({ metric: 'constructor' }, own))).toMatchObject([{ amount: '6' }]);
  });

  it.each([
    ['{"unit_price": "100000000000000000000"}', '0'],
    ['{"unit_price": "99999999999999999999"}', '2'],
    ['{"unit_price": 1, "pricing_unit": "0.000000000000000000001"}', '1'],
    ['{"unit_price": 1e300, "pricing_unit": 1e-300}', '1'],
  ])('of %s that cannot be recorded fails the event', (hint, n) => {
    expect(failureOf(hinted(hint, {}, n))).toEqual([
      'decimal_out_of_range',
      'x-billing.pricing_hints.tokens',
    ]);
  });
});

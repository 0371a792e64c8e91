import { expect, it } from 'vitest';
import { ONE_STORED } from '../../kernel/decimal.js';
import { present } from '../../kernel/present.js';
import { EventSteps } from './expression/index.js';
import { compileItemPricing, type PriceExpression } from './extract/index.js';
import { Issues } from './extract/issues.js';
import { LastPrice, type PendingPrice, priceBetween } from './price.js';

const TIERS = 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])';
/** Takes steps for its list too. */
const WITH_LIST = '[1, 2, 3].exists(n, n == 3) ? total.quantity * dec("2") : dec("0")';

function pendingPrice(totalExpr: string): PendingPrice {
  const cumulative = { counter: 'units', period: 'month', per: 'subject' as const };
  const pricing = compileItemPricing({ cumulative, total_expr: totalExpr }, 'rules[0]', new Issues());
  const total = present(pricing?.total, 'a price by a total');
  const rule = { ruleSetId: 'prs_1', ruleSetVersion: 1, ruleName: 'r' } as const;
  return { unitPrice: null, currency: 'USD', pricingSource: 'pricing_rule_set', ...rule, total };
}

/** Returns the amount of a charge item, or the message of its failure. */
function amountOf(
  price: PendingPrice,
  [before, after]: readonly [bigint, bigint],
  last: LastPrice | undefined,
  steps = new EventSteps(),
): string {
  const env = { metric: '', unit: '', dimensions: new Map(), subject: undefined, occurredAt: 0, steps };
  const totals = { periodStart: 0, before: before * ONE_STORED, after: after * ONE_STORED, last };
  const amount = priceBetween(price, totals, { quantity: undefined as never, unitPrice: undefined, ...env });
  return typeof amount === 'bigint' ? String(amount / ONE_STORED) : amount.message;
}

/** Returns the price with a list of the totals for which it is computed. */
function observed(price: PendingPrice): { readonly price: PendingPrice; readonly computed: string[] } {
  const computed: string[] = [];
  const { path, code } = price.total.price;
  const evaluate: typeof code.evaluate = (env) => {
    computed.push(String(env.quantity));
    return code.evaluate(env);
  };
  const expression = { path, code: { ...code, evaluate } } as PriceExpression;
  return { price: { ...price, total: { ...price.total, price: expression } }, computed };
}

it('computes each price of a total once', () => {
  const { price, computed } = observed(pendingPrice(TIERS));
  const last = new LastPrice();
  const amounts = [
    [0n, 5n],
    [5n, 12n],
    [12n, 12n],
    [12n, 13n],
  ] as const;
  expect(amounts.map((totals) => amountOf(price, totals, last))).toEqual(['10', '12', '0', '1']);
  expect(computed).toEqual(['0', '5', '12', '13']);
});

it('computes the price of a total that another item has moved, or another rule has priced', () => {
  const first = observed(pendingPrice(TIERS));
  const second = observed(pendingPrice('total.quantity * dec("3")'));
  const last = new LastPrice();
  expect(amountOf(first.price, [0n, 5n], last)).toBe('10');
  expect(amountOf(second.price, [5n, 6n], last)).toBe('3');
  expect(amountOf(first.price, [6n, 7n], last)).toBe('2');
  expect(amountOf(first.price, [6n, 8n], last)).toBe('4');
  expect([first.computed, second.computed]).toEqual([
    ['0', '5', '6', '7', '6', '8'],
    ['5', '6'],
  ]);
});

it.each([TIERS, WITH_LIST])('fails for want of steps as without it: %s', (source) => {
  const price = pendingPrice(source);
  const outcomes = (last: LastPrice | undefined) =>
    Array.from({ length: 600 }, (_, steps) => {
      amountOf(price, [0n, 5n], last);
      return amountOf(price, [5n, 6n], last, new EventSteps(steps));
    });
  const without = outcomes(undefined);
  expect(outcomes(new LastPrice())).toEqual(without);
  expect(new Set(without).size).toBe(2);
});

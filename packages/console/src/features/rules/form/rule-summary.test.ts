import { describe, expect, it } from 'vitest';
import { summaryOfRule } from './rule-summary.js';

const price = { metric: 'llm.input_tokens', unit_price_expr: 'dec("0.25")' };

describe('the summary of a pricing rule', () => {
  it('shows the pricing unit', () => {
    expect(summaryOfRule(price)).toBe('→ 0.25');
    expect(summaryOfRule({ ...price, pricing_unit: '1000000' })).toBe('→ 0.25 per 1,000,000');
    expect(summaryOfRule({ ...price, pricing_unit: 1_000 })).toBe('→ 0.25 per 1,000');
    expect(summaryOfRule({ metric: 'a', amount_expr: 'dec("2")' })).toBe('→ 2');
    expect(summaryOfRule({ metric: 'a' })).toBe('→ no price');
  });

  it('says in words what a price model charges', () => {
    const cumulative = { counter: 'tokens', period: 'month', per: 'subject' } as const;
    const totals = (total_expr: string, more = {}) =>
      summaryOfRule({ metric: 'a', cumulative: { ...cumulative, ...more }, total_expr });
    expect(totals('tier_graduated(total.quantity, [[1000, "0.01"], [null, "0.005"]])')).toBe(
      '→ 0.01 each up to 1,000, then 0.005 each · total of each subject per calendar month',
    );
    expect(
      totals('tier_volume(total.quantity, [[10, "2"], [null, "1"]])', { period: 'year', per: 'project' }),
    ).toBe('→ 2 for all up to 10, then 1 for all · total of the project per calendar year');
    expect(
      totals(
        'dec_min(dec("20") + tier_graduated(total.quantity, [[1000, "0"], [null, "0.01"]]), dec("50"))',
        {
          period: 'lifetime',
          by: ['model', 'region'],
        },
      ),
    ).toBe('→ 1,000 included, then 0.01 each, plus 20, at most 50 · total of each subject by model, region');
    expect(summaryOfRule({ metric: 'a', amount_expr: 'tier_package(item.quantity, 1000, "")' })).toBe(
      '→ … per package of 1,000',
    );
    expect(
      summaryOfRule({
        metric: 'a',
        amount_expr: 'dec_max(item.quantity * dec("2.9") * dec("0.01"), dec("0.3"))',
      }),
    ).toBe('→ 2.9 %, at least 0.3');
    expect(totals('total.quantity * dec_abs(dec("1"))')).toBe('→ total.quantity * dec_abs(dec("1"))');
    expect(summaryOfRule({ metric: 'a', cumulative })).toBe('→ …');
  });

  it('leaves out what the name already says', () => {
    const rule = { ...price, match_expr: 'dimensions.model == "gpt-5"', priority: 100 };
    expect(summaryOfRule({ ...rule, name: 'gpt-5 llm.input_tokens' })).toBe(
      '→ 0.25 where dimensions.model == "gpt-5" · priority 100',
    );
    expect(summaryOfRule({ ...price, name: 'large' })).toBe('llm.input_tokens → 0.25');
  });

  it('shows a unit that is still being written as it is', () => {
    expect(summaryOfRule({ ...price, pricing_unit: 'a lot' })).toBe('→ 0.25 per a lot');
  });
});

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

  it('leaves out what the name already says', () => {
    const rule = { ...price, match_expr: 'dimensions.model == "gpt-5"', priority: 100 };
    expect(summaryOfRule({ ...rule, name: 'gpt-5 llm.input_tokens' })).toBe(
      'where dimensions.model == "gpt-5" → 0.25 · priority 100',
    );
    expect(summaryOfRule({ ...price, name: 'large' })).toBe('llm.input_tokens → 0.25');
  });

  it('shows a unit that is still being written as it is', () => {
    expect(summaryOfRule({ ...price, pricing_unit: 'a lot' })).toBe('→ 0.25 per a lot');
  });
});

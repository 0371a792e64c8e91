import type { ExtractorConfig, PricingRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { parseDecimal, toStored } from '../../kernel/decimal.js';
import { type Guide, readGuide, sectionsOf } from '../../testing/guide.js';
import { compileExtractor, compilePricing, priceListOf, rateAlone, ratingInputOf } from '../rules/index.js';
import { outcomeOf } from './outcome.js';

const guide = readGuide('price-models');
const [extractor = ''] = guide.blocks('json extractor');
/** Path in the event from which the quantity of a metric is read. */
const PATHS: Readonly<Record<string, string>> = { 'api.calls': 'calls', payments: 'paid' };

interface Example {
  readonly title: string;
  readonly rule: PricingRule;
  /** Rows of the table below the rule, by column. */
  readonly rows: readonly Readonly<Record<string, string>>[];
}

function examplesOf(title: string, { text }: Guide): Example[] {
  return [
    ...text.matchAll(/^```json rule\n([\s\S]*?)^```$([\s\S]*?)^\|(.*)\|\n\|[-|]+\|\n((?:\|.*\|\n)+)/gm),
  ].map(([, rule = '', , head = '', body = '']) => ({
    title,
    rule: JSON.parse(rule) as PricingRule,
    rows: body
      .trim()
      .split('\n')
      .map((line) => {
        const cells = line.split('|').slice(1, -1);
        return Object.fromEntries(
          head.split('|').map((name, index) => [name.trim(), cells[index]?.trim() ?? '']),
        );
      }),
  }));
}

function stored(text: string): bigint {
  const value = parseDecimal(text);
  const scaled = value === undefined ? undefined : toStored(value);
  if (scaled === undefined) throw new Error(`${text} is not a decimal`);
  return scaled;
}

/** Rates the events of an example one after the other, each with the totals that the former ones left. */
function rated({ rule, rows }: Example) {
  const read = compileExtractor(JSON.parse(extractor) as ExtractorConfig, { ruleSetId: 'ers_1', version: 1 });
  const pricing = compilePricing({ rules: [rule] }, { ruleSetId: 'prs_1', version: 1 });
  if (!read.ok || !pricing.ok) throw new Error(JSON.stringify([read, pricing]));
  const rules = { extractor: read.extractor, prices: priceListOf([pricing.pricing]), costs: priceListOf([]) };
  const totals = new Map<string, bigint>();
  return rows.map(({ Quantity = '' }) => {
    const quantity = rule.metric === 'payments' ? Quantity : Number(Quantity);
    const raw_json = { customer: 'c-1', [PATHS[rule.metric] ?? '']: quantity };
    const result = rateAlone(rules, ratingInputOf({ raw_json, occurred_at: 1_790_000_000 }), totals);
    const [item] = outcomeOf(result).items;
    if (item?.cumulative != null) totals.set(item.cumulative.counter, stored(item.cumulative.after));
    return item;
  });
}

describe('the guide to price models', () => {
  const examples = [...sectionsOf(guide, 2)].flatMap(([title, section]) => examplesOf(title, section));

  it.each(examples)('$title: $rule.metric', (example) => {
    const items = rated(example);
    expect(items.map((item) => item?.amount)).toEqual(example.rows.map(({ Amount }) => Amount));
    let sum = 0n;
    for (const [index, row] of example.rows.entries()) {
      sum += stored(row.Amount ?? '');
      if (example.rule.cumulative === undefined) continue;
      expect(items[index]?.cumulative?.after).toBe(row.Total);
      expect(stored(row['Price of the total'] ?? '')).toBe(sum);
    }
  });

  it('has an example of every model, with amounts', () => {
    expect(new Set(examples.map(({ title }) => title))).toEqual(
      new Set([
        ...['Per unit', 'Graduated', 'Volume', 'Package', 'Allowance, then overage'],
        ...['Percentage', 'Minimum', 'Cap'],
      ]),
    );
    expect(guide.blocks('json rule')).toHaveLength(examples.length);
    for (const { rows } of examples) expect(rows.length).toBeGreaterThan(1);
  });
});

import type { ExtractorConfig } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../kernel/json/json.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { compileExtractor } from './extract/index.js';
import { NO_PRICE_LISTS } from './pricing/index.js';
import { rateEvent } from './rate.js';
import { failureOf, type Item, items, itemsOf, OCCURRED_AT, rate } from './testing.js';

it('rates a call of a language model', () => {
  const config: ExtractorConfig = {
    subject: { type_path: 'caller.kind', default_type: 'user', id_path: 'caller.id', required: true },
    dimensions: [
      { name: 'model', path: 'model', type: 'string', required: true },
      { name: 'streamed', path: 'stream', type: 'boolean' },
      { name: 'temperature', path: 'temperature', type: 'number' },
    ],
    charge_item_extractors: [
      {
        name: 'Input',
        metric: 'llm.input_tokens',
        path: 'usage.prompt_tokens',
        type: 'number',
        unit: 'token',
        currency: 'EUR',
        unit_price_expr: 'dec("0.000002")',
        amount_expr: 'dec_mul(item.quantity, item.unit_price)',
      },
      { metric: 'llm.output_tokens', path: 'usage.completion_tokens', type: 'number' },
      { metric: 'llm.images', path: 'usage.images', type: 'number' },
    ],
  };
  const rated = rate(
    config,
    `{"model": "gpt-4o", "stream": true, "temperature": 0.70, "caller": {"id": "u-1"},
      "usage": {"prompt_tokens": 1200, "completion_tokens": 34, "images": null}}`,
  );
  expect(rated).toMatchObject({ ok: true, subject: { type: 'user', id: 'u-1' } });
  expect(Array.from(rated.dimensions, ([name, value]) => [name, String(value)])).toEqual([
    ['model', 'gpt-4o'],
    ['streamed', 'true'],
    ['temperature', '0.7'],
  ]);
  expect(itemsOf(rated)).toEqual([
    {
      extractorName: 'Input',
      metric: 'llm.input_tokens',
      unit: 'token',
      quantity: '1200',
      unitPrice: '0.000002',
      amount: '0.0024',
      discount: '0',
      currency: 'EUR',
      ...{ source: 'extractor', pricingSource: 'extractor' },
      ruleSetId: 'ers_1',
      ruleSetVersion: 3,
      ruleName: 'Input',
      cumulative: '',
      cost: null,
    },
    {
      extractorName: 'llm.output_tokens',
      metric: 'llm.output_tokens',
      unit: '',
      quantity: '34',
      unitPrice: null,
      amount: '0',
      discount: '0',
      currency: '',
      source: 'extractor',
      pricingSource: 'unpriced',
      ruleSetId: '',
      ruleSetVersion: 0,
      ruleName: '',
      cumulative: '',
      cost: null,
    },
  ]);
});

it('rates an event by rules that extract nothing', () => {
  expect(rate({}, '{}')).toEqual({ ok: true, items: [], notes: [], dimensions: new Map() });
});

describe('price', () => {
  it.each<[string, Partial<Item>, string | null, string, string]>([
    ['a unit price alone', { unit_price_expr: 'dec("0.5")', currency: 'EUR' }, '0.5', '1.5', 'EUR'],
    ['an amount alone', { amount_expr: 'dec_add(item.quantity, dec("1"))' }, null, '4', 'USD'],
    [
      'both',
      { unit_price_expr: 'dec("2")', amount_expr: 'item.unit_price + item.quantity' },
      '2',
      '5',
      'USD',
    ],
    ['a fixed amount', { amount_expr: 'dec("7")' }, null, '7', 'USD'],
    ['a rounded unit price', { unit_price_expr: 'dec("0.0000000000000000005")' }, '0', '0', 'USD'],
    [
      'a rounded amount',
      { amount_expr: 'dec_mul(item.quantity, dec("0.0000000000000000005"))' },
      null,
      '0.000000000000000002',
      'USD',
    ],
    ['a currency without expressions', { currency: 'EUR' }, null, '0', ''],
    [
      'the time of the event',
      { amount_expr: `occurred_at < ${OCCURRED_AT + 1} ? dec("1") : dec("2")` },
      null,
      '1',
      'USD',
    ],
    [
      'metric and unit',
      { unit: 'KB', amount_expr: 'item.unit == "KB" && item.metric == "tokens" ? dec("1") : dec("0")' },
      null,
      '1',
      'USD',
    ],
  ])('by %s', (_, change, unitPrice, amount, currency) => {
    expect(itemsOf(rate(items(change), '{"n": 3}'))).toMatchObject([{ unitPrice, amount, currency }]);
  });

  it('sees the quantity as it was sent, and rounds the amount once', () => {
    const change = { amount_expr: 'item.quantity * dec("1000")' };
    const [item] = itemsOf(rate(items(change), '{"n": 0.0000000000000000004}'));
    expect(item).toMatchObject({ quantity: '0', amount: '0.0000000000000004' });
  });

  it('multiplies the unit price that is recorded', () => {
    const change = { unit_price_expr: 'dec_div(dec("1"), item.quantity, 30)' };
    const [item] = itemsOf(rate(items(change), '{"n": 3}'));
    expect(item).toMatchObject({ unitPrice: '0.333333333333333333', amount: '0.999999999999999999' });
  });

  it('may depend on subject and dimensions', () => {
    const config: ExtractorConfig = {
      subject: { default_type: 'user', default_id: 'u-1' },
      dimensions: [{ name: 'tier', path: 'tier', type: 'string' }],
      ...items({ unit_price_expr: 'subject.id == "u-1" && dimensions.tier == "pro" ? dec("1") : dec("2")' }),
    };
    expect(itemsOf(rate(config, '{"n": 1, "tier": "pro"}'))).toMatchObject([{ amount: '1' }]);
    expect(itemsOf(rate(config, '{"n": 1, "tier": "free"}'))).toMatchObject([{ amount: '2' }]);
  });

  it.each<[string, Partial<Item>, string, string, string]>([
    [
      'that asks for an absent dimension',
      { unit_price_expr: 'dimensions.model == "x" ? dec("1") : dec("2")' },
      'pricing_failed',
      'unit_price_expr',
      'line 1, column 12: the event has no dimension model',
    ],
    [
      'that asks for an absent subject',
      { amount_expr: 'subject.id == "x" ? dec("1") : dec("2")' },
      'pricing_failed',
      'amount_expr',
      'the event has no subject',
    ],
    [
      'past the last tier',
      { amount_expr: 'tier_volume(item.quantity, [[2, "1"]])' },
      'pricing_failed',
      'amount_expr',
      'line 1, column 1: the quantity is past the bound of the last tier',
    ],
    [
      'that divides by zero',
      { amount_expr: 'dec_div(dec("1"), item.quantity - dec("3"), 2)' },
      'pricing_failed',
      'amount_expr',
      'division by zero',
    ],
    [
      'that does not fit',
      { unit_price_expr: 'item.quantity * dec("1e20")' },
      'decimal_out_of_range',
      'unit_price_expr',
      'does not fit 20 integer digits',
    ],
    [
      'that outgrows every bound',
      { amount_expr: 'item.quantity * dec("4e399")' },
      'decimal_out_of_range',
      'amount_expr',
      'out of range',
    ],
  ])('fails %s', (_, change, code, field, message) => {
    const rated = rate(items({ metric: 'first' }, change), '{"n": 3}');
    expect(failureOf(rated)).toEqual([code, `charge_item_extractors[1].${field}`]);
    expect(rated.ok ? '' : rated.failure.message).toContain(message);
  });

  it('fails where quantity times unit price does not fit', () => {
    const change = { unit_price_expr: 'dec("10000000000")' };
    expect(failureOf(rate(items(change), '{"n": 10000000000}'))).toEqual([
      'decimal_out_of_range',
      'charge_item_extractors[0]',
    ]);
  });
});

it('rates or fails whatever JSON it is given, and never throws', () => {
  const config: ExtractorConfig = {
    subject: { type_path: 'a', id_path: 'b.a' },
    dimensions: [
      { name: 'a', path: 'a', type: 'string' },
      { name: 'b', path: 'b', type: 'number' },
      { name: 'c', path: 'c[0]', type: 'boolean' },
    ],
    ...items(
      { path: 'b', unit_price_expr: 'dec(dimensions.b)' },
      {
        metric: 'c',
        path: 'c[-1].a',
        type: 'decimal_string',
        amount_expr: 'tier_package(item.quantity, 3, 1)',
      },
      { metric: 'd', path: 'a', amount_expr: 'dec(size(dimensions.a))' },
    ),
  };
  const result = compileExtractor(config);
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  const rules = { extractor: result.extractor, ...NO_PRICE_LISTS };
  const { json } = fc.letrec<{ json: unknown; object: unknown; array: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: 'binary' }),
      tie('object'),
      tie('array'),
      fc.constantFrom('5', '-1', '1e999', 'user', null, true),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom('12345678901234567890', '1e999', '0.1234567890123456789').map(parseLossless),
    ),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), tie('json')),
    array: fc.array(tie('json'), { maxLength: 3 }),
  }));
  fc.assert(
    fc.property(json, (rawJson) => {
      const input = { rawJson, occurredAt: OCCURRED_AT };
      const rated = rateEvent(rules, input);
      expect(rateEvent(rules, input)).toEqual(rated);
    }),
    { numRuns: propertyRuns(750) },
  );
});

import type { ExtractorConfig, PricingConfig, UsageChargeItem } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../kernel/json/json.js';
import { readGuide } from '../../testing/guide.js';
import {
  type CompiledExtractor,
  compileExtractor,
  compilePricing,
  dimensionTexts,
  explainedRule,
  priceListOf,
  rateAlone,
  ratingInputOf,
} from '../rules/index.js';
import { explainItem } from '../usage/index.js';
import { outcomeOf } from './outcome.js';

const OCCURRED_AT = 1_790_000_000;

interface Block {
  readonly info: string;
  readonly json: string;
}

/** An event of the guide, the rules before it in its section, and the result that the guide states. */
interface Example {
  readonly section: string;
  readonly extractor: string;
  readonly pricings: readonly string[];
  readonly event: string;
  readonly outcome: Block;
}

const blocks = [...readGuide('pricing').text.matchAll(/^#{2,3} (.*)$|^```json (\S+)\n([\s\S]*?)^```$/gm)];

/** Prices apply until the end of their section, the extractor to the whole guide. */
function readExamples(): Example[] {
  const examples: Example[] = [];
  let section = '';
  let extractor = '';
  let event = '';
  let pricings: string[] = [];
  for (const [, title, info, json = ''] of blocks) {
    if (title !== undefined) {
      section = title;
      pricings = [];
    } else if (info === 'extractor') extractor = json;
    else if (info === 'pricing') pricings.push(json);
    else if (info === 'event') event = json;
    else if (info !== undefined) {
      examples.push({ section, extractor, pricings: [...pricings], event, outcome: { info, json } });
    }
  }
  return examples;
}

function compiledExtractor(config: ExtractorConfig): CompiledExtractor {
  const result = compileExtractor(config, { ruleSetId: 'ers_1', version: 1 });
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.extractor;
}

/** Rates the event of an example as production would; the rule sets are `prs_1`, `prs_2` …, each in version 1. */
function rated(example: Example) {
  const extractor = JSON.parse(example.extractor) as ExtractorConfig & { readonly name: string };
  const pricings = example.pricings.map((text) => JSON.parse(text) as PricingConfig);
  const compiled = pricings.map((config, index) => {
    const result = compilePricing(config, { ruleSetId: `prs_${index + 1}`, version: 1 });
    if (!result.ok) throw new Error(JSON.stringify(result.issues));
    return result.pricing;
  });
  const event = parseLossless(example.event) as Readonly<Record<string, unknown>>;
  const rules = {
    extractor: compiledExtractor(extractor),
    prices: priceListOf(compiled),
    costs: priceListOf([]),
  };
  const result = rateAlone(rules, ratingInputOf({ ...event, occurred_at: OCCURRED_AT }));
  const outcome = outcomeOf(result);
  const seen = {
    dimensions: Object.fromEntries(dimensionTexts(result.dimensions)),
    subject_type: null,
    subject_id: null,
    occurred_at: OCCURRED_AT,
  };
  const explain = (item: UsageChargeItem) =>
    explainItem(item, seen, {
      extractor: { name: extractor.name, config: extractor },
      pricing: (id) => pricings[Number(id?.slice('prs_'.length)) - 1],
      answerRule: explainedRule,
      billing: event['x-billing'],
    });
  return { outcome, explain };
}

function assertAsTold(example: Example): void {
  const told: unknown = JSON.parse(example.outcome.json);
  const { outcome, explain } = rated(example);
  switch (example.outcome.info) {
    case 'charge-items':
      expect(outcome).toMatchObject({ items: told, failure: null });
      break;
    case 'failure':
      expect(outcome).toMatchObject({ items: [], failure: told });
      break;
    case 'explanation':
      expect(outcome.items.map(explain)).toEqual([told]);
      break;
    default:
      throw new Error(`the guide has a block ${example.outcome.info} that nobody checks`);
  }
}

describe('the guide to pricing', () => {
  const examples = readExamples();

  it.each(examples)('$section: $event', (example) => assertAsTold(example));

  it('shows every source of a price, and every price model', () => {
    const text = examples.flatMap(({ pricings, outcome }) => [...pricings, outcome.json]).join('\n');
    for (const source of ['"hint"', '"pricing_rule_set"', '"unpriced"']) expect(text).toContain(source);
    for (const model of ['tier_graduated', 'tier_volume', 'tier_package']) expect(text).toContain(model);
  });
});

/**
 * Events per second of processor time that are extracted and priced (JSON parsing left out), the best of several
 * rounds: a 600-byte LLM event, 2 dimensions, 2 charge items. Priced by the extractors, by 5 and by 500 pricing rules
 * (one for each metric, or one for each model of a metric), and by one and by 23 rule sets of a hundred models with
 * aliases each. A whole table of model prices needs 23; the ratio of these two times is printed. Needs `npm run
 * build`.
 *
 *   node bench/rating.mjs [seconds]
 */
import { compileExtractor } from '../packages/service/dist/modules/rules/extract/index.js';
import { compilePricing, priceListOf } from '../packages/service/dist/modules/rules/pricing/index.js';
import { rateEvent } from '../packages/service/dist/modules/rules/rate.js';

const EVENTS = 2_000;
const ROUND_MS = 500;
const roundsMax = Math.max(1, Math.round((Number(process.argv[2] ?? 5) * 1_000) / ROUND_MS));

const charge = (metric, path, price) => ({
  metric,
  path,
  type: 'number',
  unit: 'token',
  currency: 'USD',
  unit_price_expr: price,
  amount_expr: 'dec_mul(item.quantity, item.unit_price)',
});

const shared = {
  subject: { type_path: 'customer.kind', default_type: 'user', id_path: 'customer.id', required: true },
  dimensions: [
    { name: 'model', path: 'model', type: 'string', required: true },
    { name: 'region', path: '$.meta.region', type: 'string' },
  ],
};
const ATTACHED = {
  'constant unit prices': [
    charge('llm.input_tokens', 'usage.prompt_tokens', 'dec("0.000002")'),
    charge('llm.output_tokens', 'usage.completion_tokens', 'dec("0.000008")'),
  ],
  'unit prices by dimension': [
    charge(
      'llm.input_tokens',
      'usage.prompt_tokens',
      'dimensions.model == "gpt-4o" ? dec("0.000002") : dec("0.000001")',
    ),
    charge(
      'llm.output_tokens',
      'usage.completion_tokens',
      'dimensions.region == "eu" ? dec("0.000009") : dec("0.000008")',
    ),
  ],
};

const UNPRICED = [
  { metric: 'llm.input_tokens', path: 'usage.prompt_tokens', type: 'number' },
  { metric: 'llm.output_tokens', path: 'usage.completion_tokens', type: 'number' },
];
const METRICS = UNPRICED.map(({ metric }) => metric);
const rule = (metric, model) => ({
  metric,
  ...(model === undefined ? {} : { match_expr: `dimensions.model == "${model}"` }),
  unit_price_expr: 'dec("0.000002")',
});

/** The rules that apply are the last ones: trying all in order would be slowest. */
const PRICING_RULES = {
  'pricing rules by metric': (count) => [
    ...Array.from({ length: count - 2 }, (_, index) => rule(`other.metric_${index}`)),
    ...METRICS.map((metric) => rule(metric)),
  ],
  'pricing rules of one metric by model': (count) => [
    ...Array.from({ length: count - 2 }, (_, index) => rule(METRICS[0], `other-${index}`)),
    ...['gpt-4o', 'gpt-4o-mini'].map((model) => rule(METRICS[0], model)),
  ],
};

/** A rule set of a hundred models as an import makes it, the models of the events in the last of them. */
function importedSet(number, isLast) {
  const models = Array.from({ length: 98 }, (_, index) => `model-${number}-${index}`);
  models.push(...(isLast ? ['gpt-4o', 'gpt-4o-base'] : [`model-${number}-a`, `model-${number}-b`]));
  return {
    rules: models.flatMap((model) => METRICS.map((metric) => rule(metric, model))),
    aliases: models.flatMap((model) =>
      [`openai/${model}`, `${model}-202*`, `${model}@202*`].map((pattern) => alias(pattern, model)),
    ),
  };
}
const alias = (pattern, value) => ({ dimension: 'model', pattern, value });
const withAlias = (set, added) => ({ ...set, aliases: [...set.aliases, added] });
const importedSets = (count) => [
  ...Array.from({ length: count - 1 }, (_, number) => importedSet(number, false)),
  // Half of the events come by another name.
  withAlias(importedSet(count, true), alias('gpt-4o-mini', 'gpt-4o-base')),
];

function eventText(index) {
  return JSON.stringify({
    id: `chatcmpl-${index.toString().padStart(26, '0')}`,
    object: 'chat.completion',
    created: 1_790_000_000 + index,
    model: index % 3 === 0 ? 'gpt-4o' : 'gpt-4o-mini',
    customer: { kind: 'user', id: `user_${index % 10_000}` },
    meta: { region: index % 2 === 0 ? 'eu' : 'us', service_tier: 'default', note: 'n'.repeat(180) },
    choices: [{ index: 0, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 100 + ((index * 7919) % 9_000),
      completion_tokens: 10 + ((index * 104_729) % 900),
      total_tokens: 1_000,
      prompt_tokens_details: { cached_tokens: 0 },
    },
  });
}

const texts = Array.from({ length: EVENTS }, (_, index) => eventText(index));
const events = texts.map((text) => JSON.parse(text));
const bytesMean = texts.reduce((sum, text) => sum + text.length, 0) / EVENTS;
console.log(`event: ${bytesMean.toFixed(0)} bytes on average`);

for (const [name, chargeItems] of Object.entries(ATTACHED)) {
  const [best] = bestOf([rulesOf(chargeItems, [{ rules: [] }])]);
  report(name, best);
}
for (const [name, pricingRules] of Object.entries(PRICING_RULES)) {
  const [few, many] = bestOf([5, 500].map((count) => rulesOf(UNPRICED, [{ rules: pricingRules(count) }])));
  report(`5 ${name}`, few);
  report(`500 ${name}`, many);
  console.log(`  500 take ${(few / many).toFixed(2)} × the time of 5`);
}

{
  const [one, all] = bestOf([1, 23].map((count) => rulesOf(UNPRICED, importedSets(count))));
  report('1 imported rule set', one);
  report('23 imported rule sets', all);
  console.log(`  23 take ${(one / all).toFixed(2)} × the time of 1`);
}

function rulesOf(chargeItems, pricingRuleSets) {
  const extractor = compileExtractor({ ...shared, charge_item_extractors: chargeItems });
  if (!extractor.ok) throw new Error(JSON.stringify(extractor.issues));
  const pricings = pricingRuleSets.map((config, number) => {
    const pricing = compilePricing(config, { ruleSetId: `prs_bench_${number}`, version: 1 });
    if (!pricing.ok) throw new Error(JSON.stringify(pricing.issues));
    return pricing.pricing;
  });
  return { extractor: extractor.extractor, prices: priceListOf(pricings), costs: priceListOf([]) };
}

/** Taken in turns, so that what else the machine does meets all of them alike. */
function bestOf(alternatives) {
  const best = alternatives.map(() => 0);
  for (let round = 0; round < roundsMax; round++) {
    for (const [index, rules] of alternatives.entries()) best[index] = Math.max(best[index], measure(rules));
  }
  return best;
}

function report(name, perSecond) {
  const time = `${(1e6 / perSecond).toFixed(2)} µs`;
  console.log(`${name}: ${Math.round(perSecond).toLocaleString('en-US')} events/s (${time})`);
}

/** Processor time, not the clock: what else runs on the machine matters less. Garbage collection counts. */
function measure(rules) {
  const started = performance.now();
  const cpuBefore = process.cpuUsage();
  let rated = 0;
  let checksum = 0n;
  while (performance.now() - started < ROUND_MS) {
    for (let index = 0; index < EVENTS; index++) {
      const event = rateEvent(rules, { rawJson: events[index], occurredAt: 1_790_000_000 + index });
      if (!event.ok) throw new Error(event.failure.message);
      checksum += event.items[0].amount;
    }
    rated += EVENTS;
  }
  if (checksum <= 0n) throw new Error('nothing was priced');
  const { user, system } = process.cpuUsage(cpuBefore);
  return rated / ((user + system) / 1e6);
}

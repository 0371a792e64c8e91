import {
  BACKTEST,
  CUSTOMER,
  EVENT,
  EXTRACTOR_RULE_SET,
  MONTH_END,
  MONTH_START,
  NOW,
  OWNER,
  PLAN,
  PRICING_RULE_SET,
} from './ids.js';
import { CHARGE_ITEMS, EXPLANATIONS, RAW_JSON } from './usage.js';

const extractor = {
  subject: { default_type: 'customer', id_path: '$.customer', required: true },
  dimensions: [{ name: 'model', path: '$.model', type: 'string', required: true }],
  charge_item_extractors: [
    { metric: 'llm.input_tokens', path: '$.usage.input_tokens', type: 'number', unit: 'token' },
    { metric: 'llm.output_tokens', path: '$.usage.output_tokens', type: 'number', unit: 'token' },
  ],
};
const rules = [
  {
    name: 'large in',
    priority: 0,
    metric: 'llm.input_tokens',
    match_expr: 'dimensions.model == "large"',
    unit_price_expr: 'dec("3")',
    pricing_unit: '1000000',
  },
  {
    name: 'large out',
    priority: 0,
    metric: 'llm.output_tokens',
    match_expr: 'dimensions.model == "large"',
    unit_price_expr: 'dec("15")',
    pricing_unit: '1000000',
  },
];
const aliases = [{ dimension: 'model', pattern: 'large-2025-*', value: 'large' }];

const version = { version: 1, effective_from: MONTH_START, created_at: MONTH_START };
const extractorRuleSet = {
  id: EXTRACTOR_RULE_SET,
  ...OWNER,
  name: 'LLM calls',
  ...version,
  status: 'published',
  ...extractor,
  on_unpriced: 'accept',
  published_at: MONTH_START,
};
const pricingRuleSet = {
  id: PRICING_RULE_SET,
  ...OWNER,
  extractor_rule_set_id: EXTRACTOR_RULE_SET,
  purpose: 'price',
  name: 'Model prices',
  ...version,
  status: 'published',
  currency: 'USD',
  rules,
  aliases,
  published_at: MONTH_START,
};
const page = { total_count: 1, limit: 20, offset: 0 };

const backtestSums = (amount: string) => ({ item_count: 1, quantity: '340', amount, cost: '0.0034' });

const backtestedTime = { from: MONTH_START, to: MONTH_END };

export const RULE_EXAMPLES = {
  ExtractorRuleSetInput: { name: 'LLM calls', ...extractor },
  ExtractorRuleSet: extractorRuleSet,
  ExtractorRuleSetPage: { extractor_rule_sets: [extractorRuleSet], ...page },
  PricingRuleSetInput: {
    extractor_rule_set_id: EXTRACTOR_RULE_SET,
    name: 'Model prices',
    currency: 'USD',
    rules,
    aliases,
  },
  PricingRuleSet: pricingRuleSet,
  PricingRuleSetPage: { pricing_rule_sets: [pricingRuleSet], ...page },
  SavedPricingRuleSet: { ...pricingRuleSet, status: 'draft', published_at: null, warnings: [] },
  RulesTestRequest: {
    extractor_rule_set_id: EXTRACTOR_RULE_SET,
    pricing: { currency: 'USD', rules },
    event: { raw_json: RAW_JSON },
  },
  RulesTestResult: {
    subject: { type: 'customer', id: 'c-42' },
    dimensions: { model: 'large' },
    charge_items: CHARGE_ITEMS,
    errors: [],
    unpriced: [],
    notes: [],
    warnings: [],
    explanation: EXPLANATIONS,
  },
  BacktestRequest: {
    extractor_rule_set_id: EXTRACTOR_RULE_SET,
    pricing: { currency: 'USD', rules: [{ metric: 'llm.output_tokens', unit_price_expr: 'dec("0.00002")' }] },
    time_range: { from: MONTH_START, to: MONTH_END },
  },
  Backtest: {
    id: BACKTEST,
    status: 'succeeded',
    request: { extractor_rule_set_id: EXTRACTOR_RULE_SET, time_range: { from: MONTH_START, to: MONTH_END } },
    progress: { events_done: 1, events_total: 1 },
    result: {
      from: MONTH_START,
      to: MONTH_END,
      event_count: 1,
      changed_count: 1,
      newly_failed: [],
      newly_succeeded: [],
      totals: [
        {
          metric: 'llm.output_tokens',
          unit: 'token',
          currency: 'USD',
          before: backtestSums('0.0051'),
          after: backtestSums('0.0068'),
        },
      ],
      examples: [],
      cut_by: [],
    },
    failure: null,
    created_at: NOW,
    finished_at: NOW + 1,
  },
  LimitBacktestRequest: backtestedTime,
  LimitBacktestStarted: { id: BACKTEST },
  LimitBacktest: {
    ...{ id: BACKTEST, usage_limit_plan_id: PLAN, revision: 0, request: backtestedTime },
    ...{ status: 'succeeded', progress: { events_done: 81, events_total: 81 }, failure: null },
    results: [
      {
        ...CUSTOMER,
        ...{ limit_key: 'monthly_spend', window_id: `month:${MONTH_START}`, outcome: 'warned' },
        ...{
          threshold_percent: 50,
          at: NOW,
          used_amount: '50.0051',
          limit_amount: '100',
          raw_event_id: EVENT,
        },
      },
    ],
    ...{ truncated: false, counted_until: MONTH_END, created_at: MONTH_END, finished_at: MONTH_END + 1 },
  },
};

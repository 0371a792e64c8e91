import {
  ACCOUNT,
  BOARD,
  CHART,
  COST_RULE_SET,
  CUSTOMER,
  EVENT,
  EXTRACTOR_RULE_SET,
  MONTH_END,
  MONTH_START,
  NOW,
  OWNER,
  PRICING_RULE_SET,
  TRANSACTION,
} from './ids.js';

export const RAW_JSON = {
  customer: 'c-42',
  model: 'large',
  usage: { input_tokens: 1200, output_tokens: 340 },
};

/** Returns one charge item, with the origin of its numbers. */
function item(
  name: string,
  path: string,
  quantity: string,
  prices: { unit: string; million: string; amount: string; cost: string; costOfMillion: string },
) {
  const metric = `llm.${name}_tokens`;
  const ruleName = `large ${name === 'input' ? 'in' : 'out'}`;
  const ruleSet = { rule_set_id: PRICING_RULE_SET, rule_set_version: 1, rule_name: ruleName };
  const { unit, million, amount, cost, costOfMillion } = prices;
  const costedBy = { pricing_rule_set_id: COST_RULE_SET, version: 1, rule: ruleName };
  return {
    charged: {
      extractor_name: metric,
      metric,
      unit: 'token',
      quantity,
      unit_price: unit,
      amount,
      discount: '0',
      currency: 'USD',
      source: 'extractor',
      pricing_source: 'pricing_rule_set',
      ...ruleSet,
      cumulative: null,
      cost: { amount: cost, currency: 'USD', ...costedBy },
    },
    explained: {
      metric,
      quantity: {
        value: quantity,
        source: 'extractor',
        extractor_name: metric,
        path,
        less_paths: [],
        sum_paths: [],
        type: 'number',
      },
      unit_price: { value: unit, expression: `dec("${million}")`, pricing_unit: '1000000' },
      amount: { value: amount, currency: 'USD', expression: null, before_discount: amount },
      total: null,
      discount: null,
      priced_by: {
        pricing_source: 'pricing_rule_set',
        ...ruleSet,
        match_expr: 'dimensions.model == "large"',
        priority: 0,
        aliases: [],
        hint: null,
      },
      cost: {
        value: cost,
        currency: 'USD',
        expression: null,
        unit_price_expression: `dec("${costOfMillion}")`,
        pricing_unit: '1000000',
        ...costedBy,
        match_expr: 'dimensions.model == "large"',
        priority: 0,
        aliases: [],
      },
    },
  };
}

const items = [
  item('input', '$.usage.input_tokens', '1200', {
    unit: '0.000003',
    million: '3',
    amount: '0.0036',
    cost: '0.003',
    costOfMillion: '2.5',
  }),
  item('output', '$.usage.output_tokens', '340', {
    unit: '0.000015',
    million: '15',
    amount: '0.0051',
    cost: '0.0034',
    costOfMillion: '10',
  }),
];
export const CHARGE_ITEMS = items.map(({ charged }) => charged);
export const EXPLANATIONS = items.map(({ explained }) => explained);

const sent = { idempotency_key: 'call-1', occurred_at: NOW, raw_json: RAW_JSON };
const event = {
  raw_event_id: EVENT,
  revision: 1,
  status: 'processed',
  source: 'gateway',
  external_event_id: null,
  idempotency_key: 'call-1',
  ...CUSTOMER,
  account_id: ACCOUNT,
  occurred_at: NOW,
  received_at: NOW,
  processed_at: NOW + 1,
  dimensions: { model: 'large' },
  charge_items: CHARGE_ITEMS.map((one) => ({ ...one, ledger_transaction_id: TRANSACTION })),
  posting: 'posted',
  extractor_rule_set_id: EXTRACTOR_RULE_SET,
  extractor_version: 1,
  budget_lease_id: null,
  lease_status: null,
  failure: null,
  notes: [],
};

const query = { measures: ['amount'], group_by: ['bucket', 'model'], bucket_size: '1d' };
const row = (bucket: number, amount: string) => ({
  bucket,
  metric: 'llm.output_tokens',
  unit: 'token',
  currency: 'USD',
  group: { model: 'large' },
  amount,
});

const board = {
  report_id: BOARD,
  ...OWNER,
  kind: 'board',
  name: 'Costs',
  description: null,
  timezone: 'Europe/Berlin',
  default_time_range_seconds: 604_800,
  created_at: MONTH_START,
  updated_at: MONTH_START,
};
const chart = {
  chart_id: CHART,
  ...OWNER,
  kind: 'chart',
  board_id: BOARD,
  title: 'Amount by model',
  name: 'Amount by model',
  description: null,
  chart_type: 'bar',
  position: 0,
  size: 'full',
  subject_type: null,
  comparison: null,
  bucket_size: '1d',
  filters: {},
  group_by: query.group_by,
  measures: query.measures,
  metrics: null,
  split_by: [],
  limit: 10,
  query: { ...query, split_by: [], limit: 10 },
  created_at: MONTH_START,
  updated_at: MONTH_START,
};

export const USAGE_EXAMPLES = {
  IngestEvent: { source: 'gateway', ...sent },
  IngestAccepted: { raw_event_id: EVENT, status: 'received' },
  BatchIngest: {
    source: 'gateway',
    events: [{ extractor_rule_set_id: EXTRACTOR_RULE_SET, ...sent }],
  },
  BatchIngestAccepted: { status: 'received', count: 1, raw_event_ids: [EVENT] },
  UsageEventList: { events: [event], next_cursor: null },
  UsageEventDetail: {
    ...event,
    raw_json: RAW_JSON,
    metadata: null,
    'x-billing': null,
    subject_is_sent: false,
    unpriced: [],
    explanation: {
      extractor: { rule_set_id: EXTRACTOR_RULE_SET, version: 1, name: 'LLM calls' },
      charge_items: EXPLANATIONS,
    },
    revisions: [
      {
        revision: 1,
        status: 'processed',
        charge_items: event.charge_items,
        correction_id: null,
        actor: null,
        reason: null,
        created_at: event.processed_at,
      },
    ],
  },
  IngestStatus: {
    accepted: 1_002,
    processed: 1_000,
    failed: 1,
    voided: 0,
    duplicates: 0,
    pending: 1,
    deferred_count: 0,
    deferred_lag_seconds: 0,
    unpriced_count: 0,
    lag_seconds: 1,
    oldest_received_at: NOW,
  },
  ReprocessRequest: { from: MONTH_START, to: MONTH_END, code: 'unpriced' },
  ReprocessResponse: { count: 1 },
  AnalysisQuery: { ...query, metrics: ['llm.output_tokens'], time_range: { last_seconds: 604_800 } },
  AnalysisResult: {
    bucket_size: '1d',
    timezone: 'UTC',
    from: NOW - 604_800,
    to: NOW,
    measures: ['amount'],
    split_by: ['metric'],
    group_by: query.group_by,
    rows: [row(1_754_438_400, '12.25'), row(1_754_524_800, '0.0051')],
    truncated: false,
    warnings: [],
  },
  CounterPage: {
    counters: [
      {
        counter: 'tokens',
        rule_set_id: PRICING_RULE_SET,
        ...CUSTOMER,
        account_id: null,
        by: { model: 'large' },
        period_start: MONTH_START,
        period_end: MONTH_END,
        quantity: '1200000',
        amount: '11',
        currency: 'USD',
        next_step: { at_quantity: '5000000', unit_price: '0.000004' },
      },
    ],
    total_count: 1,
    limit: 20,
    offset: 0,
  },
  MetricsResponse: {
    metrics: [
      {
        metric: 'llm.output_tokens',
        unit: 'token',
        currencies: ['USD'],
        dimensions: [{ name: 'model', cardinality: 2, sample_values: ['large', 'small'] }],
        subject_types: ['customer'],
        unpriced_item_count: 0,
        first_seen_at: MONTH_START,
        last_seen_at: NOW,
      },
    ],
  },
  CreateBoardBody: { name: 'Costs', timezone: 'Europe/Berlin', default_time_range_seconds: 604_800 },
  UpdateBoardBody: { name: 'Costs of models' },
  Board: board,
  BoardList: { boards: [{ board, charts: [chart] }] },
  BoardWithCharts: { board, charts: [chart] },
  ChartInput: {
    board_id: BOARD,
    title: 'Amount by model',
    chart_type: 'bar',
    size: 'full',
    split_by: [],
    ...query,
    limit: 10,
  },
  SavedChart: { ...chart, warnings: [] },
  ReorderChartsBody: { order: [{ chart_id: CHART, position: 0, size: 'half' }] },
};

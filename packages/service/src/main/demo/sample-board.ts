import type { ChartInput, CreateBoardBody } from '@tollgate/contract';
import { SAMPLE_METRICS } from './sample-rules.js';

export const SAMPLE_BOARD: CreateBoardBody = {
  name: 'LLM usage',
  description: 'Requests to the sample company’s models, and their cost.',
  default_time_range_seconds: 86_400,
};

/** Every call has exactly one charge item of this metric: counting those counts calls. */
const ONE_PER_CALL = ['llm.output_tokens'];

/** Adds up the amounts of all kinds of tokens. */
const ALL_METRICS = { split_by: [] };

/** In their order on the board. */
export const SAMPLE_CHARTS: readonly Omit<ChartInput, 'board_id'>[] = [
  {
    title: 'Amount by model',
    description: 'Stacked. The total height is the total amount.',
    chart_type: 'area',
    size: 'full',
    group_by: ['model'],
    measures: ['amount'],
    ...ALL_METRICS,
  },
  {
    title: 'Tokens by kind',
    description: 'Uncached input, cached input and output.',
    chart_type: 'area',
    measures: ['quantity'],
    metrics: [...SAMPLE_METRICS],
  },
  {
    title: 'Requests by model',
    chart_type: 'bar',
    group_by: ['model'],
    measures: ['item_count'],
    metrics: ONE_PER_CALL,
  },
  { title: 'Total amount', chart_type: 'line', measures: ['amount'], ...ALL_METRICS },
  {
    title: 'Amount by region',
    chart_type: 'bar',
    group_by: ['region'],
    measures: ['amount'],
    ...ALL_METRICS,
  },
];

export const MARGIN_BOARD: CreateBoardBody = {
  name: 'Margin by model and customer',
  description: 'Charges less what the providers of the models charge for them.',
  default_time_range_seconds: 86_400,
};

/** In their order on the board. Lines, because margins can be negative, and stacks hide that. */
export const MARGIN_CHARTS: readonly Omit<ChartInput, 'board_id'>[] = [
  {
    title: 'Margin',
    description: 'Charges less costs, and how they have changed.',
    chart_type: 'big_number',
    measures: ['margin', 'amount', 'cost'],
    comparison: 'previous_period',
    ...ALL_METRICS,
  },
  {
    title: 'Top customers',
    description: 'By charges.',
    chart_type: 'top_n',
    group_by: ['@subject_id'],
    limit: 5,
    measures: ['amount', 'margin'],
    comparison: 'previous_period',
    ...ALL_METRICS,
  },
  {
    title: 'Margin by model',
    description: 'Charges less costs. A model below zero is sold for less than it costs.',
    chart_type: 'line',
    size: 'full',
    group_by: ['model'],
    measures: ['margin', 'amount', 'cost'],
    ...ALL_METRICS,
  },
  {
    title: 'Models',
    chart_type: 'table',
    size: 'full',
    group_by: ['model'],
    measures: ['margin', 'amount', 'cost', 'item_count'],
    comparison: 'previous_period',
    ...ALL_METRICS,
  },
  {
    title: 'Margin by customer',
    chart_type: 'line',
    group_by: ['@subject_id'],
    limit: 10,
    measures: ['margin', 'amount', 'cost'],
    ...ALL_METRICS,
  },
  {
    title: 'Provider costs by kind of token',
    description: 'Uncached input, cached input and output.',
    chart_type: 'area',
    measures: ['cost'],
    metrics: [...SAMPLE_METRICS],
  },
];

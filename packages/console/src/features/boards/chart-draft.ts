import type {
  Chart,
  ChartInput,
  ChartQuery,
  ChartSize,
  ChartType,
  DimensionFilter,
  Measure,
} from '@tollgate/contract';

/** A chart as it is being edited. */
export interface ChartDraft {
  readonly title: string;
  readonly chartType: ChartType;
  readonly size: ChartSize;
  readonly metrics: readonly string[];
  readonly measures: readonly Measure[];
  readonly groupBy: readonly string[];
  readonly bucketSize: string;
  readonly filters: Readonly<Record<string, DimensionFilter>>;
}

export const EMPTY_DRAFT: ChartDraft = {
  title: '',
  chartType: 'area',
  size: 'half',
  metrics: [],
  measures: ['item_count', 'quantity', 'amount'],
  groupBy: [],
  bucketSize: 'auto',
  filters: {},
};

export function draftOf(chart: Chart): ChartDraft {
  return {
    title: chart.title,
    chartType: chart.chart_type,
    size: chart.size,
    metrics: chart.metrics,
    measures: chart.measures,
    groupBy: chart.group_by.filter((name) => name !== 'bucket'),
    bucketSize: chart.bucket_size,
    filters: chart.filters,
  };
}

/** What is sent. What the editor does not show of the chart is kept. */
export function inputOf(draft: ChartDraft, boardId: string, chart?: Chart): ChartInput {
  return {
    board_id: boardId,
    title: draft.title.trim(),
    chart_type: draft.chartType,
    size: draft.size,
    metrics: [...draft.metrics],
    measures: [...draft.measures],
    group_by: [...draft.groupBy],
    bucket_size: draft.bucketSize,
    filters: { ...draft.filters },
    ...(chart === undefined ? {} : { position: chart.position, description: chart.description ?? '' }),
    ...(chart?.subject_type == null ? {} : { subject_type: chart.subject_type }),
  };
}

/** What the preview asks. */
export function queryOf(draft: ChartDraft, chart?: Chart): ChartQuery {
  return {
    metrics: [...draft.metrics],
    measures: [...draft.measures],
    group_by: ['bucket', ...draft.groupBy],
    bucket_size: draft.bucketSize,
    filters: { ...draft.filters },
    ...(chart?.subject_type == null ? {} : { subject_type: chart.subject_type }),
  };
}

import {
  CHART_TITLE_CHARS_MAX,
  type Chart,
  type ChartInput,
  type ChartQuery,
  type ChartSize,
  type ChartType,
  type DimensionFilter,
  type Measure,
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
  /** How many groups stand for themselves; undefined for all. */
  readonly limit: number | undefined;
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
  limit: undefined,
};

export function draftOf(chart: Chart): ChartDraft {
  return {
    title: chart.title,
    chartType: chart.chart_type,
    size: chart.size,
    metrics: chart.metrics ?? [],
    measures: chart.measures,
    groupBy: chart.group_by.filter((name) => name !== 'bucket'),
    bucketSize: chart.bucket_size,
    filters: chart.filters,
    limit: chart.limit ?? undefined,
  };
}

/** The same as another chart, under a name that tells them apart. */
export function copyOf(chart: Chart): ChartDraft {
  return { ...draftOf(chart), title: `${chart.title.slice(0, CHART_TITLE_CHARS_MAX - COPY.length)}${COPY}` };
}

const COPY = ' (copy)';

/** A limit means something only where there are groups. */
function limitOf({ limit, groupBy }: ChartDraft): { limit?: number } {
  return limit === undefined || groupBy.length === 0 ? {} : { limit };
}

/** None chosen means all. */
function metricsOf({ metrics }: ChartDraft): { metrics?: string[] } {
  return metrics.length === 0 ? {} : { metrics: [...metrics] };
}

/** Without the conditions that have no value yet: they are none. */
function filtersOf({ filters }: ChartDraft): ChartDraft['filters'] {
  const isWhole = ({ in: some, not_in: none }: DimensionFilter) => (some ?? none)?.length !== 0;
  return Object.fromEntries(Object.entries(filters).filter(([, filter]) => isWhole(filter)));
}

/** What is sent. What the editor does not show of the chart is kept. */
export function inputOf(draft: ChartDraft, boardId: string, chart?: Chart, isCopy = false): ChartInput {
  return {
    board_id: boardId,
    title: draft.title.trim(),
    chart_type: draft.chartType,
    size: draft.size,
    ...metricsOf(draft),
    measures: [...draft.measures],
    group_by: [...draft.groupBy],
    bucket_size: draft.bucketSize,
    filters: filtersOf(draft),
    ...limitOf(draft),
    ...(chart === undefined ? {} : { description: chart.description ?? '', split_by: chart.split_by }),
    // A copy comes last, as every new chart does.
    ...(chart === undefined || isCopy ? {} : { position: chart.position }),
    ...(chart?.subject_type == null ? {} : { subject_type: chart.subject_type }),
  };
}

/** What the preview asks. */
export function queryOf(draft: ChartDraft, chart?: Chart): ChartQuery {
  return {
    ...metricsOf(draft),
    measures: [...draft.measures],
    group_by: ['bucket', ...draft.groupBy],
    bucket_size: draft.bucketSize,
    filters: filtersOf(draft),
    ...limitOf(draft),
    ...(chart === undefined ? {} : { split_by: chart.split_by }),
    ...(chart?.subject_type == null ? {} : { subject_type: chart.subject_type }),
  };
}

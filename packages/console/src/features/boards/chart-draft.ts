import {
  CHART_TITLE_CHARS_MAX,
  type Chart,
  type ChartComparison,
  type ChartInput,
  type ChartQuery,
  type ChartSize,
  type ChartType,
  type DimensionFilter,
  isOfTotals,
  type Measure,
  UNIQUE_PREFIX,
  uniqueName,
} from '@tollgate/contract';
import { listedFilters, listedName } from './metrics.js';

/** More groups than a chart has colours for are hard to distinguish. */
const GROUPS_SHOWN = 10;

export const METRICS_MODES = ['all-added', 'all-split', 'chosen-added', 'chosen-split'] as const;
export type MetricsMode = (typeof METRICS_MODES)[number];

/** The state of the chart editor. */
export interface ChartDraft {
  readonly title: string;
  readonly chartType: ChartType;
  readonly size: ChartSize;
  /** Kept while the chart is drawn over time, in case the user switches back. */
  readonly comparison: ChartComparison | undefined;
  /** Selects the metrics, and whether they are summed. */
  readonly metricsMode: MetricsMode;
  /** The chosen metrics, which are kept while all metrics are drawn, in case the user switches back. */
  readonly metrics: readonly string[];
  readonly measures: readonly Measure[];
  readonly groupBy: readonly string[];
  readonly bucketSize: string;
  readonly filters: Readonly<Record<string, DimensionFilter>>;
  /** Number of groups that are drawn separately; undefined for all. */
  readonly limit: number | undefined;
}

/** The total cost: a chart that is useful before the user has chosen anything. */
export const EMPTY_DRAFT: ChartDraft = {
  title: '',
  chartType: 'area',
  size: 'half',
  comparison: undefined,
  metricsMode: 'all-added',
  metrics: [],
  measures: ['amount'],
  groupBy: [],
  bucketSize: 'auto',
  filters: {},
  limit: GROUPS_SHOWN,
};

export function chartDraft(chart: Chart): ChartDraft {
  return {
    title: chart.title,
    chartType: chart.chart_type,
    size: chart.size,
    comparison: chart.comparison ?? undefined,
    metricsMode: modeOf(chart),
    metrics: chart.metrics ?? [],
    measures: [...new Set(chart.measures.map(listedMeasure))],
    groupBy: [...new Set(chart.group_by.filter((name) => name !== 'bucket').map(listedName))],
    bucketSize: isOfTotals(chart.chart_type) ? 'auto' : chart.bucket_size,
    filters: listedFilters(chart.filters),
    limit: chart.limit ?? undefined,
  };
}

function listedMeasure(measure: Measure): Measure {
  const name = uniqueName(measure);
  return name === undefined ? measure : `${UNIQUE_PREFIX}${listedName(name)}`;
}

/** The measures after a choice among some of them. Others stay, and new ones come last: the first ranks groups. */
export function chosenMeasures(
  before: readonly Measure[],
  chosen: readonly Measure[],
  isOffered: (measure: Measure) => boolean,
): Measure[] {
  const kept = before.filter((measure) => !isOffered(measure) || chosen.includes(measure));
  return [...kept, ...chosen.filter((measure) => !before.includes(measure))];
}

function modeOf({ metrics, split_by: splitBy }: Chart): MetricsMode {
  if (metrics === null) return splitBy.includes('metric') ? 'all-split' : 'all-added';
  return splitBy.includes('metric') ? 'chosen-split' : 'chosen-added';
}

/** Whether the user chooses metrics, instead of all. */
export function hasChosenMetrics({ metricsMode }: Pick<ChartDraft, 'metricsMode'>): boolean {
  return metricsMode === 'chosen-added' || metricsMode === 'chosen-split';
}

/** Whether the draft is complete enough for a query. */
export function canQuery(draft: ChartDraft): boolean {
  if (draft.chartType === 'top_n' && draft.groupBy.length === 0) return false;
  return draft.measures.length > 0 && (!hasChosenMetrics(draft) || draft.metrics.length > 0);
}

/** Whether the draft shows totals beside those of the period before. */
export function isCompared(draft: ChartDraft): boolean {
  return comparisonOf(draft).comparison !== undefined;
}

function comparisonOf({ chartType, comparison }: ChartDraft): Pick<ChartInput, 'comparison'> {
  return comparison !== undefined && isOfTotals(chartType) ? { comparison } : {};
}

/** A copy of a chart with another title. */
export function copyChart(chart: Chart): ChartDraft {
  return {
    ...chartDraft(chart),
    title: `${chart.title.slice(0, CHART_TITLE_CHARS_MAX - COPY.length)}${COPY}`,
  };
}

const COPY = ' (copy)';

/** The limit, if the chart has groups. */
function limitOf(draft: ChartDraft): { limit?: number } {
  return draft.limit === undefined || groupsOf(draft).length === 0 ? {} : { limit: draft.limit };
}

/** A big number has no groups; those that were chosen are kept for other types. */
function groupsOf({ chartType, groupBy }: ChartDraft): string[] {
  return chartType === 'big_number' ? [] : [...groupBy];
}

/** The interval of a chart over time; totals have none. */
function bucketsOf({ chartType, bucketSize }: ChartDraft): { bucket_size?: string } {
  return isOfTotals(chartType) ? {} : { bucket_size: bucketSize };
}

function metricsOf(draft: ChartDraft): Pick<ChartQuery, 'metrics' | 'split_by'> {
  const isAdded = draft.metricsMode === 'all-added' || draft.metricsMode === 'chosen-added';
  return {
    ...(hasChosenMetrics(draft) ? { metrics: [...draft.metrics] } : {}),
    split_by: isAdded ? [] : ['metric'],
  };
}

/** The filters without conditions that have no value yet. */
function filtersOf({ filters }: ChartDraft): ChartDraft['filters'] {
  const hasValue = ({ in: some, not_in: none }: DimensionFilter) => (some ?? none)?.length !== 0;
  return Object.fromEntries(Object.entries(filters).filter(([, filter]) => hasValue(filter)));
}

/** The request body. Properties of the chart that the editor does not show are kept. */
export function chartInput(draft: ChartDraft, boardId: string, chart?: Chart, isCopy = false): ChartInput {
  return {
    board_id: boardId,
    title: draft.title.trim(),
    chart_type: draft.chartType,
    size: draft.size,
    ...metricsOf(draft),
    measures: [...draft.measures],
    group_by: groupsOf(draft),
    ...bucketsOf(draft),
    ...comparisonOf(draft),
    filters: filtersOf(draft),
    ...limitOf(draft),
    ...(chart === undefined ? {} : { description: chart.description ?? '' }),
    // A copy comes last, as every new chart does.
    ...(chart === undefined || isCopy ? {} : { position: chart.position }),
    ...(chart?.subject_type == null ? {} : { subject_type: chart.subject_type }),
  };
}

/** The query of the preview. */
export function queryOf(draft: ChartDraft, chart?: Chart): ChartQuery {
  return {
    ...metricsOf(draft),
    measures: [...draft.measures],
    group_by: ['bucket', ...groupsOf(draft)],
    bucket_size: bucketsOf(draft).bucket_size ?? 'none',
    filters: filtersOf(draft),
    ...limitOf(draft),
    ...(chart?.subject_type == null ? {} : { subject_type: chart.subject_type }),
  };
}

import { type Static, Type } from 'typebox';
import { AnalysisQuery, DimensionFilter, FILTERED_NAMES, SplitBy } from './analysis.js';
import { closed, mapOf, Nullable, UnixSeconds } from './common.js';
import { SUBJECT_TYPE_PATTERN } from './limits.js';
import { MeasureSchema } from './measures.js';
import { Warnings } from './warnings.js';

export const BOARD_NAME_CHARS_MAX = 80;
export const BOARD_DESCRIPTION_CHARS_MAX = 500;
export const CHART_TITLE_CHARS_MAX = 120;
export const CHART_DESCRIPTION_CHARS_MAX = 500;
/** Pattern of a chart's id, whether a client sends it or the service makes it. */
export const CHART_ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';
export const CHART_POSITION_MAX = 1_000_000;
/** Upper bound of the groups of a chart; more are unreadable. */
export const CHART_GROUPS_MAX = 100;
export const CHART_BODY_BYTES_MAX = 16_384;
/**
 * Upper bounds of the boards of a project, the charts of a board, and the bytes of all charts of a project in the list
 * of its boards.
 */
export const BOARDS_MAX = 100;
export const BOARD_CHARTS_MAX = 50;
export const CHARTS_BYTES_MAX = 2 * 1_048_576;

/** Time ranges that a board can open with, in seconds: 5 minutes, 15 minutes, 1 hour, 1 day, 7 days, 30 days. */
export const BOARD_TIME_RANGES_S = [300, 900, 3_600, 86_400, 604_800, 2_592_000] as const;
export type BoardTimeRange = (typeof BOARD_TIME_RANGES_S)[number];
export const BOARD_TIME_RANGE_DEFAULT_S = 86_400 satisfies BoardTimeRange;

/** Types that draw values over time. */
export const PLOT_TYPES = ['line', 'area', 'bar'] as const;
export type PlotType = (typeof PLOT_TYPES)[number];
/** Types that show the totals of the range. */
export const TOTALS_TYPES = ['big_number', 'top_n', 'table'] as const;
export type TotalsType = (typeof TOTALS_TYPES)[number];
export const CHART_TYPES = [...PLOT_TYPES, ...TOTALS_TYPES] as const;
export type ChartType = (typeof CHART_TYPES)[number];
export const CHART_COMPARISONS = ['previous_period'] as const;
export type ChartComparison = (typeof CHART_COMPARISONS)[number];

export function isOfTotals(type: ChartType): type is TotalsType {
  return TOTALS_TYPES.some((each) => each === type);
}
export const CHART_SIZES = ['half', 'full'] as const;
export type ChartSize = (typeof CHART_SIZES)[number];

const BoardName = Type.String({
  minLength: 1,
  maxLength: BOARD_NAME_CHARS_MAX,
  pattern: '\\S',
  description: 'Display name; not blank.',
});
const BoardDescription = Type.String({
  maxLength: BOARD_DESCRIPTION_CHARS_MAX,
  description: 'Free text; empty for none.',
});
const Timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA timezone in which every chart of the board is drawn. Default: `UTC`.',
});
export const BoardTimeRangeSchema = Type.Unsafe<BoardTimeRange>({
  type: 'integer',
  enum: [...BOARD_TIME_RANGES_S],
  description: `The range that the board opens with, in seconds. Default: ${BOARD_TIME_RANGE_DEFAULT_S}, a day.`,
});

const boardSettings = {
  description: Type.Optional(BoardDescription),
  timezone: Type.Optional(Timezone),
  default_time_range_seconds: Type.Optional(BoardTimeRangeSchema),
};

export const CreateBoardBody = Type.Object(
  { name: BoardName, ...boardSettings },
  { ...closed, description: 'A board to create.' },
);
export const UpdateBoardBody = Type.Object(
  { name: Type.Optional(BoardName), ...boardSettings },
  {
    ...closed,
    description: 'Fields that are left out keep their values; `description: ""` clears the description.',
  },
);

export const Board = Type.Object(
  {
    report_id: Type.String({ description: 'Board id, `brd_…`.' }),
    tenant_id: Type.String(),
    project_id: Type.String(),
    kind: Type.Literal('board'),
    name: BoardName,
    description: Nullable(BoardDescription),
    timezone: Timezone,
    default_time_range_seconds: BoardTimeRangeSchema,
    created_at: UnixSeconds,
    updated_at: UnixSeconds,
  },
  { ...closed, description: 'A board: a page of charts.' },
);

const ChartId = Type.String({
  pattern: CHART_ID_PATTERN,
  description: 'Chart id; `chr_…` when it is generated. Unique in the project.',
});
const BoardId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the board of the chart.' });
const Title = Type.String({ minLength: 1, maxLength: CHART_TITLE_CHARS_MAX, pattern: '\\S' });
const ChartDescription = Type.String({
  maxLength: CHART_DESCRIPTION_CHARS_MAX,
  description: 'Free text; empty for none.',
});
export const ChartTypeSchema = Type.Unsafe<ChartType>({
  type: 'string',
  enum: [...CHART_TYPES],
  description:
    'How the chart is drawn: `line`, `area` and `bar` over time; `big_number`, `top_n` and `table` as totals of the ' +
    'range that the board shows. A `top_n` shows the groups of its `limit` (default 10), largest first.',
});
export const ChartComparisonSchema = Type.Unsafe<ChartComparison>({
  type: 'string',
  enum: [...CHART_COMPARISONS],
  description:
    'Totals are shown beside those of the period of the same length before. Only for `big_number`, `top_n` and `table`.',
});
const Position = Type.Integer({
  minimum: 0,
  maximum: CHART_POSITION_MAX,
  description: 'Position on the board, in ascending order; if two are equal, the older chart comes first.',
});
export const ChartSizeSchema = Type.Unsafe<ChartSize>({
  type: 'string',
  enum: [...CHART_SIZES],
  description: 'Width on a wide screen: `half` of a row, or the `full` row.',
});
const SubjectType = Type.String({
  pattern: SUBJECT_TYPE_PATTERN,
  description: 'Only usage of subjects of this type.',
});
const BucketSize = Type.String({
  minLength: 1,
  maxLength: 16,
  description:
    '`auto` (default, depends on the range shown), a positive duration such as `1m`, `2h`, `3d`, or calendar months: ' +
    '`1mo`. Always `none` for a chart of totals.',
});
const GroupLimit = Type.Integer({
  minimum: 1,
  maximum: CHART_GROUPS_MAX,
  description:
    'Number of groups to show: those with the largest first measure; the others are summed. Needs a dimension in ' +
    '`group_by`. Default: all groups.',
});
const Filters = mapOf(DimensionFilter, {
  description: `By ${FILTERED_NAMES}; all must hold.`,
});
const { group_by: groupBy, measures, metrics, split_by: splitBy } = AnalysisQuery.properties;

export const ChartInput = Type.Object(
  {
    chart_id: Type.Optional(ChartId),
    board_id: BoardId,
    title: Title,
    description: Type.Optional(ChartDescription),
    chart_type: ChartTypeSchema,
    position: Type.Optional(Position),
    size: Type.Optional(ChartSizeSchema),
    subject_type: Type.Optional(SubjectType),
    comparison: Type.Optional(ChartComparisonSchema),
    bucket_size: Type.Optional(BucketSize),
    filters: Type.Optional(Filters),
    group_by: groupBy,
    measures,
    metrics,
    split_by: splitBy,
    limit: Type.Optional(GroupLimit),
  },
  { ...closed, description: 'A chart: what it shows, and how.' },
);

const { time_range: _timeRange, ...queryFields } = AnalysisQuery.properties;
export const ChartQuery = Type.Object(queryFields, {
  ...closed,
  description: 'An analysis query without `time_range`, which is the range that the board shows.',
});

export const Chart = Type.Object(
  {
    chart_id: ChartId,
    tenant_id: Type.String(),
    project_id: Type.String(),
    kind: Type.Literal('chart'),
    board_id: BoardId,
    title: Title,
    name: { ...Title, description: 'The same as `title`.' },
    description: Nullable(ChartDescription),
    chart_type: ChartTypeSchema,
    position: Position,
    size: ChartSizeSchema,
    subject_type: Nullable(SubjectType),
    comparison: Nullable(ChartComparisonSchema),
    bucket_size: BucketSize,
    filters: Filters,
    group_by: Type.Array(Type.String(), { description: 'Starts with `bucket`.' }),
    measures: Type.Array(MeasureSchema),
    metrics: Nullable(
      Type.Array(Type.String(), { description: 'Only usage of these metrics; null for all metrics.' }),
    ),
    split_by: SplitBy,
    limit: Nullable(GroupLimit),
    query: {
      ...ChartQuery,
      description:
        'Send it with a `time_range` to `POST /analysis/query`; the timezone is that of the board.',
    },
    created_at: UnixSeconds,
    updated_at: UnixSeconds,
  },
  { ...closed, description: 'A chart of a board.' },
);

export const SavedChart = Type.Object(
  { ...Chart.properties, warnings: Warnings },
  { ...closed, description: 'The chart as it was saved, with warnings about its query.' },
);

export const BoardWithCharts = Type.Object(
  { board: Board, charts: Type.Array(Chart, { description: 'In the order of the board.' }) },
  { ...closed, description: 'A board and its charts.' },
);
export const BoardList = Type.Object(
  { boards: Type.Array(BoardWithCharts, { description: 'Every board of the project, oldest first.' }) },
  { ...closed, description: 'All boards of a project, with their charts.' },
);

export const ChartPlace = Type.Object(
  { chart_id: ChartId, position: Position, size: Type.Optional(ChartSizeSchema) },
  { ...closed, description: 'The position and the width of a chart.' },
);

export const ReorderChartsBody = Type.Object(
  {
    order: Type.Array(ChartPlace, {
      maxItems: BOARD_CHARTS_MAX,
      description:
        'Charts of the board; each chart and each position at most once. Omitted charts and sizes stay as they are.',
    }),
  },
  { ...closed, description: 'The positions of charts of the board.' },
);

export type CreateBoardBody = Static<typeof CreateBoardBody>;
export type UpdateBoardBody = Static<typeof UpdateBoardBody>;
export type Board = Static<typeof Board>;
export type ChartInput = Static<typeof ChartInput>;
export type ChartQuery = Static<typeof ChartQuery>;
export type Chart = Static<typeof Chart>;
export type SavedChart = Static<typeof SavedChart>;
export type BoardWithCharts = Static<typeof BoardWithCharts>;
export type BoardList = Static<typeof BoardList>;
export type ChartPlace = Static<typeof ChartPlace>;
export type ReorderChartsBody = Static<typeof ReorderChartsBody>;

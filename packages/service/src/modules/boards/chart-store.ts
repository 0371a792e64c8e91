import type {
  ChartComparison,
  ChartPlace,
  ChartSize,
  ChartType,
  DimensionFilter,
  Measure,
  Split,
} from '@tollgate/contract';
import type { ProjectDb, ProjectTx } from '../../platform/postgres/index.js';

/** Times are Unix seconds. */
export interface ChartRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly board_id: string;
  readonly title: string;
  readonly description: string | null;
  readonly chart_type: ChartType;
  readonly position: number;
  readonly size: ChartSize;
  readonly subject_type: string | null;
  /** Null for none; otherwise the chart shows totals. */
  readonly comparison: ChartComparison | null;
  readonly bucket_size: string;
  readonly filters: Readonly<Record<string, DimensionFilter>>;
  readonly group_by: string[];
  readonly measures: Measure[];
  /** Null for all metrics. */
  readonly metrics: string[] | null;
  readonly split_by: Split[];
  /** Number of groups with their own rows; null for all. */
  readonly groups_max: number | null;
  /** Approximate size that the chart adds to a list of boards. */
  readonly bytes: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export async function insertChart(tx: ProjectTx, chart: ChartRow): Promise<void> {
  await tx.insert('charts', { ...chart, filters: JSON.stringify(chart.filters) }).execute();
}

export async function updateChart(tx: ProjectTx, chart: ChartRow): Promise<void> {
  const { tenant_id, project_id, id, created_at, ...changed } = chart;
  const values = { ...changed, filters: JSON.stringify(chart.filters) };
  await tx.update('charts', values).where('id', '=', id).execute();
}

export function findChart(tx: ProjectTx, chartId: string): Promise<ChartRow | undefined> {
  return tx.row<ChartRow>`select * from charts where ${tx.isOwn()} and id = ${chartId}`;
}

/** A chart with the fields of its board that its query needs. */
export interface ChartInBoard {
  readonly chart: ChartRow;
  readonly timezone: string;
  readonly default_time_range_seconds: number;
}

/** Returns those of the charts that the project has. */
export function findChartsInBoards(db: ProjectDb, chartIds: readonly string[]): Promise<ChartInBoard[]> {
  return db.rows<ChartInBoard>`
    select to_json(charts) as chart, boards.timezone, boards.default_time_range_seconds
    from charts join boards on boards.project_id = charts.project_id and boards.id = charts.board_id
    where ${db.isOwn('charts')} and charts.id = any(${chartIds}::text[])`;
}

export async function deleteChart(tx: ProjectTx, chartId: string): Promise<void> {
  await tx.deleteFrom('charts').where('id', '=', chartId).execute();
}

/** The charts in the order of the board. */
export function chartsOfBoard(tx: ProjectTx, boardId: string): Promise<ChartRow[]> {
  return tx.rows<ChartRow>`
    select * from charts where ${tx.isOwn()} and board_id = ${boardId}
    order by position, created_at, id`;
}

/** Bytes of all charts of the project but one. */
export async function bytesOfOtherCharts(tx: ProjectTx, chartId: string): Promise<number> {
  const row = await tx.row<{ bytes: number }>`
    select coalesce(sum(bytes), 0)::bigint as bytes from charts where ${tx.isOwn()} and id <> ${chartId}`;
  return row?.bytes ?? 0;
}

/** Moves charts of the board; those that are not named stay where they are. Without a size a chart keeps its own. */
export async function placeCharts(
  tx: ProjectTx,
  boardId: string,
  places: readonly ChartPlace[],
  updatedAt: number,
): Promise<void> {
  const ids = places.map((place) => place.chart_id);
  const positions = places.map((place) => place.position);
  const sizes = places.map((place) => place.size ?? null);
  await tx.change`
    update charts set position = place.position, size = coalesce(place.size, charts.size), updated_at = ${updatedAt}
    from unnest(${ids}::text[], ${positions}::integer[], ${sizes}::text[]) as place (chart_id, position, size)
    where ${tx.isOwn('charts')} and charts.board_id = ${boardId} and charts.id = place.chart_id`;
}

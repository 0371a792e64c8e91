import type { ChartSize, ChartType, DimensionFilter, Measure, Split } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ProjectScope } from '../../kernel/scope.js';
import type { Db, Tx } from '../../platform/postgres/index.js';

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
  readonly bucket_size: string;
  readonly filters: Readonly<Record<string, DimensionFilter>>;
  readonly group_by: string[];
  readonly measures: Measure[];
  /** Null for all metrics. */
  readonly metrics: string[] | null;
  readonly split_by: Split[];
  /** How many groups stand for themselves; null for all. */
  readonly groups_max: number | null;
  /** What it adds to a list of boards, about. */
  readonly bytes: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Where one chart is to stand; without a size it keeps its own. */
export interface ChartPlace {
  readonly chart_id: string;
  readonly position: number;
  readonly size?: ChartSize;
}

const within = ({ tenantId, projectId }: ProjectScope) =>
  sql`tenant_id = ${tenantId} and project_id = ${projectId}`;

export async function insertChart(tx: Tx, chart: ChartRow): Promise<void> {
  await tx
    .insertInto('charts')
    .values({ ...chart, filters: JSON.stringify(chart.filters) })
    .execute();
}

export async function updateChart(tx: Tx, chart: ChartRow): Promise<void> {
  const { tenant_id, project_id, id, created_at, ...changed } = chart;
  await tx
    .updateTable('charts')
    .set({ ...changed, filters: JSON.stringify(chart.filters) })
    .where('tenant_id', '=', tenant_id)
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute();
}

export async function findChart(tx: Tx, owner: ProjectScope, chartId: string): Promise<ChartRow | undefined> {
  const { rows } = await sql<ChartRow>`
    select * from charts where ${within(owner)} and id = ${chartId}`.execute(tx);
  return rows[0];
}

/** A chart with what its board gives to its query. */
export interface ChartInBoard {
  readonly chart: ChartRow;
  readonly timezone: string;
  readonly default_time_range_seconds: number;
}

/** Those of the charts that the project has. */
export async function findChartsInBoards(
  db: Db,
  { tenantId, projectId }: ProjectScope,
  chartIds: readonly string[],
): Promise<ChartInBoard[]> {
  const { rows } = await sql<ChartInBoard>`
    select to_json(charts) as chart, boards.timezone, boards.default_time_range_seconds
    from charts join boards on boards.project_id = charts.project_id and boards.id = charts.board_id
    where charts.tenant_id = ${tenantId} and charts.project_id = ${projectId} and charts.id = any(${chartIds}::text[])
  `.execute(db);
  return rows;
}

export async function deleteChart(tx: Tx, owner: ProjectScope, chartId: string): Promise<void> {
  await sql`delete from charts where ${within(owner)} and id = ${chartId}`.execute(tx);
}

/** In the order of the board. */
export async function chartsOfBoard(tx: Tx, owner: ProjectScope, boardId: string): Promise<ChartRow[]> {
  const { rows } = await sql<ChartRow>`
    select * from charts where ${within(owner)} and board_id = ${boardId}
    order by position, created_at, id`.execute(tx);
  return rows;
}

/** Bytes of all charts of the project but one. */
export async function bytesOfOtherCharts(tx: Tx, owner: ProjectScope, chartId: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(bytes), 0)::bigint as bytes from charts where ${within(owner)} and id <> ${chartId}`.execute(
    tx,
  );
  return rows[0]?.bytes ?? 0;
}

/** Puts charts of the board at their places; those that are not named stay where they are. */
export async function placeCharts(
  tx: Tx,
  { tenantId, projectId }: ProjectScope,
  boardId: string,
  places: readonly ChartPlace[],
  updatedAt: number,
): Promise<void> {
  const ids = places.map((place) => place.chart_id);
  const positions = places.map((place) => place.position);
  const sizes = places.map((place) => place.size ?? null);
  await sql`
    update charts set position = place.position, size = coalesce(place.size, charts.size), updated_at = ${updatedAt}
    from unnest(${ids}::text[], ${positions}::integer[], ${sizes}::text[]) as place (chart_id, position, size)
    where charts.tenant_id = ${tenantId} and charts.project_id = ${projectId}
      and charts.board_id = ${boardId} and charts.id = place.chart_id`.execute(tx);
}

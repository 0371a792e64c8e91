import type { Board, BoardWithCharts, Chart } from '@tollgate/contract';
import type { BoardAndCharts, BoardRow } from './board-store.js';
import { chartQuery } from './chart-settings.js';
import type { ChartRow } from './chart-store.js';

export function boardView({ id, tenant_id, project_id, ...settings }: BoardRow): Board {
  return { report_id: id, tenant_id, project_id, kind: 'board', ...settings };
}

export function chartView(chart: ChartRow, board: Pick<BoardRow, 'timezone'>): Chart {
  const { id, tenant_id, project_id, bytes: _, groups_max, created_at, updated_at, ...settings } = chart;
  return {
    chart_id: id,
    tenant_id,
    project_id,
    kind: 'chart',
    ...settings,
    name: settings.title,
    limit: groups_max,
    query: chartQuery(chart, board),
    created_at,
    updated_at,
  };
}

export function boardWithChartsView({ board, charts }: BoardAndCharts): BoardWithCharts {
  return { board: boardView(board), charts: charts.map((chart) => chartView(chart, board)) };
}

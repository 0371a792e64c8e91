import { BOARD_CHARTS_MAX, CHART_POSITION_MAX, CHARTS_BYTES_MAX, type ChartInput } from '@tollgate/contract';
import type { ChangeContext } from '../../kernel/change-context.js';
import { unixSeconds } from '../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { ProjectDb, type ProjectTx } from '../../platform/postgres/index.js';
import type { SavedQueries, SavedQuery } from '../analysis/index.js';
import { type BoardRow, findBoard } from './board-store.js';
import { type BoardDeps, changeBoards, foundBoard } from './change.js';
import { chartQuery, chartSettings } from './chart-settings.js';
import * as store from './chart-store.js';

/** A chart, and the board with the timezone of its query. */
export interface ChartOnBoard {
  readonly chart: store.ChartRow;
  readonly board: BoardRow;
}

const FIRST_POSITION = 0;

/** The charts of boards. See README.md. */
export class Charts implements SavedQueries {
  readonly #deps: BoardDeps;

  constructor(deps: BoardDeps) {
    this.#deps = deps;
  }

  /** Returns the queries of charts by chart id; charts that the project does not have are absent. */
  async queriesOf(owner: ProjectScope, chartIds: readonly string[]): Promise<Map<string, SavedQuery>> {
    const charts = await store.findChartsInBoards(new ProjectDb(this.#deps.postgres.db, owner), chartIds);
    return new Map(
      charts.map(({ chart, default_time_range_seconds: defaultRangeS, ...board }) => [
        chart.id,
        { query: chartQuery(chart, board), defaultRangeS },
      ]),
    );
  }

  /** @throws DomainError `invalid_request`, `not_found`, `chart_limit_reached`, `chart_id_taken` */
  create(context: ChangeContext, boardId: string, input: ChartInput): Promise<ChartOnBoard> {
    if (input.board_id !== boardId) throw invalidRequest('board_id', 'must be the board of the path');
    const settings = chartSettings(input, unixSeconds(this.#deps.clock));
    return changeBoards(this.#deps, context, async (tx, now) => {
      const { project } = context;
      const board = foundBoard(await findBoard(tx, boardId));
      const neighbours = await store.chartsOfBoard(tx, boardId);
      refuseOneMore(neighbours.length);
      const id = input.chart_id ?? newId('chr', this.#deps.clock);
      if ((await store.findChart(tx, id)) !== undefined) throw new DomainError('chart_id_taken');
      const chart: store.ChartRow = {
        tenant_id: project.tenantId,
        project_id: project.projectId,
        id,
        board_id: boardId,
        ...settings,
        position: input.position ?? positionAfter(neighbours.at(-1)),
        size: input.size ?? 'half',
        created_at: now,
        updated_at: now,
      };
      await refuseTooLarge(tx, chart);
      await store.insertChart(tx, chart);
      return done('create', { chart, board }, input);
    });
  }

  /**
   * Replaces the content of a chart. It stays where it is unless a position or a size is sent.
   *
   * @throws DomainError `invalid_request`, `not_found`, `chart_limit_reached`
   */
  update(context: ChangeContext, chartId: string, input: ChartInput): Promise<ChartOnBoard> {
    if (input.chart_id !== undefined && input.chart_id !== chartId) {
      throw invalidRequest('chart_id', 'must be the chart of the path');
    }
    const settings = chartSettings(input, unixSeconds(this.#deps.clock));
    return changeBoards(this.#deps, context, async (tx, now) => {
      const before = foundBoard(await store.findChart(tx, chartId));
      if (input.board_id !== before.board_id)
        throw invalidRequest('board_id', 'must be the board of the chart');
      const board = foundBoard(await findBoard(tx, before.board_id));
      const chart: store.ChartRow = {
        ...before,
        ...settings,
        position: input.position ?? before.position,
        size: input.size ?? before.size,
        updated_at: now,
      };
      await refuseTooLarge(tx, chart);
      await store.updateChart(tx, chart);
      return done('update', { chart, board }, input);
    });
  }

  /**
   * Deletes a chart; the others stay where they are.
   *
   * @throws DomainError `not_found`
   */
  async delete(context: ChangeContext, chartId: string): Promise<void> {
    await changeBoards(this.#deps, context, async (tx) => {
      const chart = foundBoard(await store.findChart(tx, chartId));
      const board = foundBoard(await findBoard(tx, chart.board_id));
      await store.deleteChart(tx, chartId);
      return done('delete', { chart, board }, { board_id: board.id, title: chart.title });
    });
  }
}

function done(verb: 'create' | 'update' | 'delete', answer: ChartOnBoard, change: object) {
  return { answer, resourceType: 'chart', verb, resourceId: answer.chart.id, change } as const;
}

/** No position is higher than the last one: among equal positions, the newer chart comes later anyway. */
function positionAfter(last: store.ChartRow | undefined): number {
  return last === undefined ? FIRST_POSITION : Math.min(last.position + 1, CHART_POSITION_MAX);
}

function refuseOneMore(chartCount: number): void {
  if (chartCount < BOARD_CHARTS_MAX) return;
  const message = `The board has ${BOARD_CHARTS_MAX} charts, which is the maximum.`;
  throw new DomainError('chart_limit_reached', { message });
}

async function refuseTooLarge(tx: ProjectTx, chart: store.ChartRow): Promise<void> {
  const others = await store.bytesOfOtherCharts(tx, chart.id);
  if (others + chart.bytes <= CHARTS_BYTES_MAX) return;
  const message = `The charts of a project may take ${CHARTS_BYTES_MAX} bytes in all; with this one they would take more.`;
  throw new DomainError('chart_limit_reached', { message });
}

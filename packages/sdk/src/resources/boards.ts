import type {
  Board,
  BoardList,
  BoardWithCharts,
  ChartInput,
  CreateBoardBody,
  ReorderChartsBody,
  SavedChart,
  UpdateBoardBody,
} from '#contract';
import type { ProjectTransport } from '../project-transport.js';
import { path } from '../transport.js';

/** Boards, and the charts on them: saved analysis queries. */
export class Boards {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  /** Every board with its charts, oldest first. */
  list(): Promise<BoardList> {
    return this.#transport.get('/analysis/boards');
  }

  create(board: CreateBoardBody): Promise<Board> {
    return this.#transport.post('/analysis/boards', board);
  }

  /** Changes the given fields only; `description: ''` clears the description. */
  update(boardId: string, change: UpdateBoardBody): Promise<Board> {
    return this.#transport.put(path`/analysis/boards/${boardId}`, change);
  }

  /** With its charts. */
  delete(boardId: string): Promise<void> {
    return this.#transport.delete(path`/analysis/boards/${boardId}`);
  }

  /** Puts charts at their places, all or none; those that are left out stay at theirs. */
  reorder(boardId: string, order: ReorderChartsBody['order']): Promise<BoardWithCharts> {
    return this.#transport.put(path`/analysis/boards/${boardId}/order`, { order });
  }

  /** On the board of its `board_id`, at the end unless it has a position. */
  createChart(chart: ChartInput): Promise<SavedChart> {
    return this.#transport.post(path`/analysis/boards/${chart.board_id}/charts`, chart);
  }

  /** Replaces the chart; position and size stay when they are left out. */
  updateChart(chartId: string, chart: ChartInput): Promise<SavedChart> {
    return this.#transport.put(path`/analysis/charts/${chartId}`, chart);
  }

  deleteChart(chartId: string): Promise<void> {
    return this.#transport.delete(path`/analysis/charts/${chartId}`);
  }
}

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
import type { CallOptions, PathTransport } from '../path-transport.js';
import { path } from '../transport.js';

/** Boards, and the charts on them: saved analysis queries. */
export class Boards {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  /** Returns every board with its charts, oldest first. */
  list(options?: CallOptions): Promise<BoardList> {
    return this.#transport.get('/analysis/boards', {}, options);
  }

  create(board: CreateBoardBody, options?: CallOptions): Promise<Board> {
    return this.#transport.post('/analysis/boards', board, options);
  }

  /** Changes the given fields only; `description: ''` clears the description. */
  update(boardId: string, change: UpdateBoardBody, options?: CallOptions): Promise<Board> {
    return this.#transport.put(path`/analysis/boards/${boardId}`, change, options);
  }

  /** Deletes a board with its charts. */
  delete(boardId: string, options?: CallOptions): Promise<void> {
    return this.#transport.delete(path`/analysis/boards/${boardId}`, options);
  }

  /** Moves and resizes charts, all or none; charts that are left out stay where they are. */
  reorder(
    boardId: string,
    order: ReorderChartsBody['order'],
    options?: CallOptions,
  ): Promise<BoardWithCharts> {
    return this.#transport.put(path`/analysis/boards/${boardId}/order`, { order }, options);
  }

  /** Creates a chart on the board of its `board_id`, at the end unless it has a position. */
  createChart(chart: ChartInput, options?: CallOptions): Promise<SavedChart> {
    return this.#transport.post(path`/analysis/boards/${chart.board_id}/charts`, chart, options);
  }

  /** Replaces the chart; position and size stay when they are left out. */
  updateChart(chartId: string, chart: ChartInput, options?: CallOptions): Promise<SavedChart> {
    return this.#transport.put(path`/analysis/charts/${chartId}`, chart, options);
  }

  deleteChart(chartId: string, options?: CallOptions): Promise<void> {
    return this.#transport.delete(path`/analysis/charts/${chartId}`, options);
  }
}

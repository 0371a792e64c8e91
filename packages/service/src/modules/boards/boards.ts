import {
  BOARD_TIME_RANGE_DEFAULT_S,
  BOARDS_MAX,
  type ChartPlace,
  type CreateBoardBody,
  type ReorderChartsBody,
  type UpdateBoardBody,
} from '@tollgate/contract';
import { isTimezone } from '../../kernel/bucket.js';
import type { ChangeContext } from '../../kernel/change-context.js';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { ProjectDb } from '../../platform/postgres/index.js';
import * as store from './board-store.js';
import { type BoardChange, type BoardDeps, changeBoards, foundBoard } from './change.js';
import { type ChartRow, chartsOfBoard, placeCharts } from './chart-store.js';

/** The boards of projects, and the order of the charts on them. See README.md. */
export class Boards {
  readonly #deps: BoardDeps;

  constructor(deps: BoardDeps) {
    this.#deps = deps;
  }

  list(owner: ProjectScope): Promise<store.BoardAndCharts[]> {
    return store.listBoards(new ProjectDb(this.#deps.postgres.db, owner));
  }

  /** @throws DomainError `invalid_request`, `board_limit_reached` */
  create(context: ChangeContext, body: CreateBoardBody): Promise<store.BoardRow> {
    const timezone = checkedTimezone(body.timezone ?? 'UTC');
    return changeBoards(this.#deps, context, async (tx, now) => {
      const { tenantId, projectId } = context.project;
      if ((await store.countBoards(tx)) >= BOARDS_MAX) {
        const message = `The project has ${BOARDS_MAX} boards, which is the maximum.`;
        throw new DomainError('board_limit_reached', { message });
      }
      const board: store.BoardRow = {
        tenant_id: tenantId,
        project_id: projectId,
        id: newId('brd', this.#deps.clock),
        name: body.name,
        description: body.description || null,
        timezone,
        default_time_range_seconds: body.default_time_range_seconds ?? BOARD_TIME_RANGE_DEFAULT_S,
        created_at: now,
        updated_at: now,
      };
      await store.insertBoard(tx, board);
      return done('create', board, body);
    });
  }

  /**
   * Changes a board; absent fields stay as they are.
   *
   * @throws DomainError `invalid_request`, `not_found`
   */
  update(context: ChangeContext, boardId: string, body: UpdateBoardBody): Promise<store.BoardRow> {
    if (body.timezone !== undefined) checkedTimezone(body.timezone);
    return changeBoards(this.#deps, context, async (tx, now) => {
      const before = foundBoard(await store.findBoard(tx, boardId));
      const changed = { ...before, ...body, updated_at: now };
      const board: store.BoardRow = { ...changed, description: changed.description || null };
      await store.updateBoard(tx, board);
      return done('update', board, body);
    });
  }

  /**
   * Deletes a board with its charts.
   *
   * @throws DomainError `not_found`
   */
  delete(context: ChangeContext, boardId: string): Promise<store.BoardRow> {
    return changeBoards(this.#deps, context, async (tx) => {
      const board = foundBoard(await store.findBoard(tx, boardId));
      const charts = await chartsOfBoard(tx, boardId);
      await store.deleteBoard(tx, boardId);
      return done('delete', board, { name: board.name, chart_ids: charts.map(({ id }) => id) });
    });
  }

  /**
   * Moves the named charts, all or none; the others stay where they are.
   *
   * @throws DomainError `invalid_request`, also for a chart of another board; `not_found`
   */
  reorder(context: ChangeContext, boardId: string, body: ReorderChartsBody): Promise<store.BoardAndCharts> {
    refuseRepeated(body.order);
    return changeBoards(this.#deps, context, async (tx, now) => {
      const board = foundBoard(await store.findBoard(tx, boardId));
      refuseStrangers(body.order, await chartsOfBoard(tx, boardId));
      await placeCharts(tx, boardId, body.order, now);
      const charts = await chartsOfBoard(tx, boardId);
      return { ...done('reorder', board, body), answer: { board, charts } };
    });
  }
}

function done(verb: BoardChange<unknown>['verb'], board: store.BoardRow, change: object) {
  return { answer: board, resourceType: 'board', verb, resourceId: board.id, change } as const;
}

function checkedTimezone(timezone: string): string {
  if (!isTimezone(timezone)) throw invalidRequest('timezone', 'must be a standard IANA timezone');
  return timezone;
}

function refuseRepeated(order: readonly ChartPlace[]): void {
  for (const field of ['chart_id', 'position'] as const) {
    const seen = new Set<string | number>();
    for (const [index, place] of order.entries()) {
      if (seen.has(place[field])) {
        throw invalidRequest(`order[${index}].${field}`, 'must differ from that of every other entry');
      }
      seen.add(place[field]);
    }
  }
}

function refuseStrangers(order: readonly ChartPlace[], charts: readonly ChartRow[]): void {
  const ids = new Set(charts.map(({ id }) => id));
  const index = order.findIndex((place) => !ids.has(place.chart_id));
  if (index >= 0) throw invalidRequest(`order[${index}].chart_id`, 'must be a chart of this board');
}

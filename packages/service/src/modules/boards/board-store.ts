import type { BoardTimeRange } from '@tollgate/contract';
import type { ProjectDb, ProjectTx } from '../../platform/postgres/index.js';
import type { ChartRow } from './chart-store.js';

/** Times are Unix seconds. */
export interface BoardRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly timezone: string;
  readonly default_time_range_seconds: BoardTimeRange;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface BoardAndCharts {
  readonly board: BoardRow;
  /** In the order of the board. */
  readonly charts: readonly ChartRow[];
}

export async function countBoards(tx: ProjectTx): Promise<number> {
  const row = await tx.row<{ total: number }>`select count(*) as total from boards where ${tx.isOwn()}`;
  return row?.total ?? 0;
}

export async function insertBoard(tx: ProjectTx, board: BoardRow): Promise<void> {
  await tx.insert('boards', board).execute();
}

export function findBoard(db: ProjectDb, boardId: string): Promise<BoardRow | undefined> {
  return db.row<BoardRow>`select * from boards where ${db.isOwn()} and id = ${boardId}`;
}

export async function updateBoard(tx: ProjectTx, board: BoardRow): Promise<void> {
  const { tenant_id, project_id, id, created_at, ...changed } = board;
  await tx.update('boards', changed).where('id', '=', id).execute();
}

/** Deletes the board with its charts. */
export async function deleteBoard(tx: ProjectTx, boardId: string): Promise<void> {
  await tx.deleteFrom('boards').where('id', '=', boardId).execute();
}

/** Every board of the project with its charts as of one moment, oldest first. */
export function listBoards(db: ProjectDb): Promise<BoardAndCharts[]> {
  return db.rows<BoardAndCharts>`
    select to_json(boards) as board, coalesce(owned.charts, '[]') as charts
    from boards
    left join (
      select tenant_id, project_id, board_id, json_agg(to_json(charts) order by position, created_at, id) as charts
      from charts where ${db.isOwn()}
      group by tenant_id, project_id, board_id
    ) as owned on owned.project_id = boards.project_id and owned.board_id = boards.id
    where ${db.isOwn('boards')}
    order by boards.created_at, boards.id`;
}

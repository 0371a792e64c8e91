import type { BoardTimeRange } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ProjectScope } from '../../kernel/scope.js';
import type { Db, Tx } from '../../platform/postgres/index.js';
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

const isBoard = ({ tenantId, projectId }: ProjectScope, boardId: string) =>
  sql`tenant_id = ${tenantId} and project_id = ${projectId} and id = ${boardId}`;

export async function countBoards(tx: Tx, { tenantId, projectId }: ProjectScope): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from boards where tenant_id = ${tenantId} and project_id = ${projectId}`.execute(
    tx,
  );
  return rows[0]?.total ?? 0;
}

export async function insertBoard(tx: Tx, board: BoardRow): Promise<void> {
  await tx.insertInto('boards').values(board).execute();
}

export async function findBoard(db: Db, owner: ProjectScope, boardId: string): Promise<BoardRow | undefined> {
  const { rows } = await sql<BoardRow>`select * from boards where ${isBoard(owner, boardId)}`.execute(db);
  return rows[0];
}

export async function updateBoard(tx: Tx, board: BoardRow): Promise<void> {
  const { tenant_id, project_id, id, created_at, ...changed } = board;
  await tx
    .updateTable('boards')
    .set(changed)
    .where('tenant_id', '=', tenant_id)
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute();
}

/** With its charts. */
export async function deleteBoard(tx: Tx, owner: ProjectScope, boardId: string): Promise<void> {
  await sql`delete from boards where ${isBoard(owner, boardId)}`.execute(tx);
}

/** Every board of the project with its charts as of one moment, oldest first. */
export async function listBoards(db: Db, { tenantId, projectId }: ProjectScope): Promise<BoardAndCharts[]> {
  const { rows } = await sql<BoardAndCharts>`
    select to_json(boards) as board, coalesce(owned.charts, '[]') as charts
    from boards
    left join (
      select tenant_id, project_id, board_id, json_agg(to_json(charts) order by position, created_at, id) as charts
      from charts where tenant_id = ${tenantId} and project_id = ${projectId}
      group by tenant_id, project_id, board_id
    ) as owned on owned.project_id = boards.project_id and owned.board_id = boards.id
    where boards.tenant_id = ${tenantId} and boards.project_id = ${projectId}
    order by boards.created_at, boards.id`.execute(db);
  return rows;
}

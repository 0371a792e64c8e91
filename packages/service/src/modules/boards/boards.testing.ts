import type { Board, BoardWithCharts, Chart } from '@tollgate/contract';
import { type Answer, createTestApi, type TestApi } from '../../testing/api.js';
import { everythingKept } from '../../testing/history.js';
import { registerAnalysisRoutes } from '../analysis/index.js';
import { createBoards, registerBoardRoutes } from './index.js';
import type { BoardRoutesDeps } from './routes.js';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A node with boards, and with analysis over no usage at all. */
export interface TestBoards extends TestApi {
  /** URL of the project's analysis, without a slash at the end. */
  readonly url: string;
  /** Sends a request below `url` and expects this status. Returns the response without its warnings. */
  must(
    status: number,
    method: Method,
    path: string,
    body?: object | string,
  ): Promise<ReturnType<Answer['json']>>;
  readonly names: BoardRoutesDeps['names'];
  makeBoard(body?: object): Promise<Board>;
  makeChart(boardId: string, body?: object): Promise<Chart>;
  /** A board with its charts, as the list shows it. */
  shown(boardId: string): Promise<BoardWithCharts>;
  /** Actions and changes of one resource in the audit log, oldest first. */
  audited(resourceId: string): Promise<(readonly [action: string, change: unknown])[]>;
}

/** The required fields of a chart. */
export const CHART = { title: 'Tokens', chart_type: 'area', metrics: ['llm.input_tokens'] } as const;

/** Names with this prefix are in no usage; all others are. */
export const UNKNOWN = 'typo';
export const TEST_NAMES: BoardRoutesDeps['names'] = {
  unknown: async (_project, _kind, names) => ({
    names: names.filter((name) => name.startsWith(UNKNOWN)),
    known: [],
  }),
};

export async function createTestBoards(): Promise<TestBoards> {
  const api = await createTestApi((app, { postgres, clock }) => {
    registerBoardRoutes(app, createBoards({ postgres, clock, names: TEST_NAMES }));
    registerAnalysisRoutes(app, {
      clickhouse: { query: async () => [] },
      history: everythingKept,
      clock,
      names: TEST_NAMES,
    });
  });
  const url = `/v1/projects/${api.projectId}/analysis`;
  const must: TestBoards['must'] = async (status, method, path, body) => {
    const answer = await api.call(method, url + path, body);
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    if (answer.text === '') return undefined;
    const { warnings: _, ...shown } = answer.json();
    return shown;
  };
  const list = async (): Promise<BoardWithCharts[]> => (await must(200, 'GET', '/boards')).boards;
  return {
    ...api,
    url,
    must,
    makeBoard: (body = {}) => must(201, 'POST', '/boards', { name: 'Usage', ...body }),
    makeChart: (boardId, body = {}) =>
      must(201, 'POST', `/boards/${boardId}/charts`, { ...CHART, board_id: boardId, ...body }),
    names: TEST_NAMES,
    shown: async (boardId) => {
      const found = (await list()).find(({ board }) => board.report_id === boardId);
      if (found === undefined) throw new Error(`no board ${boardId} is listed`);
      return found;
    },
    audited: async (resourceId) => {
      const rows = await api.postgres.db
        .selectFrom('audit_log')
        .select(['action', 'change'])
        .where('resource_id', '=', resourceId)
        .orderBy('id')
        .execute();
      return rows.map(({ action, change }) => [action, change] as const);
    },
  };
}

import {
  Board,
  BoardList,
  BoardWithCharts,
  CHART_BODY_BYTES_MAX,
  type Chart,
  ChartInput,
  CreateBoardBody,
  closed,
  ErrorBodySchema,
  noContent,
  ProjectParams,
  ReorderChartsBody,
  SavedChart,
  UpdateBoardBody,
} from '@tollgate/contract';
import { Type } from 'typebox';
import type { ProjectRef } from '../../kernel/scope.js';
import { type App, contextOf } from '../../platform/http/index.js';
import { type KnownNames, nameWarnings } from '../analysis/index.js';
import type { BoardAndCharts, BoardRow } from './board-store.js';
import type { Boards } from './boards.js';
import { chartQuery } from './chart-settings.js';
import type { ChartRow } from './chart-store.js';
import type { ChartOnBoard, Charts } from './charts.js';

export interface BoardRoutesDeps {
  readonly boards: Boards;
  readonly charts: Charts;
  readonly names: Pick<KnownNames, 'unknown'>;
}

const tags = ['Boards'];
const toRead = { access: { kind: 'project', permission: 'analytics:read' } } as const;
const toWrite = { access: { kind: 'project', permission: 'analytics:write' } } as const;

const BOARDS_URL = '/v1/projects/:project_id/analysis/boards';
const BOARD_URL = `${BOARDS_URL}/:board_id`;
const CHART_URL = '/v1/projects/:project_id/analysis/charts/:chart_id';
const BoardParams = Type.Object(
  { ...ProjectParams.properties, board_id: Type.String({ description: 'Board id, `brd_…`.' }) },
  closed,
);
const ChartParams = Type.Object(
  { ...ProjectParams.properties, chart_id: Type.String({ description: 'Chart id.' }) },
  closed,
);

/** Registers the routes of boards and their charts. */
export function registerBoardRoutes(app: App, { boards, charts, names }: BoardRoutesDeps): void {
  registerCollection(app, boards);
  registerBoard(app, boards);
  registerCharts(app, charts, names);
}

function registerCollection(app: App, boards: Boards): void {
  app.route({
    method: 'GET',
    url: BOARDS_URL,
    config: toRead,
    schema: {
      tags,
      summary: 'List boards',
      description: 'Returns every board of the project, oldest first, with its charts in order.',
      operationId: 'listBoards',
      params: ProjectParams,
      response: { 200: BoardList },
    },
    handler: async ({ project }) => ({ boards: (await boards.list(project)).map(boardWithChartsView) }),
  });

  app.route({
    method: 'POST',
    url: BOARDS_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Create a board',
      description: 'Creates a board without charts.',
      operationId: 'createBoard',
      params: ProjectParams,
      body: CreateBoardBody,
      response: { 201: Board, 409: ErrorBodySchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(boardView(await boards.create(contextOf(request), request.body))),
  });
}

function registerBoard(app: App, boards: Boards): void {
  app.route({
    method: 'PUT',
    url: BOARD_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Change a board',
      description: 'Fields that are left out keep their values; `description: ""` clears the description.',
      operationId: 'updateBoard',
      params: BoardParams,
      body: UpdateBoardBody,
      response: { 200: Board },
    },
    handler: async (request) =>
      boardView(await boards.update(contextOf(request), request.params.board_id, request.body)),
  });

  app.route({
    method: 'DELETE',
    url: BOARD_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Delete a board',
      description: 'Deletes the board and its charts.',
      operationId: 'deleteBoard',
      params: BoardParams,
      response: { 204: noContent('The board and its charts are deleted.') },
    },
    handler: async (request, reply) => {
      await boards.delete(contextOf(request), request.params.board_id);
      return reply.code(204).send(null);
    },
  });

  app.route({
    method: 'PUT',
    url: `${BOARD_URL}/order`,
    config: toWrite,
    schema: {
      tags,
      summary: 'Reorder the charts of a board',
      description:
        'Sets the positions of the listed charts: all of them, or none if one is not a chart of this board. A ' +
        'chart that is left out keeps its position and size; to set the whole order, send every chart.',
      operationId: 'reorderCharts',
      params: BoardParams,
      body: ReorderChartsBody,
      response: { 200: BoardWithCharts },
    },
    handler: async (request) =>
      boardWithChartsView(await boards.reorder(contextOf(request), request.params.board_id, request.body)),
  });
}

function registerCharts(app: App, charts: Charts, names: BoardRoutesDeps['names']): void {
  const savedAnswer = async (project: ProjectRef, { chart, board }: ChartOnBoard) => ({
    ...chartView(chart, board),
    warnings: await nameWarnings(names, project, chartQuery(chart, board)),
  });
  app.route({
    method: 'POST',
    url: `${BOARD_URL}/charts`,
    bodyLimit: CHART_BODY_BYTES_MAX,
    config: toWrite,
    schema: {
      tags,
      summary: 'Create a chart',
      description:
        'Creates a chart at the end of the board or, if sent, at a position. The response has `bucket` first in ' +
        '`group_by`, because a chart shows values over time.',
      operationId: 'createChart',
      params: BoardParams,
      body: ChartInput,
      response: { 201: SavedChart, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const made = await charts.create(contextOf(request), request.params.board_id, request.body);
      return reply.code(201).send(await savedAnswer(request.project, made));
    },
  });

  app.route({
    method: 'PUT',
    url: CHART_URL,
    bodyLimit: CHART_BODY_BYTES_MAX,
    config: toWrite,
    schema: {
      tags,
      summary: 'Replace a chart',
      description:
        'Fields that are left out take their defaults, except for `position` and `size`, which keep their values. ' +
        'A chart cannot move to another board.',
      operationId: 'updateChart',
      params: ChartParams,
      body: ChartInput,
      response: { 200: SavedChart, 409: ErrorBodySchema },
    },
    handler: async (request) => {
      const saved = await charts.update(contextOf(request), request.params.chart_id, request.body);
      return savedAnswer(request.project, saved);
    },
  });

  app.route({
    method: 'DELETE',
    url: CHART_URL,
    config: toWrite,
    schema: {
      tags,
      summary: 'Delete a chart',
      description: 'Deletes the chart. The other charts of its board keep their positions.',
      operationId: 'deleteChart',
      params: ChartParams,
      response: { 204: noContent('The chart is deleted.') },
    },
    handler: async (request, reply) => {
      await charts.delete(contextOf(request), request.params.chart_id);
      return reply.code(204).send(null);
    },
  });
}

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

import { Boards } from './boards.js';
import type { BoardDeps } from './change.js';
import { Charts } from './charts.js';
import type { BoardRoutesDeps } from './routes.js';

export { registerBoardRoutes } from './routes.js';

/** Creates the services that the routes of boards need. */
export function createBoards(deps: BoardDeps & Pick<BoardRoutesDeps, 'names'>): BoardRoutesDeps {
  return { boards: new Boards(deps), charts: new Charts(deps), names: deps.names };
}

import { type Static, type TObject, Type } from 'typebox';
import type { App } from '../../platform/http/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { findCell, findPlace, type TenantPlace } from '../cells/index.js';
import { isServed } from '../tenancy/index.js';
import { type MoveDeps, refuseStep } from './moving.js';
import { BUCKETS } from './row-copy-store.js';
import { DepartingTenants } from './source.js';
import { remoteSource } from './source-client.js';
import { findMove } from './state-store.js';
import { isTenantTable, type TableName } from './tables.js';
import { ArrivingTenants } from './target.js';

export interface MoveRoutesDeps extends MoveDeps {
  /** The database of the directory of cells. */
  readonly directory: Postgres;
  /** The name of this cell. */
  readonly cellName: string;
  readonly serviceKey: string;
}

const TEXT_CHARS_MAX = 200;
const KEY_COLUMNS_MAX = 8;
const BUDGET_MS_MAX = 10_000;

const Text = Type.String({ minLength: 1, maxLength: TEXT_CHARS_MAX });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const MOVE = { tenant_id: Text, move_id: Text };
const Move = Type.Object(MOVE, { additionalProperties: false });
const ofProject = { ...MOVE, project_id: Text };
const Range = Type.Object(
  {
    table: Text,
    after: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: KEY_COLUMNS_MAX })),
    writtenSince: Type.Optional(Type.String({ pattern: '^[0-9]{1,20}$' })),
    bucket: Type.Optional(Type.Integer({ minimum: 0, maximum: BUCKETS - 1 })),
  },
  { additionalProperties: false },
);
const Unit = Type.Object({ fromMs: Count, toMs: Count, events: Count }, { additionalProperties: false });

/**
 * Registers the steps of moves, which other cells and `tollgate tenant move` call with the service key. Each step that
 * changes something checks the tenant's place in the directory: a wrong or late call can neither open a tenant in two
 * cells nor delete one that this cell serves.
 */
export function registerMoveRoutes(app: App, deps: MoveRoutesDeps): void {
  registerSourceSteps(app, deps);
  registerTargetSteps(app, deps);
}

function registerSourceSteps(app: App, deps: MoveRoutesDeps): void {
  const source = new DepartingTenants(deps);
  const step = stepsOf(app, 'source');
  step('current', Type.Object({ tenant_id: Text }), async ({ tenant_id }) =>
    findMove(deps.postgres.db, tenant_id),
  );
  step('begin', Move, async ({ tenant_id, move_id }) => {
    await requirePlace(deps, tenant_id, ({ cell, state }) => cell === deps.cellName && state !== 'active');
    await source.begin(tenant_id, move_id);
  });
  step('status', Move, ({ tenant_id, move_id }) => source.status(tenant_id, move_id));
  for (const name of ['drain', 'freeze'] as const) {
    step(name, Type.Object({ ...MOVE, version: Count }), async ({ tenant_id, move_id, version }) => {
      await requirePlace(
        deps,
        tenant_id,
        (place) => place.cell === deps.cellName && place.toCell !== null && place.version === version,
      );
      return source[name](tenant_id, move_id);
    });
  }
  for (const name of ['thaw', 'resume'] as const) {
    step(name, Move, async ({ tenant_id, move_id }) => {
      await requirePlace(deps, tenant_id, ({ cell, state }) => cell === deps.cellName && state === 'active');
      await source[name](tenant_id, move_id);
    });
  }
  step('complete', Move, async ({ tenant_id, move_id }) => {
    await requirePlace(deps, tenant_id, ({ cell }) => cell !== deps.cellName);
    await source.complete(tenant_id, move_id);
  });
  step('remove', Type.Object({ ...MOVE, grace_ms: Count }), async ({ tenant_id, move_id, grace_ms }) => {
    await requirePlace(
      deps,
      tenant_id,
      (place) => isElsewhere(place, deps.cellName) && place.fromCell === null,
    );
    return source.remove(tenant_id, move_id, grace_ms);
  });
  step('rows', Type.Object({ ...MOVE, range: Range }), ({ tenant_id, move_id, range }) =>
    source.rows(tenant_id, move_id, { ...range, table: tableOf(range.table) }),
  );
  step('digest', Type.Object({ ...MOVE, table: Text }), ({ tenant_id, move_id, table }) =>
    source.digest(tenant_id, move_id, tableOf(table)),
  );
  const span = Type.Object({ afterMs: Count, beforeMs: Type.Integer() });
  step('next-unit', Type.Object({ ...ofProject, span }), ({ tenant_id, move_id, project_id, span }) =>
    source.nextUnit(tenant_id, move_id, project_id, span),
  );
  step('history-digest', Type.Object(ofProject), ({ tenant_id, move_id, project_id }) =>
    source.historyDigest(tenant_id, move_id, project_id),
  );
  app.route({
    method: 'POST',
    url: '/internal/v1/moves/source/unit',
    config: { access: { kind: 'service' } },
    schema: { hide: true, body: Type.Object({ ...ofProject, unit: Unit }) },
    handler: async ({ body: { tenant_id, move_id, project_id, unit } }, reply) => {
      const bytes = await source.unit(tenant_id, move_id, project_id, unit);
      return reply.type('application/octet-stream').send(bytes);
    },
  });
}

function registerTargetSteps(app: App, deps: MoveRoutesDeps): void {
  const step = stepsOf(app, 'target');
  /** Returns the steps with the source that the directory names; a request cannot name another one. */
  const arriving = async (tenantId: string): Promise<ArrivingTenants> => {
    const place = await requirePlace(deps, tenantId, ({ toCell }) => toCell === deps.cellName);
    const cell = await findCell(deps.directory, place.cell);
    if (cell === undefined) refuseStep(`The directory has no cell "${place.cell}".`);
    return new ArrivingTenants(deps, remoteSource({ url: cell.url, serviceKey: deps.serviceKey }));
  };
  const here = new ArrivingTenants(deps, remoteSource({ url: 'http://unused.invalid', serviceKey: '' }));
  step('begin', Move, async ({ tenant_id, move_id }) =>
    (await arriving(tenant_id)).begin(tenant_id, move_id),
  );
  step(
    'copy',
    Type.Object({ ...MOVE, budget_ms: Type.Integer({ minimum: 0, maximum: BUDGET_MS_MAX }) }),
    async ({ tenant_id, move_id, budget_ms }) =>
      (await arriving(tenant_id)).copy(tenant_id, move_id, budget_ms),
  );
  step('finish', Move, async ({ tenant_id, move_id }) =>
    (await arriving(tenant_id)).finish(tenant_id, move_id),
  );
  step('open', Move, async ({ tenant_id, move_id }) => {
    await requirePlace(deps, tenant_id, ({ cell }) => cell === deps.cellName);
    await here.open(tenant_id, move_id);
  });
  step('serves', Type.Object({ tenant_id: Text }), ({ tenant_id }) => isServed(deps.postgres.db, tenant_id));
  step('discard', Move, async ({ tenant_id, move_id }) => {
    await requirePlace(deps, tenant_id, (place) => isElsewhere(place, deps.cellName));
    return here.discard(tenant_id, move_id);
  });
}

/** Returns a function that registers a step; its response is `{ "result": … }`. */
function stepsOf(app: App, side: 'source' | 'target') {
  return <B extends TObject>(name: string, body: B, work: (body: Static<B>) => Promise<unknown>): void => {
    app.route({
      method: 'POST',
      url: `/internal/v1/moves/${side}/${name}`,
      config: { access: { kind: 'service' } },
      schema: { hide: true, body },
      handler: async ({ body: fields }) => ({ result: (await work(fields as Static<B>)) ?? null }),
    });
  };
}

/** Whether a tenant neither is in a cell nor moves to it. */
function isElsewhere({ cell, toCell }: TenantPlace, cellName: string): boolean {
  return cell !== cellName && toCell !== cellName;
}

/** Returns the place of a tenant. @throws DomainError `move_refused` if the place does not allow the step */
async function requirePlace(
  { directory, cellName }: MoveRoutesDeps,
  tenantId: string,
  fits: (place: TenantPlace) => boolean,
): Promise<TenantPlace> {
  const place = await findPlace(directory, tenantId);
  if (place !== undefined && fits(place)) return place;
  return refuseStep(
    place === undefined
      ? 'The directory has no such tenant.'
      : `In the directory, the tenant is in cell "${place.cell}" (${place.state}), which does not allow this step in cell "${cellName}".`,
  );
}

function tableOf(name: string): TableName {
  if (isTenantTable(name)) return name;
  return refuseStep(`Rows of the table "${name}" do not move.`);
}

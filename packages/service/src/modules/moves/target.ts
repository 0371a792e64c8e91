import { transaction, withAdvisoryLock } from '../../platform/postgres/index.js';
import { provisionStorage } from '../storage/index.js';
import { markServed, markUnserved } from '../tenancy/index.js';
import {
  describeMove,
  type MoveDeps,
  type MoveSource,
  type MovingProject,
  refuseStep,
  type SourceStatus,
} from './moving.js';
import { eraseTenant, PROJECTS_STEP } from './removal.js';
import * as rows from './row-copy-store.js';
import * as states from './state-store.js';
import { type MoveDifference, requireArriving, TenantCopy } from './tenant-copy.js';

/** How much one call has copied, and whether it has copied everything that existed when it began. */
export interface CopyProgress {
  readonly rows: number;
  readonly events: number;
  readonly isPassComplete: boolean;
}

/** A time after all others. */
const END_OF_TIME_MS = 4_102_444_800_000;
/** Upper bound of the repairs of a copy: nothing changes in a frozen tenant, so one repair should be enough. */
const REPAIRS_MAX = 2;

/** The steps of a move in the cell that gets the tenant. Each can be repeated. */
export class ArrivingTenants {
  readonly #deps: MoveDeps;
  readonly #source: MoveSource;

  /** @param source reads from the cell that has the tenant */
  constructor(deps: MoveDeps, source: MoveSource) {
    this.#deps = deps;
    this.#source = source;
  }

  /** Begins a move: the tenant is not served here until `open`. */
  async begin(tenantId: string, moveId: string): Promise<void> {
    const { db } = this.#deps.postgres;
    const { fingerprint } = await this.#source.status(tenantId, moveId);
    if (fingerprint !== (await rows.readFingerprint(db))) {
      refuseStep('The tables of the two cells differ. Run the same release in both.');
    }
    const move = await states.findMove(db, tenantId);
    if (move === undefined) await this.#beginNew(tenantId, moveId);
    if (move !== undefined && (move.state !== 'arriving' || move.moveId !== moveId)) {
      refuseStep('An earlier move has left rows here. Remove them: tollgate tenant remove-copy TENANT.');
    }
    await this.#require(tenantId, moveId);
  }

  async #beginNew(tenantId: string, moveId: string): Promise<void> {
    const { postgres, clock } = this.#deps;
    if (await rows.hasTenant(postgres.db, tenantId)) refuseStep('The tenant is in the target already.');
    await transaction(postgres, async (tx) => {
      await markUnserved(tx, tenantId, clock.nowMs());
      await states.insertMove(tx, tenantId, { moveId, state: 'arriving' }, clock.nowMs());
    });
  }

  /** Copies for about `budgetMs` what can be copied while the tenant works. */
  async copy(tenantId: string, moveId: string, budgetMs: number): Promise<CopyProgress> {
    return this.#alone(tenantId, () => this.#copy(tenantId, moveId, budgetMs));
  }

  async #copy(tenantId: string, moveId: string, budgetMs: number): Promise<CopyProgress> {
    await this.#require(tenantId, moveId);
    const endsAtMs = performance.now() + budgetMs;
    const status = await this.#source.status(tenantId, moveId);
    await this.#prepare(tenantId, moveId, status);
    const copy = new TenantCopy(
      this.#deps,
      this.#source,
      { tenantId, moveId },
      () => performance.now() < endsAtMs,
    );
    const isPassComplete = await copy.live(status, status.settledBeforeMs);
    return { rows: copy.rows, events: copy.events, isPassComplete };
  }

  /** Copies the rest of a frozen tenant, and compares everything. Returns what differs. */
  async finish(tenantId: string, moveId: string): Promise<MoveDifference[]> {
    return this.#alone(tenantId, () => this.#finish(tenantId, moveId));
  }

  async #finish(tenantId: string, moveId: string): Promise<MoveDifference[]> {
    await this.#require(tenantId, moveId);
    const status = await this.#source.status(tenantId, moveId);
    if (status.state !== 'frozen') refuseStep('The tenant is not frozen in the source.');
    await this.#prepare(tenantId, moveId, status);
    const copy = new TenantCopy(this.#deps, this.#source, { tenantId, moveId }, () => true);
    await copy.live(status, END_OF_TIME_MS);
    await copy.frozen();
    for (let repairs = 0; ; repairs += 1) {
      const differing = await copy.compare(status.projects);
      if (differing.length === 0 || repairs === REPAIRS_MAX) return differing;
      for (const { part } of differing) await copy.repair(part, status.projects);
    }
  }

  /** Ends a move that was completed: the tenant is served here. */
  async open(tenantId: string, moveId: string): Promise<void> {
    const { postgres } = this.#deps;
    const move = await states.findMove(postgres.db, tenantId);
    if (move === undefined && (await rows.hasTenant(postgres.db, tenantId))) return;
    await this.#require(tenantId, moveId);
    const isOpened = await transaction(postgres, async (tx) => {
      const isArriving = await states.deleteMove(tx, tenantId, moveId, ['arriving']);
      if (isArriving) await markServed(tx, tenantId);
      return isArriving;
    });
    // Another process has opened it, and it may have moved on since.
    if (!isOpened) refuseStep(describeMove(await states.findMove(postgres.db, tenantId)));
  }

  /** Removes the copy of a tenant. Returns whether nothing is left; call it again until it returns true. */
  async discard(tenantId: string, moveId: string): Promise<boolean> {
    const { postgres, clock } = this.#deps;
    const move = await states.findMove(postgres.db, tenantId);
    if (move === undefined) return true;
    const from = ['arriving', 'leaving'] as const;
    const changed = await states.changeState(postgres.db, tenantId, moveId, from, 'leaving', clock.nowMs());
    if (!changed) refuseStep(describeMove(move));
    return eraseTenant(this.#deps, tenantId, moveId);
  }

  /** Records the projects, and creates their tables: new projects may have come since the last call. */
  async #prepare(tenantId: string, moveId: string, { projects }: SourceStatus): Promise<void> {
    const { postgres, clickhouse } = this.#deps;
    const known = (await states.readSteps(postgres.db, tenantId)).get(PROJECTS_STEP) as
      | readonly MovingProject[]
      | undefined;
    for (const project of projects) {
      const isNew = known?.some(({ id }) => id === project.id) !== true;
      if (isNew && project.storage === 'dedicated') await provisionStorage(clickhouse, project.no);
    }
    if (known?.length === projects.length) return;
    const chunk = await this.#source.rows(tenantId, moveId, { table: 'tenants' });
    await transaction(postgres, async (tx) => {
      await requireArriving(tx, tenantId, moveId);
      await rows.importRows(tx, 'tenants', chunk.rows);
      await states.writeStep(tx, tenantId, PROJECTS_STEP, projects);
    });
  }

  /** Runs one copy of a tenant at a time. A process that has ended does not block others. */
  #alone<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    return withAdvisoryLock(this.#deps.postgres, `tollgate/move/${tenantId}`, work);
  }

  async #require(tenantId: string, moveId: string): Promise<void> {
    const move = await states.findMove(this.#deps.postgres.db, tenantId);
    if (move?.moveId !== moveId || move.state !== 'arriving') refuseStep(describeMove(move));
  }
}

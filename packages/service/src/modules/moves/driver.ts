import type { Postgres } from '../../platform/postgres/index.js';
import {
  beginMove,
  type Cell,
  cancelMove,
  findPlace,
  freezeTenant,
  listCells,
  openTenant,
  resumeMove,
  switchTenant,
  type TenantPlace,
} from '../cells/index.js';
import { KEY_CACHE_MS_MAX } from '../tenancy/index.js';
import type { SourceStatus } from './moving.js';
import { type CellStepError, CellSteps, stepBody } from './source-client.js';
import type { TenantMove } from './state-store.js';
import type { CopyProgress } from './target.js';
import { describeDifferences, type MoveDifference } from './tenant-copy.js';

/** A move that cannot go on; the message says what to do. */
export class TenantMoveError extends Error {
  override readonly name = 'TenantMoveError';
}

export interface MoveDriverOptions {
  /** The database of the directory of cells. */
  readonly directory: Postgres;
  readonly serviceKey: string;
  /** Called with a line for each step, to show progress. */
  readonly onProgress: (line: string) => void;
  readonly pause: (ms: number) => Promise<void>;
  readonly newMoveId: () => string;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
}

const COPY_BUDGET_MS = 3_000;
/** A pass that copied less than this leaves little for the freeze. */
const LAST_PASS_MAX = 5_000;
/** Upper bound of the passes: a tenant that changes faster than it is copied is then frozen. */
const PASSES_MAX = 8;
const DRAIN_MS_MAX = 60_000;
const DRAIN_POLL_MS = 50;
const REMOVAL_POLL_MS = 500;

/** The source and the target of a move. */
interface Ends {
  readonly tenantId: string;
  readonly moveId: string;
  readonly source: CellSteps;
  readonly target: CellSteps;
}

/**
 * Drives moves of tenants between cells. It stores nothing itself: the directory and both cells know how far a move has
 * come, so it can be killed at any moment and run again.
 */
export class MoveDriver {
  readonly #options: MoveDriverOptions;

  constructor(options: MoveDriverOptions) {
    this.#options = options;
  }

  /** Moves a tenant to a cell, or goes on with a move. @throws TenantMoveError, CellStepError */
  async move(tenantId: string, toCell: string): Promise<void> {
    const { newMoveId, nowMs, onProgress } = this.#options;
    const cells = await listCells(this.#options.directory);
    const target = this.#stepsOf(cellNamed(cells, toCell));
    const found = await this.#placeOf(tenantId);
    if (found.cell === toCell && found.toCell === null) return this.#complete(found, cells);
    const place = await this.#claim(found, toCell);
    const source = this.#stepsOf(cellNamed(cells, place.cell));
    const move = await source.currentMove(tenantId);
    const moveId = move?.moveId ?? newMoveId();
    const ends = { tenantId, moveId, source, target };
    await call(ends, 'source', 'begin');
    await call(ends, 'target', 'begin');
    // A frozen tenant is waiting, so the rest is copied at once.
    const isFrozen = move?.state === 'frozen';
    if (!isFrozen) await this.#copy(ends);
    const startedMs = nowMs();
    const switched = await this.#switch(ends, place, isFrozen);
    await this.#complete(switched, cells);
    const seconds = ((nowMs() - startedMs) / 1_000).toFixed(1);
    onProgress(`moved: ${tenantId} is in cell "${toCell}"; it was frozen for ${seconds} s`);
  }

  /** Cancels a move that has not switched: the tenant works where it was, and its copy is deleted. */
  async abort(tenantId: string): Promise<void> {
    const { directory, onProgress } = this.#options;
    let place = await this.#placeOf(tenantId);
    if (place.fromCell !== null) throw switchedTo(place);
    if (place.state !== 'active') place = changed(await cancelMove(directory, place));
    const cells = await listCells(directory);
    const home = this.#stepsOf(cellNamed(cells, place.cell));
    const move = await home.currentMove(tenantId);
    if (move !== undefined) await home.call('source', 'resume', stepBody(tenantId, move.moveId));
    await this.#inOthers(place, cells, async (steps, { moveId, state }) => {
      if (state === 'moved') return;
      await this.#repeat(() => steps.call('target', 'discard', stepBody(tenantId, moveId)));
    });
    onProgress(`cancelled: ${tenantId} is in cell "${place.cell}"`);
  }

  /** Deletes what a tenant has left in other cells when it moved, at least `graceMs` ago. */
  async removeLeft(tenantId: string, graceMs: number): Promise<void> {
    const { directory, onProgress } = this.#options;
    const place = await this.#placeOf(tenantId);
    if (place.fromCell !== null) throw switchedTo(place);
    const cells = await listCells(directory);
    const home = this.#stepsOf(cellNamed(cells, place.cell));
    if (!(await home.call<{ result: boolean }>('target', 'serves', { tenant_id: tenantId })).result) {
      throw new TenantMoveError(`Cell "${place.cell}" does not serve the tenant, so nothing was removed.`);
    }
    await this.#inOthers(place, cells, async (steps, { moveId, state }, cell) => {
      const body = stepBody(tenantId, moveId);
      // The copy of a move that went to another cell in the end.
      if (state === 'arriving') await this.#repeat(() => steps.call('target', 'discard', body));
      else await this.#repeat(() => steps.call('source', 'remove', { ...body, grace_ms: graceMs }));
      onProgress(`removed: the rows of ${tenantId} in cell "${cell.name}"`);
    });
  }

  /** Begins a move, or makes this run the only one that can go on with it. */
  async #claim(place: TenantPlace, toCell: string): Promise<TenantPlace> {
    const { directory } = this.#options;
    if (place.state === 'active') {
      const begun = await beginMove(directory, place, toCell);
      if (begun !== undefined) return begun;
      throw new TenantMoveError(`Cell "${toCell}" takes no tenants, or the tenant has moved: run it again.`);
    }
    if (place.fromCell !== null) throw switchedTo(place);
    if (place.toCell !== toCell) {
      throw new TenantMoveError(
        `The tenant is being moved to cell "${place.toCell}": complete that move, or cancel it with --abort.`,
      );
    }
    return changed(await resumeMove(directory, place));
  }

  /** Does a step in each other cell that has a move of the tenant. Cells that do not respond are named. */
  async #inOthers(
    place: TenantPlace,
    cells: readonly Cell[],
    work: (steps: CellSteps, move: TenantMove, cell: Cell) => Promise<void>,
  ): Promise<void> {
    for (const cell of cells) {
      if (cell.name === place.cell || cell.name === place.toCell) continue;
      const steps = this.#stepsOf(cell);
      const move = await steps.currentMove(place.tenantId).catch(({ message }: CellStepError) => {
        this.#options.onProgress(`skipped: ${message} Run the command again if the tenant was there.`);
      });
      if (move !== undefined) await work(steps, move, cell);
    }
  }

  /** Copies while the tenant works, until little is left. */
  async #copy(ends: Ends): Promise<void> {
    const { onProgress } = this.#options;
    for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
      let [rows, events] = [0, 0];
      for (let isComplete = false; !isComplete; ) {
        const copied = await call<CopyProgress>(ends, 'target', 'copy', { budget_ms: COPY_BUDGET_MS });
        rows += copied.rows;
        events += copied.events;
        isComplete = copied.isPassComplete;
        onProgress(`copying, pass ${pass}: ${rows} rows, ${events} events`);
      }
      if (rows + events <= LAST_PASS_MAX) return;
    }
  }

  /**
   * Freezes the tenant, copies the rest, and switches the directory; returns the new place. On any failure before, the
   * tenant works again.
   */
  async #switch(ends: Ends, place: TenantPlace, isFrozen: boolean): Promise<TenantPlace> {
    const { directory, onProgress } = this.#options;
    let latest = place;
    try {
      await this.#freeze(ends, place, isFrozen);
      onProgress('frozen: copying the rest');
      const differing = await call<MoveDifference[]>(ends, 'target', 'finish');
      if (differing.length > 0) throw new TenantMoveError(describeDifferences(differing));
      onProgress('compared: both copies are equal');
      if (place.state !== 'frozen') latest = changed(await freezeTenant(directory, place));
      const switched = changed(await switchTenant(directory, latest, latest.cell, latest.toCell ?? ''));
      onProgress(`switched: the directory has the tenant in cell "${switched.cell}"`);
      return switched;
    } catch (error) {
      await this.#thaw(ends, latest, error as Error);
      throw error;
    }
  }

  /** Waits until every accepted event of the tenant is rated and projected, and freezes it. */
  async #freeze(ends: Ends, { version }: TenantPlace, isFrozen: boolean): Promise<void> {
    const { nowMs, onProgress, pause } = this.#options;
    const endsAtMs = nowMs() + DRAIN_MS_MAX;
    onProgress('draining: new events are refused');
    if (!isFrozen) await call(ends, 'source', 'drain', { version });
    while (!(await call<boolean>(ends, 'source', 'freeze', { version }))) {
      const { unfinished } = await call<SourceStatus>(ends, 'source', 'status');
      if (nowMs() > endsAtMs) {
        throw new TenantMoveError(
          `The tenant was not drained within ${DRAIN_MS_MAX / 1_000} s: ${unfinished.segments} segments and ${unfinished.batches} batches still wait. It works again in its old cell; run the move again later.`,
        );
      }
      await pause(DRAIN_POLL_MS);
    }
  }

  /**
   * Lets the tenant work again, unless it has switched, or another run has gone on with the move: only the directory
   * knows both.
   */
  async #thaw({ tenantId, moveId, source }: Ends, latest: TenantPlace, cause: Error): Promise<void> {
    const { directory, onProgress } = this.#options;
    try {
      if ((await cancelMove(directory, latest)) === undefined) {
        // A TenantMoveError says that another run has taken over.
        if (cause instanceof TenantMoveError) return;
        throw new Error('its place has changed');
      }
      await source.call('source', 'thaw', stepBody(tenantId, moveId));
      onProgress('the tenant works again in its cell; its copy is kept');
    } catch (error) {
      throw new TenantMoveError(
        `${cause.message} The tenant may still be frozen: run the move again, or cancel it with --abort. (${(error as Error).message})`,
        { cause },
      );
    }
  }

  /**
   * Closes a tenant that the directory has switched in its old cell, and opens it in its new one. Never do both serve
   * it, nor does a process refuse its keys as unknown: after each step, processes may remember the keys that they have
   * or have not found for `KEY_CACHE_MS_MAX`.
   */
  async #complete(place: TenantPlace, cells: readonly Cell[]): Promise<void> {
    const { directory, onProgress, pause } = this.#options;
    const { cell, fromCell, tenantId } = place;
    if (fromCell === null) {
      onProgress(`unchanged: ${tenantId} is in cell "${cell}" already`);
      return;
    }
    const source = this.#stepsOf(cellNamed(cells, fromCell));
    const move = await source.currentMove(tenantId);
    if (move === undefined) throw new TenantMoveError(`Cell "${fromCell}" knows of no move of the tenant.`);
    const body = stepBody(tenantId, move.moveId);
    await source.call('source', 'complete', body);
    onProgress(`closed: cell "${fromCell}" keeps the rows, and no longer serves the tenant`);
    await pause(KEY_CACHE_MS_MAX);
    await this.#stepsOf(cellNamed(cells, cell)).call('target', 'open', body);
    await pause(KEY_CACHE_MS_MAX);
    // Another run may have done this in the meantime.
    await openTenant(directory, place);
    onProgress(`opened: cell "${cell}" serves the tenant`);
  }

  async #repeat(step: () => Promise<{ result: boolean }>): Promise<void> {
    while (!(await step()).result) await this.#options.pause(REMOVAL_POLL_MS);
  }

  async #placeOf(tenantId: string): Promise<TenantPlace> {
    const place = await findPlace(this.#options.directory, tenantId);
    if (place === undefined) throw new TenantMoveError(`The directory has no tenant "${tenantId}".`);
    return place;
  }

  #stepsOf({ url }: Cell): CellSteps {
    return new CellSteps({ url, serviceKey: this.#options.serviceKey });
  }
}

async function call<T>(ends: Ends, side: 'source' | 'target', step: string, more: object = {}): Promise<T> {
  const body = { ...stepBody(ends.tenantId, ends.moveId), ...more };
  return (await ends[side].call<{ result: T }>(side, step, body)).result;
}

function cellNamed(cells: readonly Cell[], name: string): Cell {
  const cell = cells.find((each) => each.name === name);
  if (cell === undefined) throw new TenantMoveError(`The directory has no cell "${name}".`);
  return cell;
}

/** @throws TenantMoveError when the place was not the given one any more */
function changed(place: TenantPlace | undefined): TenantPlace {
  if (place !== undefined) return place;
  throw new TenantMoveError('Another command has changed the place of the tenant: run this one again.');
}

/** The tenant is between its cells: only the command that moves it there helps. */
function switchedTo({ cell }: TenantPlace): TenantMoveError {
  return new TenantMoveError(
    `The tenant has been switched to cell "${cell}": run the move to that cell again to complete it.`,
  );
}

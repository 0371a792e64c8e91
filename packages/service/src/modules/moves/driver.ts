import type { Postgres } from '../../platform/postgres/index.js';
import {
  beginMove,
  type Cell,
  cancelMove,
  findPlace,
  freezeTenant,
  listCells,
  moveTenant,
  type TenantPlace,
} from '../cells/index.js';
import type { SourceStatus } from './moving.js';
import { CellSteps } from './source-client.js';
import type { TenantMove } from './state-store.js';
import type { CopyProgress } from './target.js';
import type { MoveDifference } from './tenant-copy.js';

/** A move that cannot go on; the message says what to do. */
export class TenantMoveError extends Error {
  override readonly name = 'TenantMoveError';
}

export interface MoveDriverOptions {
  /** The database of the directory of cells. */
  readonly directory: Postgres;
  readonly serviceKey: string;
  /** Called with each step, for people who wait. */
  readonly onProgress: (line: string) => void;
  readonly pause: (ms: number) => Promise<void>;
  readonly newMoveId: () => string;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
}

const COPY_BUDGET_MS = 3_000;
/** A pass that copied less than this leaves little for the freeze. */
const LAST_PASS_MAX = 5_000;
/** A tenant that works harder than its copy is frozen after so many passes. */
const PASSES_MAX = 8;
const DRAIN_MS_MAX = 60_000;
const DRAIN_POLL_MS = 50;
const REMOVAL_POLL_MS = 500;
const DIFFERENCES_NAMED_MAX = 5;

/** The two ends of a move. */
interface Ends {
  readonly tenantId: string;
  readonly moveId: string;
  readonly source: CellSteps;
  readonly target: CellSteps;
}

/**
 * Drives moves of tenants between cells. It keeps nothing itself: the directory and both cells know how far a move has
 * come, so it can be killed at any moment and run again.
 */
export class MoveDriver {
  readonly #options: MoveDriverOptions;

  constructor(options: MoveDriverOptions) {
    this.#options = options;
  }

  /** Moves a tenant to a cell, or goes on with a move. @throws TenantMoveError, CellStepError */
  async move(tenantId: string, toCell: string): Promise<void> {
    const cells = await listCells(this.#options.directory);
    const target = cells.find(({ name }) => name === toCell);
    if (target === undefined) throw new TenantMoveError(`The directory has no cell "${toCell}".`);
    let place = await this.#placeOf(tenantId);
    if (place.cell === toCell) return this.#complete(tenantId, target, cells);
    if (place.state === 'active') place = await this.#begin(place, toCell);
    if (place.toCell !== toCell) {
      throw new TenantMoveError(
        `The tenant is being moved to cell "${place.toCell}": complete that move, or cancel it with --abort.`,
      );
    }
    const source = this.#stepsOf(cellNamed(cells, place.cell));
    const move = await currentMove(source, tenantId);
    const moveId = move?.moveId ?? this.#options.newMoveId();
    const ends = { tenantId, moveId, source, target: this.#stepsOf(target) };
    await call(ends, 'source', 'begin');
    await call(ends, 'target', 'begin');
    // A tenant that is frozen already waits: what is left is copied at once.
    if (move?.state !== 'frozen') await this.#copy(ends);
    const startedMs = this.#options.nowMs();
    await this.#switch(ends, place);
    await this.#complete(tenantId, target, cells);
    const seconds = ((this.#options.nowMs() - startedMs) / 1_000).toFixed(1);
    this.#options.onProgress(`moved: ${tenantId} is in cell "${toCell}"; it was frozen for ${seconds} s`);
  }

  /** Cancels a move that has not switched: the tenant works where it was, and its copy is deleted. */
  async abort(tenantId: string): Promise<void> {
    const { directory, onProgress } = this.#options;
    let place = await this.#placeOf(tenantId);
    if (place.state !== 'active') {
      const cancelled = await cancelMove(directory, place);
      if (cancelled === undefined) throw changedMeanwhile();
      place = cancelled;
    }
    for (const cell of await listCells(directory)) {
      const steps = this.#stepsOf(cell);
      const move = await currentMove(steps, tenantId);
      if (move === undefined || move.state === 'moved') continue;
      const body = { tenant_id: tenantId, move_id: move.moveId };
      if (cell.name === place.cell && move.state === 'arriving') {
        throw new TenantMoveError(
          `The tenant has switched to cell "${cell.name}": run the move again to complete it.`,
        );
      }
      if (cell.name === place.cell) await steps.call('source', 'resume', body);
      else await this.#repeat(() => steps.call('target', 'discard', body));
    }
    onProgress(`cancelled: ${tenantId} is in cell "${place.cell}"`);
  }

  /** Deletes what a tenant has left in other cells when it moved, at least `graceMs` ago. */
  async removeLeft(tenantId: string, graceMs: number): Promise<void> {
    const { directory, onProgress } = this.#options;
    const place = await this.#placeOf(tenantId);
    for (const cell of await listCells(directory)) {
      if (cell.name === place.cell || cell.name === place.toCell) continue;
      const steps = this.#stepsOf(cell);
      const move = await currentMove(steps, tenantId);
      if (move?.state !== 'moved' && move?.state !== 'leaving') continue;
      const body = { tenant_id: tenantId, move_id: move.moveId, grace_ms: graceMs };
      await this.#repeat(() => steps.call('source', 'remove', body));
      onProgress(`removed: the rows of ${tenantId} in cell "${cell.name}"`);
    }
  }

  async #begin(place: TenantPlace, toCell: string): Promise<TenantPlace> {
    const begun = await beginMove(this.#options.directory, place, toCell);
    if (begun !== undefined) return begun;
    throw new TenantMoveError(`Cell "${toCell}" takes no tenants, or the tenant was moved meanwhile.`);
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

  /** Freezes the tenant, copies the rest, and switches the directory. On any failure before, the tenant works again. */
  async #switch(ends: Ends, place: TenantPlace): Promise<void> {
    const { directory, onProgress } = this.#options;
    try {
      await this.#drain(ends);
      onProgress('frozen: copying the rest');
      const differing = await call<MoveDifference[]>(ends, 'target', 'finish');
      if (differing.length > 0) throw new TenantMoveError(describeDifferences(differing));
      onProgress('compared: both copies are equal');
      const latest = place.state === 'frozen' ? place : await freezeTenant(directory, place);
      if (latest === undefined) throw changedMeanwhile();
      if ((await moveTenant(directory, latest, latest.cell, latest.toCell ?? '')) === undefined) {
        throw changedMeanwhile();
      }
      onProgress(`switched: the directory has the tenant in cell "${latest.toCell}"`);
    } catch (error) {
      await this.#thaw(ends, error as Error);
      throw error;
    }
  }

  /** Waits until every accepted event of the tenant is rated and projected, and freezes it. */
  async #drain(ends: Ends): Promise<void> {
    const { nowMs, onProgress, pause } = this.#options;
    const endsAtMs = nowMs() + DRAIN_MS_MAX;
    onProgress('draining: new events are refused');
    await call(ends, 'source', 'drain');
    while (!(await call<boolean>(ends, 'source', 'freeze'))) {
      const { unfinished } = await call<SourceStatus>(ends, 'source', 'status');
      if (nowMs() > endsAtMs) {
        throw new TenantMoveError(
          `The tenant is not drained after ${DRAIN_MS_MAX / 1_000} s: ${unfinished.segments} segments and ${unfinished.batches} batches wait. It works again in its cell; run the move again later.`,
        );
      }
      await pause(DRAIN_POLL_MS);
    }
  }

  /** Lets the tenant work again, unless it has switched, which only the directory knows. */
  async #thaw({ tenantId, moveId, source }: Ends, cause: Error): Promise<void> {
    const { directory, onProgress } = this.#options;
    try {
      const place = await this.#placeOf(tenantId);
      if (place.state === 'active') return;
      if ((await cancelMove(directory, place)) === undefined) return;
      await source.call('source', 'thaw', { tenant_id: tenantId, move_id: moveId });
      onProgress('the tenant works again in its cell; its copy is kept');
    } catch (error) {
      throw new TenantMoveError(
        `${cause.message} The tenant may be frozen still: run the move again, or cancel it with --abort. (${(error as Error).message})`,
        { cause },
      );
    }
  }

  /** Opens a tenant in the cell to which the directory has switched it, and closes it where it was. */
  async #complete(tenantId: string, target: Cell, cells: readonly Cell[]): Promise<void> {
    const { onProgress } = this.#options;
    const steps = this.#stepsOf(target);
    const arriving = await currentMove(steps, tenantId);
    if (arriving !== undefined) {
      await steps.call('target', 'open', { tenant_id: tenantId, move_id: arriving.moveId });
      onProgress(`opened: cell "${target.name}" serves the tenant`);
    }
    for (const cell of cells) {
      if (cell.name === target.name) continue;
      const others = this.#stepsOf(cell);
      const move = await currentMove(others, tenantId);
      if (move?.state !== 'frozen') continue;
      await others.call('source', 'complete', { tenant_id: tenantId, move_id: move.moveId });
      onProgress(`closed: cell "${cell.name}" keeps the rows, and serves the tenant no more`);
    }
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
  const body = { tenant_id: ends.tenantId, move_id: ends.moveId, ...more };
  return (await ends[side].call<{ result: T }>(side, step, body)).result;
}

async function currentMove(steps: CellSteps, tenantId: string): Promise<TenantMove | undefined> {
  const { result } = await steps.call<{ result: TenantMove | null }>('source', 'current', {
    tenant_id: tenantId,
  });
  return result ?? undefined;
}

function cellNamed(cells: readonly Cell[], name: string): Cell {
  const cell = cells.find((each) => each.name === name);
  if (cell === undefined) throw new TenantMoveError(`The directory has no cell "${name}".`);
  return cell;
}

function changedMeanwhile(): TenantMoveError {
  return new TenantMoveError('Somebody else has changed the place of the tenant: run the command again.');
}

function describeDifferences(differing: readonly MoveDifference[]): string {
  const named = differing.slice(0, DIFFERENCES_NAMED_MAX).map(({ part }) => part);
  return `The copy differs from the source in ${differing.length} parts (${named.join(', ')}): cancel the move with --abort, and begin it anew.`;
}

import { DomainError } from '../../kernel/errors.js';
import { transaction } from '../../platform/postgres/index.js';
import { holdsWithin } from '../../platform/wait.js';
import type { StorageScope } from '../storage/index.js';
import { markUnserved } from '../tenancy/index.js';
import * as history from './history-copy-store.js';
import {
  describeMove,
  type MoveDeps,
  type MoveSource,
  refuseStep,
  type SourceStatus,
  scopeOf,
} from './moving.js';
import { eraseTenant } from './removal.js';
import * as rows from './row-copy-store.js';
import * as states from './state-store.js';
import type { TableName } from './tables.js';

/** States in which the source can be read. */
const READABLE: readonly states.MoveState[] = ['copying', 'draining', 'frozen', 'moved'];
/** Upper bound of the wait for transactions that began before a freeze. */
const EARLIER_WRITERS_MS_MAX = 10_000;

/** The steps of a move in the cell that has the tenant. Each can be repeated. */
export class DepartingTenants implements MoveSource {
  readonly #deps: MoveDeps;

  constructor(deps: MoveDeps) {
    this.#deps = deps;
  }

  /** Begins a move; the tenant works as before. */
  async begin(tenantId: string, moveId: string): Promise<void> {
    const { postgres, clock } = this.#deps;
    const unreadable = await states.countUnreadable(postgres.db, tenantId);
    if (unreadable > 0) {
      refuseStep(
        `The tenant has ${unreadable} segments in unreadable_segments, which cannot move. Run tollgate lost, and give them up first.`,
      );
    }
    const move = { moveId, state: 'copying' } as const;
    if (await states.insertMove(postgres.db, tenantId, move, clock.nowMs())) return;
    await this.#require(tenantId, moveId, READABLE);
  }

  /** Refuses new events of the tenant; accepted events are still rated and projected. */
  async drain(tenantId: string, moveId: string): Promise<void> {
    await this.#change(tenantId, moveId, ['copying', 'draining'], 'draining');
  }

  /**
   * Refuses every write of a drained tenant, and waits for writes that began before. Returns false, and the tenant is
   * draining again, if events were accepted in between.
   */
  async freeze(tenantId: string, moveId: string): Promise<boolean> {
    const { clock, postgres } = this.#deps;
    const { db } = postgres;
    if (!isFinished(await states.countUnfinished(db, tenantId))) return false;
    const frozenAtMs = clock.nowMs();
    await this.#change(tenantId, moveId, ['draining', 'frozen'], 'frozen', frozenAtMs);
    const ended = await this.#waitForEarlierWriters();
    if (ended && isFinished(await states.countUnfinished(db, tenantId))) return true;
    // A tenant that another call has frozen since stays frozen.
    await states.undoFreeze(db, tenantId, moveId, frozenAtMs);
    return false;
  }

  /**
   * Lets a tenant work again when its move must wait. The rows that are copied stay, and the move can continue later.
   */
  async thaw(tenantId: string, moveId: string): Promise<void> {
    await this.#change(tenantId, moveId, ['copying', 'draining', 'frozen'], 'copying');
  }

  /** Ends a move that was not completed: the tenant works as before. */
  async resume(tenantId: string, moveId: string): Promise<void> {
    const { postgres } = this.#deps;
    const from = ['copying', 'draining', 'frozen'] as const;
    if (await states.deleteMove(postgres.db, tenantId, moveId, from)) return;
    if ((await states.findMove(postgres.db, tenantId)) !== undefined)
      await this.#require(tenantId, moveId, []);
  }

  /** Ends a move that was completed: the tenant is unknown here, and its rows stay until they are removed. */
  async complete(tenantId: string, moveId: string): Promise<void> {
    const { postgres, clock } = this.#deps;
    const changed = await transaction(postgres, async (tx) => {
      const isFrozen = await states.changeState(tx, tenantId, moveId, ['frozen'], 'moved', clock.nowMs());
      if (isFrozen) await markUnserved(tx, tenantId, clock.nowMs());
      return isFrozen;
    });
    if (!changed) await this.#require(tenantId, moveId, ['moved', 'leaving']);
  }

  /**
   * Removes the rows of a tenant that moved at least `graceMs` ago. Returns whether nothing is left; call it again
   * until it returns true.
   */
  async remove(tenantId: string, moveId: string, graceMs: number): Promise<boolean> {
    const { postgres, clock } = this.#deps;
    const move = await states.findMove(postgres.db, tenantId);
    if (move === undefined) return true;
    if (move.state === 'moved' && clock.nowMs() - move.changedAtMs < graceMs) {
      refuseStep('The tenant moved too recently. Try again later, or use --now.');
    }
    await this.#change(tenantId, moveId, ['moved', 'leaving'], 'leaving');
    return eraseTenant(this.#deps, tenantId, moveId);
  }

  async status(tenantId: string, moveId: string): Promise<SourceStatus> {
    const { db } = this.#deps.postgres;
    const { state } = await this.#require(tenantId, moveId, READABLE);
    return {
      state,
      fingerprint: await rows.readFingerprint(db),
      projects: await rows.readProjects(db, tenantId),
      highWater: await rows.readHighWater(db),
      settledBeforeMs: await states.readSettledBeforeMs(db, tenantId),
      unfinished: await states.countUnfinished(db, tenantId),
    };
  }

  async rows(tenantId: string, moveId: string, range: rows.RowRange): Promise<rows.RowChunk> {
    return rows.exportRows(this.#deps.postgres.db, await this.#tenant(tenantId, moveId), range);
  }

  async digest(tenantId: string, moveId: string, table: TableName): Promise<rows.BucketDigest[]> {
    return rows.digestRows(this.#deps.postgres.db, await this.#tenant(tenantId, moveId), table);
  }

  async nextUnit(...[tenantId, moveId, projectId, span]: Parameters<MoveSource['nextUnit']>) {
    const { clickhouse, postgres } = this.#deps;
    const scope = await this.#scope(tenantId, moveId, projectId);
    const { state } = await this.#require(tenantId, moveId, READABLE);
    // A call that has hung can come when the tenant works again: what is not settled forms no unit.
    const settledMs =
      state === 'copying' ? await states.readSettledBeforeMs(postgres.db, tenantId) : span.beforeMs;
    return history.nextUnit(clickhouse, scope, { ...span, beforeMs: Math.min(span.beforeMs, settledMs) });
  }

  async unit(...[tenantId, moveId, projectId, unit]: Parameters<MoveSource['unit']>): Promise<Buffer> {
    return history.exportUnit(this.#deps.clickhouse, await this.#scope(tenantId, moveId, projectId), unit);
  }

  async historyDigest(tenantId: string, moveId: string, projectId: string): Promise<history.HistoryDigest> {
    return history.digestHistory(this.#deps.clickhouse, await this.#scope(tenantId, moveId, projectId));
  }

  /** @throws DomainError `move_refused` unless the move had one of the states `from` */
  async #change(
    tenantId: string,
    moveId: string,
    from: readonly states.MoveState[],
    to: states.MoveState,
    nowMs = this.#deps.clock.nowMs(),
  ): Promise<void> {
    const changed = await states.changeState(this.#deps.postgres.db, tenantId, moveId, from, to, nowMs);
    if (!changed) await this.#require(tenantId, moveId, []);
  }

  /** @throws DomainError `move_refused` unless the move has one of the states */
  async #require(
    tenantId: string,
    moveId: string,
    allowed: readonly states.MoveState[],
  ): Promise<states.TenantMove> {
    const move = await states.findMove(this.#deps.postgres.db, tenantId);
    if (move !== undefined && move.moveId === moveId && allowed.includes(move.state)) return move;
    return refuseStep(describeMove(move));
  }

  async #tenant(tenantId: string, moveId: string): Promise<rows.TenantRows> {
    await this.#require(tenantId, moveId, READABLE);
    return { tenantId, projects: await rows.readProjects(this.#deps.postgres.db, tenantId) };
  }

  async #scope(tenantId: string, moveId: string, projectId: string): Promise<StorageScope> {
    await this.#require(tenantId, moveId, READABLE);
    const projects = await rows.readProjects(this.#deps.postgres.db, tenantId);
    const project = projects.find(({ id }) => id === projectId);
    if (project === undefined) throw new DomainError('not_found');
    return scopeOf(tenantId, project);
  }

  async #waitForEarlierWriters(): Promise<boolean> {
    const { db } = this.#deps.postgres;
    const writers = await states.earlierWriters(db);
    return holdsWithin(async () => (await states.countOpen(db, writers)) === 0, EARLIER_WRITERS_MS_MAX);
  }
}

function isFinished({ segments, batches }: states.Unfinished): boolean {
  return segments === 0 && batches === 0;
}

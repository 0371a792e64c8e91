import { transaction } from '../../platform/postgres/index.js';
import { archiveForeignRows } from '../archive/index.js';
import { dedicatedSuffixes } from '../storage/index.js';
import { digestHistory, type HistoryUnit, importUnit, mayImportUnits } from './history-copy-store.js';
import {
  describeMove,
  type MoveDeps,
  type MoveSource,
  type MovingProject,
  refuseStep,
  type SourceStatus,
  scopeOf,
} from './moving.js';
import * as rows from './row-copy-store.js';
import * as states from './state-store.js';
import { mayChangeAfterCopy, type TableName, tenantTables } from './tables.js';

/** One part of a tenant that differs in the two cells. */
export interface MoveDifference {
  /** Name of a table, or `history of` and the id of a project. */
  readonly part: string;
  readonly source: string;
  readonly target: string;
}

const DIFFERENCES_NAMED_MAX = 5;

/** Returns sentences for the operator about parts that differ. */
export function describeDifferences(differing: readonly MoveDifference[]): string {
  const named = differing.slice(0, DIFFERENCES_NAMED_MAX).map(({ part }) => part);
  return `The copy differs from the source in ${differing.length} parts (${named.join(', ')}): cancel the move with --abort, and start it again.`;
}

/** The recorded progress of a table. */
interface TableStep {
  /** Rows that were written before this mark are copied. */
  readonly doneBefore?: string;
  /** The current pass: it copies rows that were written since `doneBefore`. */
  readonly pass?: { readonly mark: string; readonly after?: readonly string[] };
}

/** The recorded progress of a project's history. */
interface HistoryStep {
  readonly doneMs: number;
  /** A unit that is being stored, and may be stored already. */
  readonly unit?: HistoryUnit;
}

const DIGESTS_AT_ONCE = 4;
/** People sign in and out while a tenant is frozen. */
const NOT_COMPARED: TableName = 'console_sessions';

type Transaction = Parameters<typeof states.writeAsMove>[0];

/**
 * Confines a transaction to a move whose tenant is arriving here.
 *
 * @throws DomainError `move_refused`
 */
export async function requireArriving(tx: Transaction, tenantId: string, moveId: string): Promise<void> {
  if (await states.writeAsMove(tx, tenantId, moveId, ['arriving'])) return;
  refuseStep(describeMove(await states.findMove(tx, tenantId)));
}

/** One run of a copy. It records its progress with the rows, so that the next run continues from there. */
export class TenantCopy {
  rows = 0;
  events = 0;
  readonly #deps: MoveDeps;
  readonly #source: MoveSource;
  readonly #tenantId: string;
  readonly #moveId: string;
  readonly #mayGoOn: () => boolean;

  constructor(
    deps: MoveDeps,
    source: MoveSource,
    { tenantId, moveId }: { readonly tenantId: string; readonly moveId: string },
    mayGoOn: () => boolean,
  ) {
    this.#deps = deps;
    this.#source = source;
    this.#tenantId = tenantId;
    this.#moveId = moveId;
    this.#mayGoOn = mayGoOn;
  }

  /** Copies changes of the tables that are copied while a tenant works, and history. Returns whether it has all. */
  async live(status: SourceStatus, beforeMs: number): Promise<boolean> {
    const steps = await states.readSteps(this.#deps.postgres.db, this.#tenantId);
    const tables = async () => {
      for (const table of tenantTables('live')) {
        const step = steps.get(`table ${table}`) as TableStep | undefined;
        if (!(await this.#passOver(table, step, status.highWater))) return false;
      }
      return true;
    };
    const histories = async () => {
      for (const project of status.projects) {
        const step = steps.get(`history ${project.id}`) as HistoryStep | undefined;
        if (!(await this.#copyHistory(project, step, beforeMs))) return false;
      }
      return true;
    };
    const [hasRows, hasHistory] = await allEnded([tables(), histories()]);
    return hasRows === true && hasHistory === true;
  }

  /** Replaces the tables that are copied once. Tables that refer to others are deleted first, and copied last. */
  async frozen(): Promise<void> {
    const tables = tenantTables('frozen').filter((table) => table !== 'tenants');
    const { projects } = await this.#source.status(this.#tenantId, this.#moveId);
    await this.#write(async (tx) => {
      for (const table of tables.toReversed()) {
        await rows.deleteRows(tx, { tenantId: this.#tenantId, projects }, table);
      }
    });
    for (const table of tables) await this.#importAll({ table });
  }

  /** Returns the parts that differ. Tables are compared by their rows, and the history of projects by its sums. */
  async compare(projects: readonly MovingProject[]): Promise<MoveDifference[]> {
    const differing: MoveDifference[] = [];
    const note = (part: string, source: unknown, target: unknown) => {
      const [here, there] = [JSON.stringify(target), JSON.stringify(source)];
      if (here !== there) differing.push({ part, source: there, target: here });
    };
    const tenant = { tenantId: this.#tenantId, projects };
    const tables = tenantTables().filter((table) => table !== NOT_COMPARED);
    const compareNext = async () => {
      for (let table = tables.pop(); table !== undefined; table = tables.pop()) {
        const [source, target] = await Promise.all([
          this.#source.digest(this.#tenantId, this.#moveId, table),
          rows.digestRows(this.#deps.postgres.db, tenant, table),
        ]);
        note(table, source, target);
      }
    };
    const compareHistories = async () => {
      for (const project of projects) {
        const [source, target] = await Promise.all([
          this.#source.historyDigest(this.#tenantId, this.#moveId, project.id),
          digestHistory(this.#deps.clickhouse, scopeOf(this.#tenantId, project)),
        ]);
        note(`history of ${project.id}`, source, target);
      }
    };
    await allEnded([...Array.from({ length: DIGESTS_AT_ONCE }, compareNext), compareHistories()]);
    return differing;
  }

  /** Replaces the differing parts of a table: rows were deleted or changed in the source after they were copied. */
  async repair(part: string, projects: readonly MovingProject[]): Promise<void> {
    const table = tenantTables().find((name) => name === part);
    if (table === undefined || !mayChangeAfterCopy(table)) return;
    const tenant = { tenantId: this.#tenantId, projects };
    const source = await this.#source.digest(this.#tenantId, this.#moveId, table);
    const target = await rows.digestRows(this.#deps.postgres.db, tenant, table);
    const text = (list: readonly rows.BucketDigest[], bucket: number) =>
      JSON.stringify(list.find((each) => each.bucket === bucket));
    for (let bucket = 0; bucket < rows.BUCKETS; bucket += 1) {
      if (text(source, bucket) === text(target, bucket)) continue;
      await this.#write((tx) => rows.deleteRows(tx, tenant, table, bucket));
      await this.#importAll({ table, bucket });
    }
  }

  /** Copies the rows of a table that were written since the previous pass. Returns whether the pass is complete. */
  async #passOver(table: TableName, recorded: TableStep | undefined, highWater: string): Promise<boolean> {
    let from = recorded;
    for (;;) {
      if (!this.#mayGoOn()) return false;
      const { doneBefore, pass = { mark: highWater } } = from ?? {};
      const range = { table, after: pass.after, writtenSince: doneBefore };
      const { rows: found, next } = await this.#source.rows(this.#tenantId, this.#moveId, range);
      const to: TableStep =
        next === undefined
          ? { doneBefore: pass.mark }
          : { ...(doneBefore === undefined ? {} : { doneBefore }), pass: { mark: pass.mark, after: next } };
      await this.#write(async (tx) => {
        await rows.importRows(tx, table, found);
        await this.#advance(tx, `table ${table}`, from, to);
      });
      this.rows += found.length;
      from = to;
      // A pass that an earlier run began has an earlier mark, so another pass follows.
      if (next === undefined && pass.mark === highWater) return true;
    }
  }

  async #copyHistory(
    project: MovingProject,
    recorded: HistoryStep | undefined,
    beforeMs: number,
  ): Promise<boolean> {
    const scope = scopeOf(this.#tenantId, project);
    const step = `history ${project.id}`;
    let from = recorded;
    for (;;) {
      if (!this.#mayGoOn()) return false;
      const doneMs = from?.doneMs ?? 0;
      const unit = from?.unit ?? (await this.#nextUnit(project, doneMs, beforeMs));
      if (unit === undefined) return true;
      const begun: HistoryStep = { doneMs, unit };
      if (from?.unit === undefined) await this.#write((tx) => this.#advance(tx, step, from, begun));
      const bytes = await this.#source.unit(this.#tenantId, this.#moveId, project.id, unit);
      const token = `move-${this.#moveId}-${project.no}-${unit.fromMs}-${unit.toMs}`;
      const to = { doneMs: unit.toMs };
      const { clickhouse, archive } = this.#deps;
      // The state is locked meanwhile, so that no unit arrives in a tenant that was opened or removed.
      await this.#write(async (tx) => {
        if (!(await states.holdHistory(tx)))
          refuseStep('The history of this cell is being rebuilt or repaired: try later.');
        if (!(await mayImportUnits(clickhouse, scope, () => dedicatedSuffixes({ db: tx }))))
          refuseStep('The views of ClickHouse are replaced in part: run tollgate migrate in this cell.');
        const eventCount = await importUnit(clickhouse, scope, bytes, { unit, token });
        const recordInArchive = await archiveForeignRows(archive, {
          project: scope,
          rows: bytes,
          eventCount,
        });
        await this.#advance(tx, step, begun, to);
        await recordInArchive(tx);
      });
      from = to;
      this.events += unit.events;
    }
  }

  #nextUnit({ id }: MovingProject, afterMs: number, beforeMs: number): Promise<HistoryUnit | undefined> {
    return this.#source.nextUnit(this.#tenantId, this.#moveId, id, { afterMs, beforeMs });
  }

  async #advance(tx: Transaction, step: string, from: object | undefined, to: object): Promise<void> {
    if (await states.advanceStep(tx, this.#tenantId, { step, from, to })) return;
    refuseStep('Another process is also copying the tenant.');
  }

  async #importAll(range: rows.RowRange): Promise<void> {
    for (let after: readonly string[] | undefined; ; ) {
      const chunk = await this.#source.rows(this.#tenantId, this.#moveId, { ...range, after });
      await this.#write((tx) => rows.importRows(tx, range.table, chunk.rows));
      this.rows += chunk.rows.length;
      after = chunk.next;
      if (after === undefined) return;
    }
  }

  /** Writes in a transaction that is refused once the move has another state. */
  #write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return transaction(this.#deps.postgres, async (tx) => {
      await requireArriving(tx, this.#tenantId, this.#moveId);
      return work(tx);
    });
  }
}

/** Waits for all, even if one fails, so that nothing still runs afterwards. */
async function allEnded<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

import type { Clock } from '../../kernel/clock.js';
import { present } from '../../kernel/present.js';
import { type Postgres, ProjectDb, type Tx, transaction } from '../../platform/postgres/index.js';
import type { CorrectedEvent, CorrectedRowsDeps } from '../pipeline/index.js';
import { type BlockReader, ProjectHistory, storageTables, type UsageHistory } from '../storage/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { type OpenCorrection, StepTakenError, type StoredCorrection } from './correction.js';
import { lockCorrection } from './correction-store.js';
import type { CorrectionPart } from './part-store.js';
import type { CorrectionRatingDeps } from './rating.js';

export interface EngineDeps extends CorrectionRatingDeps, CorrectedRowsDeps {
  readonly postgres: Postgres;
  /** On a cluster, a replica may lack rows for a moment: to plan without them would be wrong. */
  readonly clickhouse: {
    upToDate(tables: readonly string[]): Promise<BlockReader>;
  };
  readonly history: UsageHistory;
  readonly clock: Clock;
  /** Called after each commit that left rows for ClickHouse. */
  readonly onCommitted: () => void;
  /** Overrides for tests. */
  readonly partEvents?: number;
  readonly partsPerStep?: number;
  readonly eventsMax?: number;
}

/** A part in the transaction that applies or reverts it. */
export interface PartInStep {
  readonly tx: Tx;
  readonly db: ProjectDb;
  readonly part: CorrectionPart;
  readonly events: readonly CorrectedEvent[];
}

/**
 * Parts that one step plans or changes. ClickHouse reads whole granules, in which events of other parts are; all rows
 * of the step are in memory together.
 */
const PARTS_PER_STEP = 5;
/** About the most that a step reads of ClickHouse at once; after that, it takes fewer events. */
export const STEP_BYTES_MAX = 64 * 1_048_576;

export function partsPerStep({ partsPerStep: parts = PARTS_PER_STEP }: EngineDeps): number {
  return parts;
}

/** Runs `work` with the correction locked, unless another process has done the step meanwhile. */
export function inStep<T>(
  { postgres }: Pick<EngineDeps, 'postgres'>,
  { id, status, phase, nextPart, plannedUpTo, partCount, project }: OpenCorrection,
  work: (tx: Tx, db: ProjectDb, correction: StoredCorrection) => Promise<T>,
): Promise<T> {
  return transaction(postgres, async (tx) => {
    const db = new ProjectDb(tx, project);
    const now = await lockCorrection(db, id);
    if (
      now === undefined ||
      now.status !== status ||
      now.phase !== phase ||
      now.nextPart !== nextPart ||
      now.plannedUpTo !== plannedUpTo ||
      now.partCount !== partCount
    ) {
      throw new StepTakenError();
    }
    return work(tx, db, now);
  });
}

export async function historyOf(
  { clickhouse, history }: Pick<EngineDeps, 'clickhouse' | 'history'>,
  project: OpenCorrection['project'],
): Promise<ProjectHistory<BlockReader>> {
  const scope = await history.scopeOf(project);
  return new ProjectHistory(await clickhouse.upToDate([storageTables(scope).events]), scope);
}

/** Returns the number of a row's revision. */
export function revisionOf({ corrections }: Pick<UsageEventRow, 'corrections'>): number {
  return corrections + 1;
}

/** Returns the last of several revisions. */
export function latest(revisions: readonly UsageEventRow[]): UsageEventRow {
  return present(revisions.at(-1), 'the latest revision of an event');
}

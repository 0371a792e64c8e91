import { present } from '../../kernel/present.js';
import { ProjectDb, type Tx, transaction } from '../../platform/postgres/index.js';
import type { CorrectedEvent, CorrectedRowsDeps } from '../pipeline/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { type OpenCorrection, StepTakenError, type StoredCorrection } from './correction.js';
import { lockCorrection } from './correction-store.js';
import type { CorrectionPart } from './part-store.js';
import type { CorrectionRatingDeps } from './rating.js';
import type { StepRows, StepRowsDeps } from './step-rows.js';

export interface EngineDeps extends CorrectionRatingDeps, CorrectedRowsDeps, StepRowsDeps {
  /** Reads the rows of a step. */
  readonly rows: StepRows;
  /** Called after each commit that left rows for ClickHouse. */
  readonly onCommitted: () => void;
  /** Overrides a bound for tests. */
  readonly eventsMax?: number;
}

/** A part in the transaction that applies or reverts it. */
export interface PartInStep {
  readonly tx: Tx;
  readonly db: ProjectDb;
  readonly part: CorrectionPart;
  readonly events: readonly CorrectedEvent[];
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

/** Returns the number of a row's revision. */
export function revisionOf({ corrections }: Pick<UsageEventRow, 'corrections'>): number {
  return corrections + 1;
}

/** Returns the last of several revisions. */
export function latest(revisions: readonly UsageEventRow[]): UsageEventRow {
  return present(revisions.at(-1), 'the latest revision of an event');
}

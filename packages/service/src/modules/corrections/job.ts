import { ERRORS } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { firstRawEventHex } from '../../kernel/id.js';
import { hasFirstReleaseMember } from '../../platform/leases/index.js';
import type { Logger } from '../../platform/log/index.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { createSweepJob, type SweepJob } from '../../platform/sweep-job.js';
import { firstKeptDays } from '../storage/index.js';
import { applyStep } from './apply.js';
import { type OpenCorrection, PLAN_MS, PlanFailure, type StepResult, StepTakenError } from './correction.js';
import { changeCorrection } from './correction-store.js';
import { countStep } from './count-step.js';
import { type EngineDeps, inStep } from './engine.js';
import { deleteParts } from './part-store.js';
import { planStep } from './plan.js';
import { finishStep } from './plan-end.js';
import { revertStep } from './revert.js';
import { StepRows } from './step-rows.js';
import { endTurns, expirePlans, forgetExpired, isStepDue, nextStepMs, takeTurn } from './turn-store.js';

interface StepDeps extends EngineDeps {
  readonly log: Pick<Logger, 'warn'>;
}

export type AdvanceDeps = Omit<StepDeps, 'rows'>;

export interface CorrectionJobDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** Whether no other process works on corrections. Turns that are open at the start belong to ended processes then. */
  readonly isAlone: boolean;
  /** Does the steps that are due, on this thread or another one; see `advanceCorrections`. */
  readonly advance: (signal?: AbortSignal) => Promise<number>;
}

/** Upper bound of the time until a new correction is noticed. */
const LOOK_MS = 200;
/** Interval at which old plans expire. */
const POLL_MS = 60_000;
/** For how long no other process takes a correction; several times the duration of a step. */
const TURN_MS = 60_000;
/** Time until a step that waits for ClickHouse is tried again. */
const WAIT_MS = 200;
/** The same after an error. */
const FAILURE_PAUSE_MS = 5_000;
/** Errors from this status on are about the service or its stores, not about a request. */
const INTERNAL_ERROR_STATUS = 500;
const EXPIRED_PER_SWEEP = 100;
const FORGOTTEN_PER_SWEEP = 10_000;
const FORGET_INTERVAL_MS = 3_600_000;

/**
 * Creates the job that plans, applies and reverts corrections, lets old plans expire, and forgets events whose history
 * was deleted. While a projector of release 0.1.0 runs, corrections wait, because it would insert their rows as others.
 */
export function createCorrectionJob({ postgres, clock, log, isAlone, advance }: CorrectionJobDeps): SweepJob {
  let nextForgetMs = 0;
  let mayHaveForeignTurns = isAlone;
  return createSweepJob({
    sweep: async (signal) => {
      const nowMs = clock.nowMs();
      if (mayHaveForeignTurns) await endTurns(postgres, nowMs);
      mayHaveForeignTurns = false;
      await expirePlans(postgres, nowMs - PLAN_MS, EXPIRED_PER_SWEEP);
      if (nowMs >= nextForgetMs) {
        const days = await firstKeptDays(postgres.db, nowMs);
        const keptFrom = days.map(({ projectId, day }) => ({
          projectId,
          firstId: firstRawEventHex(day * DAY_S),
        }));
        const forgotten = await forgetExpired(postgres, keptFrom, FORGOTTEN_PER_SWEEP);
        if (forgotten < FORGOTTEN_PER_SWEEP) nextForgetMs = nowMs + FORGET_INTERVAL_MS;
      }
      // A thread that has nothing to do is not started.
      if (!(await isStepDue(postgres, nowMs)) || (await hasFirstReleaseMember(postgres.db, 'projector')))
        return 0;
      return advance(signal);
    },
    pollMs: POLL_MS,
    due: { dueAtMs: nextStepMs, lookMs: LOOK_MS },
    log,
    failureMessage: 'could not work on corrections; will try again',
  });
}

/**
 * Does the steps of corrections that are due, one after the other, and returns their number. A process that ends in the
 * middle of a step leaves nothing of it, and another one repeats it.
 *
 * @param isOver whether to end although more steps are due
 */
export async function advanceCorrections(
  deps: AdvanceDeps,
  isOver: () => boolean = () => false,
): Promise<number> {
  const withRows = { ...deps, rows: new StepRows(deps) };
  let steps = 0;
  while (!isOver()) {
    const correction = await takeTurn(deps.postgres, deps.clock.nowMs(), TURN_MS);
    if (correction === undefined) break;
    await takeStep(withRows, correction);
    steps++;
  }
  return steps;
}

async function takeStep(deps: StepDeps, correction: OpenCorrection): Promise<void> {
  const { postgres, clock, log } = deps;
  const db = new ProjectDb(postgres.db, correction.project);
  let pauseMs = 0;
  let isDone = false;
  try {
    isDone = (await stepOrFail(deps, correction)) === 'done';
    if (!isDone) pauseMs = WAIT_MS;
    else if (correction.status !== 'planning') deps.onCommitted();
  } catch (error) {
    if (!(error instanceof StepTakenError)) {
      log.warn({ err: error, correction: correction.id }, 'a step of a correction failed; will try again');
      pauseMs = FAILURE_PAUSE_MS;
    }
  }
  const nowMs = clock.nowMs();
  const progress = isDone ? { progressedAtMs: nowMs } : {};
  await changeCorrection(db, correction.id, { busyUntilMs: nowMs + pauseMs, ...progress });
}

/**
 * Does a step, and ends a plan that cannot be made: for example, its rules do not exist any more. A store that is away
 * fails no plan: the step is tried again.
 */
async function stepOrFail(deps: StepDeps, correction: OpenCorrection): Promise<StepResult> {
  try {
    return await stepOf(deps, correction);
  } catch (error) {
    const isFailure = error instanceof PlanFailure || (error instanceof DomainError && !isTemporary(error));
    if (!isFailure || correction.status !== 'planning') throw error;
    await fail(deps, correction, error);
    return 'done';
  }
}

function isTemporary({ code }: DomainError): boolean {
  return ERRORS[code].status >= INTERNAL_ERROR_STATUS;
}

function stepOf(deps: StepDeps, correction: OpenCorrection): Promise<StepResult> {
  const { status, phase } = correction;
  if (status === 'planning' && phase === 'events') return planStep(deps, correction);
  if (status === 'planning' && phase === 'parts') return finishStep(deps, correction);
  if (status !== 'reverting' && phase === 'counters') return countStep(deps, correction);
  if (status === 'applying') return applyStep(deps, correction);
  return revertStep(deps, correction);
}

async function fail(
  deps: StepDeps,
  correction: OpenCorrection,
  { code, message }: DomainError | PlanFailure,
): Promise<void> {
  await inStep(deps, correction, async (_tx, db) => {
    await changeCorrection(db, correction.id, {
      status: 'failed',
      failureCode: code,
      failureMessage: message,
    });
    await deleteParts(db, correction.id);
  });
}

import { present } from '../../kernel/present.js';
import type { ProjectDb } from '../../platform/postgres/index.js';
import { type CorrectedEvent, mayWriteCorrections, writeCorrectedRows } from '../pipeline/index.js';
import type { EventRevisions } from '../usage/index.js';
import { auditEnd } from './audit.js';
import { ChangedEventError } from './changed-event.js';
import { ChangedTotals } from './changes.js';
import type { OpenCorrection, StepResult } from './correction.js';
import { type CorrectionChange, changeCorrection } from './correction-store.js';
import { dropCounts } from './counted-periods-store.js';
import { type EngineDeps, inStep, type PartInStep } from './engine.js';
import { countPart } from './part-counters.js';
import * as parts from './part-store.js';

/**
 * Events of a part that are made at a time. The transaction of the part before goes on in between: about a millisecond.
 */
export const TURN_EVENTS = 64;

/** The differences between applying a part and reverting it. */
export interface PartChange {
  readonly verb: 'apply' | 'revert';
  /**
   * Returns the events of the part with their next revisions; `wait` until ClickHouse has the revisions in force.
   *
   * @param part undefined if it was deleted, as the history of its events
   * @throws ChangedEventError
   */
  eventsOf(
    part: parts.CorrectionPart | undefined,
    revisions: EventRevisions,
  ): Promise<readonly CorrectedEvent[] | 'wait'>;
  /** Records the next revisions, before their rows are written. @throws ChangedEventError */
  record(step: PartInStep): Promise<void>;
  /** Checks the correction after its last part. @throws Error if it must not be committed */
  checkEnd?(db: ProjectDb): Promise<void>;
}

/**
 * Changes the next parts of a correction, each in one transaction; their rows are read together. If an event of a part
 * was changed meanwhile, nothing of the part is changed, and the correction ends as `stale`.
 */
export async function partStep(
  deps: EngineDeps,
  correction: OpenCorrection,
  change: PartChange,
): Promise<StepResult> {
  const { parts: read, revisions } = await deps.rows.ofParts(correction);
  const eventsOf = (part: parts.CorrectionPart | undefined) => {
    const events = change.eventsOf(part, revisions);
    // An error is met when the turn of the part comes.
    events.catch(() => {});
    return events;
  };
  let open = correction;
  let following = eventsOf(read[0]);
  for (const [index, part] of read.entries()) {
    const events = following;
    await events.catch(() => {});
    // They are made while PostgreSQL works on this part.
    if (index + 1 < read.length) following = eventsOf(read[index + 1]);
    const next = await changeOrEnd(deps, open, change, part, events);
    if (next === 'wait' && index === 0) return 'wait';
    if (next === 'wait' || next === 'stale') break;
    open = next;
  }
  return 'done';
}

/** Returns the correction after a part; `stale` if that ends it. */
async function changeOrEnd(
  deps: EngineDeps,
  correction: OpenCorrection,
  change: PartChange,
  part: parts.CorrectionPart | undefined,
  eventsOfPart: ReturnType<PartChange['eventsOf']>,
): Promise<OpenCorrection | 'wait' | 'stale'> {
  const { id, nextPart } = correction;
  try {
    const events = await eventsOfPart;
    if (events === 'wait') return 'wait';
    return await inStep(deps, correction, (tx, db) =>
      changePart(deps, correction, change, { tx, db, part, events }),
    );
  } catch (error) {
    if (!(error instanceof ChangedEventError)) throw error;
    await inStep(deps, correction, async (tx, db) => {
      const { eventsApplied } = correction;
      await changeCorrection(db, id, {
        status: 'stale',
        failureCode: error.code,
        failureMessage: failureText(error, eventsApplied),
      });
      // The other parts are never applied: a revert takes back those in force, and nothing else.
      if (change.verb === 'apply') await dropCounts(db, id, nextPart);
      const nowMs = deps.clock.nowMs();
      await auditEnd(tx, db, correction, { verb: change.verb, status: 'stale', eventsApplied, nowMs });
    });
    return 'stale';
  }
}

/** A correction of which nothing is in force cannot be reverted. */
function failureText({ message, advice }: ChangedEventError, eventsApplied: number): string {
  const next =
    eventsApplied === 0 ? 'Plan the correction again.' : 'Revert the correction, or plan it again.';
  return `${message} ${advice ?? next} Events in force: ${eventsApplied}.`;
}

async function changePart(
  deps: EngineDeps,
  correction: OpenCorrection,
  change: PartChange,
  { tx, db, part, events }: Omit<PartInStep, 'part'> & { readonly part: parts.CorrectionPart | undefined },
): Promise<OpenCorrection | 'wait'> {
  const { id, project, nextPart, partCount } = correction;
  if (!(await mayWriteCorrections(tx, project))) return 'wait';
  deps.rows.readNext();
  const isApply = change.verb === 'apply';
  const nowMs = deps.clock.nowMs();
  if (events.length > 0) {
    const step = { tx, db, part: present(part, 'the part of events that change'), events };
    await change.record(step);
    const counted = await countPart(deps, correction, change.verb, step);
    await writeCorrectedRows(tx, deps, { project, correctionId: id, isRevert: !isApply, nowMs }, counted);
    const totals = new ChangedTotals();
    for (const { former, next } of counted) totals.add(isApply ? former : next, isApply ? next : former);
    await parts.addChangedTotals(db, id, isApply ? 'applied' : 'reverted', totals.totals());
  }
  const eventsApplied = correction.eventsApplied + (isApply ? events.length : -events.length);
  const isLast = nextPart + 1 === partCount;
  const end: CorrectionChange = isApply
    ? { status: 'applied', appliedAtMs: nowMs }
    : { status: 'reverted', revertedAtMs: nowMs };
  await changeCorrection(db, id, { nextPart: nextPart + 1, eventsApplied, ...(isLast ? end : {}) });
  if (isLast) {
    await change.checkEnd?.(db);
    const status = isApply ? 'applied' : 'reverted';
    await auditEnd(tx, db, correction, { verb: change.verb, status, eventsApplied, nowMs });
  }
  return { ...correction, nextPart: nextPart + 1, eventsApplied };
}

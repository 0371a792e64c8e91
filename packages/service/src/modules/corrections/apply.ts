import { present } from '../../kernel/present.js';
import { ProjectDb, type Tx } from '../../platform/postgres/index.js';
import {
  type CorrectedEvent,
  type FailedEvent,
  mayWriteCorrections,
  takeFailedEvents,
  writeCorrectedRows,
} from '../pipeline/index.js';
import { auditEnd } from './audit.js';
import { EventChanges } from './changes.js';
import { idOf, type OpenCorrection, StaleError, type StepResult } from './correction.js';
import { changeCorrection } from './correction-store.js';
import {
  type EngineDeps,
  historyOf,
  inStep,
  latest,
  type PartInStep,
  revisionOf,
  revisionsOf,
} from './engine.js';
import { decodeOutcomes, voided, withOutcome } from './outcome.js';
import * as parts from './part-store.js';

/**
 * Applies the next part of a correction, exactly as it was planned. If an event of the part was changed since, nothing
 * of the part is applied, and the correction ends as `stale`.
 */
export async function applyStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  const { id, nextPart, project } = correction;
  const part = present(
    await parts.readPart(new ProjectDb(deps.postgres.db, project), id, nextPart),
    `part ${nextPart} of correction ${id}`,
  );
  try {
    const events = await plannedEvents(deps, correction, part);
    return events === 'wait'
      ? 'wait'
      : await inStep(deps, correction, (tx, db) => applyPart(deps, correction, { tx, db, part, events }));
  } catch (error) {
    if (!(error instanceof StaleError)) throw error;
    const failureMessage = `${error.message} Events in force: ${correction.eventsApplied}. Revert the correction, or plan it again.`;
    await inStep(deps, correction, (_tx, db) =>
      changeCorrection(db, id, { status: 'stale', failureCode: 'correction_stale', failureMessage }),
    );
    return 'done';
  }
}

/** @throws StaleError if the revision in force is not the one that was planned for */
async function plannedEvents(
  deps: EngineDeps,
  { action, project }: OpenCorrection,
  { ids, formerRevisions, formerAttempts, outcomes: encoded }: parts.CorrectionPart,
): Promise<CorrectedEvent[] | 'wait'> {
  const revisions = await revisionsOf(await historyOf(deps, project), ids);
  const outcomes = action === 'void' ? undefined : await decodeOutcomes(encoded);
  const events: CorrectedEvent[] = [];
  for (const [index, eventId] of ids.entries()) {
    const rows = revisions.get(eventId);
    if (rows === undefined) throw new StaleError(`The event evt_${eventId} is not kept any more.`);
    const former = latest(rows);
    const planned = present(formerRevisions[index], 'the revision of a planned event');
    if (revisionOf(former) < planned) return 'wait';
    const attempt = present(formerAttempts[index], 'the attempt of a planned event');
    if (revisionOf(former) > planned || former.attempt !== attempt) throw changed(eventId);
    const outcome =
      outcomes === undefined ? voided(former) : present(outcomes[index], 'the outcome of a planned event');
    events.push({ former, next: withOutcome(former, outcome) });
  }
  return events;
}

async function applyPart(
  deps: EngineDeps,
  correction: OpenCorrection,
  { tx, db, part, events }: PartInStep,
): Promise<StepResult> {
  if (!(await mayWriteCorrections(tx))) return 'wait';
  const { id, project, partCount } = correction;
  const { no, ids, formerRevisions } = part;
  if (ids.length !== events.length)
    throw new Error(`${ids.length} events were planned, not ${events.length}`);
  const nowMs = deps.clock.nowMs();
  const formerCorrections = await takeRevisions(db, id, part);
  const failedEvents = await takeFailed(tx, correction, events);
  await writeCorrectedRows(tx, deps, { project, correctionId: id, nowMs }, events);
  const changes = new EventChanges();
  for (const { former, next } of events) changes.add(former, former, next);
  await parts.addChangedTotals(db, id, 'applied', changes.totals());
  await parts.markApplied(db, id, no, { formerCorrections, failedEvents });
  const eventsApplied = correction.eventsApplied + formerRevisions.length;
  const isLast = no + 1 === partCount;
  await changeCorrection(db, id, {
    nextPart: no + 1,
    eventsApplied,
    ...(isLast ? { status: 'applied', appliedAtMs: nowMs } : {}),
  });
  if (isLast) {
    if (!(await parts.isAppliedAsPlanned(db, id))) {
      throw new Error(`correction ${id} would not change what it has planned`);
    }
    await auditEnd(tx, db, correction, {
      verb: 'apply',
      actor: correction.createdBy,
      events: eventsApplied,
      nowMs,
    });
  }
  return 'done';
}

/**
 * Records the next revisions of a part's events; returns the corrections that made those in force until now.
 *
 * @throws StaleError if an event has another revision than the one that was planned for
 */
async function takeRevisions(
  db: ProjectDb,
  correctionId: string,
  { ids, formerRevisions }: parts.CorrectionPart,
): Promise<string[]> {
  const recorded = await parts.latestRevisions(db, ids, 'locked');
  const next = ids.map((eventId, index) => {
    const planned = present(formerRevisions[index], 'the revision of a planned event');
    if ((recorded.get(eventId)?.revision ?? 1) !== planned) throw changed(eventId);
    return { id: eventId, revision: planned + 1, correctionId };
  });
  // An event that was never corrected has no row to lock: another correction may have written it first.
  if ((await parts.recordRevisions(db, next)) !== ids.length) throw new StaleError('An event was changed.');
  return ids.map((eventId) => recorded.get(eventId)?.correctionId ?? '');
}

/**
 * Removes the failed events among those of a part, so that they are not rated again, and returns them.
 *
 * @throws StaleError if one of them is not failed any more
 */
async function takeFailed(
  tx: Tx,
  { project }: OpenCorrection,
  events: readonly CorrectedEvent[],
): Promise<FailedEvent[]> {
  const failed = events.flatMap(({ former }) => (former.status === 'failed' ? [former] : []));
  const requests = failed.map((row) => ({ ...project, idHex: idOf(row) }));
  const taken = await takeFailedEvents(tx, requests);
  return requests.map((request, index) => {
    const event = taken.get(request);
    if (event === undefined || event.attempt !== failed[index]?.attempt) throw changed(request.idHex);
    return event;
  });
}

function changed(eventId: string): StaleError {
  return new StaleError(`The event evt_${eventId} was changed after the plan.`);
}

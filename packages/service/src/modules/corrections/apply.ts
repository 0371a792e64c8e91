import { setImmediate as nextTurn } from 'node:timers/promises';
import { present } from '../../kernel/present.js';
import type { ProjectDb, Tx } from '../../platform/postgres/index.js';
import { type CorrectedEvent, type FailedEvent, takeFailedEvents } from '../pipeline/index.js';
import type { EventRevisions } from '../usage/index.js';
import { ChangedEventError } from './changed-event.js';
import { idOf, type OpenCorrection, type StepResult } from './correction.js';
import { type EngineDeps, type PartInStep, revisionOf } from './engine.js';
import { voided, withOutcome } from './outcome.js';
import { partStep, TURN_EVENTS } from './part-step.js';
import * as parts from './part-store.js';
import { decodeOutcomes } from './stored-outcomes.js';

/** Applies the next part of a correction, exactly as it was planned. */
export function applyStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  return partStep(deps, correction, {
    verb: 'apply',
    eventsOf: async (part, revisions) => {
      if (part === undefined) throw stale('The next events of the plan are not kept any more.');
      return plannedEvents(correction, part, revisions);
    },
    record: (step) => recordApplied(correction, step),
    checkEnd: async (db) => {
      // Counters may have moved: what was planned and what was posted are both shown.
      if (correction.counters === 'current' || (await parts.isAppliedAsPlanned(db, correction.id))) return;
      throw new Error(`correction ${correction.id} would not change what it has planned`);
    },
  });
}

/** @throws ChangedEventError if the revision in force is not the one that was planned for */
async function plannedEvents(
  { action }: OpenCorrection,
  { ids, formerRevisions, formerAttempts, outcomes: encoded }: parts.CorrectionPart,
  revisions: EventRevisions,
): Promise<CorrectedEvent[] | 'wait'> {
  const outcomes = action === 'void' ? undefined : await decodeOutcomes(encoded);
  const events: CorrectedEvent[] = [];
  for (const [index, eventId] of ids.entries()) {
    if (index % TURN_EVENTS === TURN_EVENTS - 1) await nextTurn();
    const former = revisions.latest(eventId);
    if (former === undefined) throw stale(`The event evt_${eventId} is not kept any more.`);
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

async function recordApplied(
  correction: OpenCorrection,
  { tx, db, part, events }: PartInStep,
): Promise<void> {
  if (part.ids.length !== events.length) {
    throw new Error(`${part.ids.length} events were planned, not ${events.length}`);
  }
  const formerCorrections = await takeRevisions(db, correction.id, part);
  const failedEvents = await takeFailed(tx, correction, events);
  await parts.markApplied(db, correction.id, part.no, { formerCorrections, failedEvents });
}

/**
 * Records the next revisions of a part's events; returns the corrections that made those in force until now.
 *
 * @throws ChangedEventError if an event has another revision than the one that was planned for
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
  if ((await parts.recordRevisions(db, next)) !== ids.length) throw stale('An event was changed.');
  return ids.map((eventId) => recorded.get(eventId)?.correctionId ?? '');
}

/**
 * Removes the failed events among those of a part, so that they are not rated again, and returns them.
 *
 * @throws ChangedEventError if one of them is not failed any more
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

function changed(eventId: string): ChangedEventError {
  return stale(`The event evt_${eventId} was changed after the plan.`);
}

function stale(problem: string): ChangedEventError {
  return new ChangedEventError('correction_stale', problem);
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { present } from '../../kernel/present.js';
import { ProjectDb } from '../../platform/postgres/index.js';
import { type CorrectedEvent, insertFailedEvents } from '../pipeline/index.js';
import type { EventRevisions } from '../usage/index.js';
import { ChangedEventError } from './changed-event.js';
import { idOf, type OpenCorrection, type StepResult } from './correction.js';
import { type EngineDeps, latest, type PartInStep, revisionOf } from './engine.js';
import { partStep, TURN_EVENTS } from './part-step.js';
import * as parts from './part-store.js';

/** Gives the events of the next part their former revisions again, by counter-entries. */
export function revertStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  return partStep(deps, correction, {
    verb: 'revert',
    // History that was deleted stays as it was.
    eventsOf: async (part, revisions) =>
      part?.isApplied === true ? await formerEvents(deps, correction, part, revisions) : [],
    record: (step) => recordReverted(correction, step),
  });
}

/** Returns the events of a part, each with the revision that was in force before; `wait` until ClickHouse has them. */
async function formerEvents(
  deps: EngineDeps,
  { project }: OpenCorrection,
  { ids, formerRevisions }: parts.CorrectionPart,
  revisions: EventRevisions,
): Promise<CorrectedEvent[] | 'wait'> {
  const recorded = await parts.latestRevisions(new ProjectDb(deps.postgres.db, project), ids);
  const events: CorrectedEvent[] = [];
  for (const [index, eventId] of ids.entries()) {
    if (index % TURN_EVENTS === TURN_EVENTS - 1) await nextTurn();
    const rows = revisions.of(eventId);
    // Not kept any more.
    if (rows === undefined) continue;
    const former = latest(rows);
    if (revisionOf(former) !== recorded.get(eventId)?.revision) return 'wait';
    const next = rows.find((row) => revisionOf(row) === formerRevisions[index]);
    events.push({ former, next: present(next, `the former revision of evt_${eventId}`) });
  }
  return events;
}

/** Failed events that are given back name the correction: their next attempt replaces the revision of the revert. */
async function recordReverted({ id }: OpenCorrection, { tx, db, part, events }: PartInStep): Promise<void> {
  await takeBackRevisions(db, id, part, events);
  const reverted = new Set(events.map(({ former }) => idOf(former)));
  const given = part.failedEvents.filter(({ idHex }) => reverted.has(idHex));
  await insertFailedEvents(
    tx,
    given.map((event) => ({ ...event, correctionId: id })),
  );
  await parts.markReverted(db, id, part.no);
}

/** @throws ChangedEventError if a later correction has changed one of the events */
async function takeBackRevisions(
  db: ProjectDb,
  correctionId: string,
  { ids, formerCorrections }: parts.CorrectionPart,
  events: readonly CorrectedEvent[],
): Promise<void> {
  const reverted = events.map(({ former }) => idOf(former));
  const recorded = await parts.latestRevisions(db, reverted, 'locked');
  const madeBy = new Map(ids.map((eventId, index) => [eventId, formerCorrections?.[index]]));
  const next = reverted.map((eventId, index) => {
    const known = recorded.get(eventId);
    const { former } = present(events[index], 'the revision in force of an event');
    if (known?.correctionId !== correctionId || known.revision !== revisionOf(former)) {
      const problem = `A later correction has changed the event evt_${eventId}.`;
      throw new ChangedEventError('correction_superseded', problem, 'Revert that one first.');
    }
    const correction = present(madeBy.get(eventId), 'the former correction of an event');
    return { id: eventId, revision: known.revision + 1, correctionId: correction };
  });
  if ((await parts.recordRevisions(db, next)) !== next.length) {
    throw new Error('the revisions of locked events have changed');
  }
}

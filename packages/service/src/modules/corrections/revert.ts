import { present } from '../../kernel/present.js';
import { ProjectDb } from '../../platform/postgres/index.js';
import {
  type CorrectedEvent,
  insertFailedEvents,
  mayWriteCorrections,
  writeCorrectedRows,
} from '../pipeline/index.js';
import { auditEnd } from './audit.js';
import { EventChanges } from './changes.js';
import { idOf, type OpenCorrection, type StepResult, SupersededError } from './correction.js';
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
import * as parts from './part-store.js';

/** Gives the events of the next part their former revisions again, by counter-entries. */
export async function revertStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  const { id, nextPart, project } = correction;
  const outside = new ProjectDb(deps.postgres.db, project);
  const part = present(await parts.readPart(outside, id, nextPart), `part ${nextPart} of correction ${id}`);
  const found = part.isApplied ? await formerEvents(deps, correction, part) : [];
  if (found === 'wait') return 'wait';
  try {
    return await inStep(deps, correction, (tx, db) =>
      revertPart(deps, correction, { tx, db, part, events: found }),
    );
  } catch (error) {
    if (!(error instanceof SupersededError)) throw error;
    await inStep(deps, correction, (_tx, db) =>
      changeCorrection(db, id, {
        status: 'stale',
        failureCode: 'correction_superseded',
        failureMessage: `${error.message} Events still in force: ${correction.eventsApplied}.`,
      }),
    );
    return 'done';
  }
}

/** Returns the events of a part, each with the revision that was in force before; `wait` until ClickHouse has them. */
async function formerEvents(
  deps: EngineDeps,
  { project }: OpenCorrection,
  { ids, formerRevisions }: parts.CorrectionPart,
): Promise<CorrectedEvent[] | 'wait'> {
  const recorded = await parts.latestRevisions(new ProjectDb(deps.postgres.db, project), ids);
  const revisions = await revisionsOf(await historyOf(deps, project), ids);
  const events: CorrectedEvent[] = [];
  for (const [index, eventId] of ids.entries()) {
    const rows = revisions.get(eventId);
    // Not kept any more: history that has expired stays as it was.
    if (rows === undefined) continue;
    const former = latest(rows);
    if (revisionOf(former) !== recorded.get(eventId)?.revision) return 'wait';
    const next = rows.find((row) => revisionOf(row) === formerRevisions[index]);
    events.push({ former, next: present(next, `the former revision of evt_${eventId}`) });
  }
  return events;
}

async function revertPart(
  deps: EngineDeps,
  correction: OpenCorrection,
  { tx, db, part, events }: PartInStep,
): Promise<StepResult> {
  if (!(await mayWriteCorrections(tx))) return 'wait';
  const { id, project, partCount } = correction;
  const { no } = part;
  const nowMs = deps.clock.nowMs();
  if (events.length > 0) {
    await takeBackRevisions(db, id, part, events);
    await insertFailedEvents(tx, part.failedEvents);
    await writeCorrectedRows(tx, deps, { project, correctionId: id, nowMs }, events);
    const changes = new EventChanges();
    for (const { former, next } of events) changes.add(former, next, former);
    await parts.addChangedTotals(db, id, 'reverted', changes.totals());
    await parts.markReverted(db, id, no);
  }
  const eventsApplied = correction.eventsApplied - events.length;
  const isLast = no + 1 === partCount;
  await changeCorrection(db, id, {
    nextPart: no + 1,
    eventsApplied,
    ...(isLast ? { status: 'reverted', revertedAtMs: nowMs } : {}),
  });
  if (isLast) {
    await auditEnd(tx, db, correction, {
      verb: 'revert',
      actor: correction.revertedBy ?? correction.createdBy,
      events: eventsApplied,
      nowMs,
    });
  }
  return 'done';
}

/** @throws SupersededError if a later correction has changed one of the events */
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
      throw new SupersededError(`A later correction has changed the event evt_${eventId}.`);
    }
    const correction = present(madeBy.get(eventId), 'the former correction of an event');
    return { id: eventId, revision: known.revision + 1, correctionId: correction };
  });
  if ((await parts.recordRevisions(db, next)) !== next.length) {
    throw new Error('the revisions of locked events have changed');
  }
}

import { CORRECTION_PLAN_DAYS, type Correction, type CorrectionSummary } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import { count, dateTime } from '../../format.js';

type StatedCorrection = Pick<
  Correction,
  'status' | 'events_matched' | 'events_changed' | 'events_failed' | 'applied' | 'created_at' | 'planned_at'
>;

/** Returns the state of a correction in a sentence. */
export function stateText(correction: StatedCorrection): string {
  const { status, events_matched, events_changed, applied, created_at, planned_at } = correction;
  const changed = eventsText(events_changed);
  const would = `${count(events_changed)} of ${eventsText(events_matched)} would change.`;
  const until = dateTime((planned_at ?? created_at) + CORRECTION_PLAN_DAYS * DAY_S, 'UTC');
  switch (status) {
    case 'planning':
      return 'Calculating what would change. Nothing changes yet.';
    case 'planned':
      return `${would} Nothing has changed yet. This plan can be applied until ${until} UTC.`;
    case 'applying':
      return `Changing ${changed}.`;
    case 'applied':
      return events_changed === 0
        ? unchangedText(correction)
        : `${changed} ${events_changed === 1 ? 'was' : 'were'} changed.`;
    case 'reverting':
      return 'Giving the events their former results again.';
    case 'reverted':
      return 'The events have their former results again.';
    case 'stale':
      return `It has stopped: ${count(applied.events)} of ${eventsText(events_changed)} ${applied.events === 1 ? 'is' : 'are'} changed.`;
    case 'failed':
      return 'Nothing has changed.';
    case 'expired':
      return `${would} The plan was deleted or not applied in time. Nothing has changed.`;
  }
}

/** Returns how many events a correction changes, and of one that has stopped or is at work, how many it has done. */
export function eventCountText({
  status,
  events_changed: changed,
  progress,
}: Pick<CorrectionSummary, 'status' | 'events_changed' | 'progress'>): string {
  const isPart = status === 'stale' || status === 'applying' || status === 'reverting';
  return isPart ? `${count(progress.events_done)} of ${count(changed)}` : count(changed);
}

export function eventsText(number: number): string {
  return `${count(number)} ${number === 1 ? 'event' : 'events'}`;
}

/** Events that would fail keep their results as well, and are listed below this sentence. */
function unchangedText({ events_matched, events_failed }: StatedCorrection): string {
  const failed = events_failed.reduce((sum, each) => sum + each.count, 0);
  const same = events_matched - failed;
  if (events_matched === 0) return 'No event has changed: none matched.';
  if (same === 0) return 'No event has changed.';
  return `No event has changed: the ${same === 1 ? 'result' : 'results'} of ${eventsText(same)} would be the same.`;
}

import type { Clock } from '../../kernel/clock.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { type Postgres, transaction } from '../../platform/postgres/index.js';
import { BatchCounters, type CounterPeriod, type EventToCount } from '../counters/index.js';
import { BatchPosting, createWorkerCatalog } from '../limits/index.js';
import { type CountingEvent, dimensionTexts } from '../rules/index.js';
import type { StoredInput } from '../usage/index.js';

/** A stored event whose price depends on counters by the tested rules. */
export interface TrialCounting {
  readonly event: StoredInput;
  readonly counting: CountingEvent;
}

/** Returns the periods of the counted items of each event; undefined for an item without a counter. */
export type FindPeriods = (
  events: readonly TrialCounting[],
) => Promise<readonly (readonly (CounterPeriod | undefined)[])[]>;

/**
 * Finds periods as a worker would now: by stored periods, and by the routes of the subjects. An event that was posted
 * keeps its account, as long as its subject is the same. Takes no locks.
 */
export function periodFinder(
  { postgres, clock }: { readonly postgres: Postgres; readonly clock: Clock },
  project: ProjectRef,
): FindPeriods {
  const catalog = createWorkerCatalog();
  return (events) =>
    transaction(postgres, async (tx) => {
      const usages = events.map(usageOf);
      const posting = new BatchPosting(tx, catalog, clock.nowMs());
      const prepared = await posting.prepare([{ scope: project, events: usages }]);
      const toCount = usages.map((usage, index): EventToCount => {
        const { event, counting } = events[index] as TrialCounting;
        const route = prepared.routeOf(project, usage);
        const { subject, occurredAt } = usage;
        const isSame = event.subject_type === subject?.type && event.subject_id === subject.id;
        const isPosted = event.posting === 'posted' && isSame;
        const accountId = isPosted ? event.account_id : (route?.account.id ?? '');
        return { scope: project, subject, occurredAt, accountId, settings: route?.settings, counting };
      });
      const counters = new BatchCounters(tx, { kind: 'read' });
      const counted = await counters.prepare(toCount);
      return counted.map(({ periods }) => periods);
    });
}

function usageOf({ event, counting: { subject, dimensions } }: TrialCounting) {
  const texts = dimensionTexts(dimensions);
  return { occurredAt: event.occurred_at_s, subject, dimensions: texts, items: [], budgetLeaseId: '' };
}

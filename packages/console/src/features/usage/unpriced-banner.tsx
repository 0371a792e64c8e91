import { useMay } from '../../api/session.js';
import { count } from '../../format.js';
import { useProject } from '../../project.js';
import { classes } from '../../ui/classes.js';
import { InlineLink } from '../../ui/inline-link.js';
import { useIngestStatus, useUnpriced } from './api.js';
import type { EventQuery } from './filters.js';

/** Upper bound of the metrics in the banner. */
const METRICS_SHOWN = 3;

/**
 * Warns about events with charge items without a price, in the time range. If the range has no start, it shows
 * the project's total, which the service keeps.
 */
export function UnpricedBanner({ eventQuery }: { readonly eventQuery: EventQuery }) {
  return useMay('usage:read') ? <CountedBanner eventQuery={eventQuery} /> : null;
}

function CountedBanner({ eventQuery }: { readonly eventQuery: EventQuery }) {
  const { id } = useProject();
  const mayCorrect = useMay('usage:correct');
  const { data: status } = useIngestStatus();
  const { data: unpriced, isPlaceholderData } = useUnpriced(eventQuery);
  const isRange = eventQuery.from !== undefined;
  const isOld = isRange && isPlaceholderData;
  const events = isRange ? unpriced?.event_count : status?.unpriced_count;
  if (events === undefined || events === 0) return null;
  const metrics = isRange ? (unpriced?.metrics ?? []).map(({ metric }) => metric) : [];
  const more = metrics.length - METRICS_SHOWN;
  const correction = `${addressOf(eventQuery)}&correct=matching`;
  return (
    <section
      aria-label="Usage without a price"
      aria-busy={isOld}
      className={classes(
        'flex flex-col gap-1 rounded-lg bg-warn-soft px-3.5 py-2 text-[13px] text-warn',
        isOld && 'opacity-50',
      )}
    >
      <p className="wrap-anywhere">
        <strong className="font-semibold">
          {count(events)} {events === 1 ? 'event' : 'events'} {isRange ? 'in this range' : 'in this project'}{' '}
          {events === 1 ? 'has' : 'have'} charge items without a price
        </strong>
        {metrics.length > 0 && (
          <>
            {' '}
            ({metrics.slice(0, METRICS_SHOWN).join(', ')}
            {more > 0 && ` and ${count(more)} more`})
          </>
        )}
        . {events === 1 ? 'It is' : 'They are'} charged 0 for{' '}
        {metrics.length === 1 ? 'this metric' : 'these items'}.
      </p>
      <p className="text-ink-soft">
        <InlineLink href={`/p/${id}/usage?${addressOf(eventQuery)}`}>Show them</InlineLink>, or{' '}
        <InlineLink href={`/p/${id}/rules`}>add a price</InlineLink> that takes effect before these events
        {mayCorrect ? (
          <>
            {' '}
            and <InlineLink href={`/p/${id}/usage?${correction}`}>rate them again</InlineLink>
          </>
        ) : (
          ' and have them rated again by somebody with the permission usage:correct'
        )}
        . To hold back events until they have a price, set the extractor rule set to fail them. You can
        reprocess failed events later.
      </p>
    </section>
  );
}

/** The usage page with the same filters, for unpriced events only. */
function addressOf(eventQuery: EventQuery): string {
  const asked = Object.entries({ ...eventQuery, pricing_source: 'unpriced' });
  return new URLSearchParams(asked.map(([name, value]) => [name, String(value)])).toString();
}

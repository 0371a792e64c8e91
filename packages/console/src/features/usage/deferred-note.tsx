import { duration } from '../../distance.js';
import { count } from '../../format.js';
import { useProject } from '../../project.js';
import { InlineLink } from '../../ui/inline-link.js';
import { useIngestStatus } from './api.js';

/** The number of deferred events, and the wait of the oldest one. */
export function DeferredNote() {
  const { id } = useProject();
  const { data } = useIngestStatus();
  if (data === undefined || data.deferred_count === 0) return null;
  const isOne = data.deferred_count === 1;
  return (
    <p className="rounded-lg bg-warn-soft px-3.5 py-2 text-[13px] text-warn">
      <strong className="font-semibold">
        {count(data.deferred_count)} accepted {isOne ? 'event is' : 'events are'} waiting to be rated
      </strong>
      , {isOne ? '' : 'the oldest '}for {duration(data.deferred_lag_seconds)}, because the events of your
      projects take long to rate.{' '}
      <span className="text-ink-soft">
        No event is lost. Simpler expressions in the <InlineLink href={`/p/${id}/rules`}>rules</InlineLink>{' '}
        shorten the wait.
      </span>
    </p>
  );
}

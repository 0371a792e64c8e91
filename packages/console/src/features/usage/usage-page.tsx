import { Download, Radio } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { type AddressChanges, useAddress } from '../../address.js';
import { useMay } from '../../api/session.js';
import { nowS } from '../../clock.js';
import { count } from '../../format.js';
import { useProjectClient } from '../../project.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button } from '../../ui/button.js';
import { Menu } from '../../ui/menu.js';
import { CorrectEventsDialog } from '../corrections/correct-events-dialog.js';
import { useIngestStatus } from './api.js';
import { DeferredNote } from './deferred-note.js';
import { EventFilterBar } from './event-filter-bar.js';
import { EventList } from './event-list.js';
import { Failures } from './failures.js';
import {
  type EventQuery,
  eventQueryOf,
  eventsQuery,
  filterBounds,
  filtersOf,
  isOpenEnded,
} from './filters.js';
import { UnpricedBanner } from './unpriced-banner.js';
import { UsageSum } from './usage-sum.js';

/**
 * The events of the project. The filters and the opened event are in the address, so that a link shows the
 * same view.
 */
export function UsagePage({ tabs }: { readonly tabs: ReactNode }) {
  const [parameters, changeAddress] = useAddress();
  const [wantsLive, setWantsLive] = useState(false);
  const mayCorrect = useMay('usage:correct');
  const filters = filtersOf(parameters);
  const asked = JSON.stringify(filters);
  // A relative time range is resolved once per filter, so that all pages have the same range.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the filters
  const eventQuery = useMemo(() => eventQueryOf(filters, nowS()), [asked]);
  const change = (changes: AddressChanges) => changeAddress(changes, { replace: true });
  const isLive = wantsLive && isOpenEnded(filters);
  return (
    <>
      <PageHeader
        title="Usage"
        actions={
          <>
            {mayCorrect && <Button onClick={() => change({ correct: 'matching' })}>Correct…</Button>}
            <ExportMenu eventQuery={eventQuery} />
            <Button
              aria-pressed={isLive}
              disabled={!isOpenEnded(filters)}
              title={isOpenEnded(filters) ? undefined : 'A time range with an end gets no new events.'}
              onClick={() => setWantsLive(!wantsLive)}
            >
              <Radio size={14} className={isLive ? 'animate-pulse text-good' : 'text-ink-faint'} />
              {isLive ? 'Following' : 'Follow'}
            </Button>
          </>
        }
      />
      {tabs}
      <div className="flex flex-col gap-4 px-4 pb-10 sm:px-6">
        <EventFilterBar filters={filters} onChange={change} />
        {filters.status === 'failed' ? (
          <Failures
            filters={filters}
            eventQuery={eventQuery}
            onCode={(failure_code) => change({ failure_code })}
          />
        ) : (
          <FailedNote onShow={() => change({ status: 'failed' })} />
        )}
        <DeferredNote />
        {filters.status !== 'failed' && <UnpricedBanner eventQuery={eventQuery} />}
        <UsageSum eventQuery={eventQuery} isLive={isLive} />
        <EventList
          eventQuery={eventQuery}
          isFiltered={Object.keys(filters).length > 0}
          isLive={isLive}
          chosenId={parameters.get('event')}
          onChoose={(event) => change({ event })}
        />
        {mayCorrect && (
          <CorrectEventsDialog
            eventQuery={eventQuery}
            isOpen={parameters.get('correct') !== null}
            onClose={() => change({ correct: undefined })}
          />
        )}
      </div>
    </>
  );
}

function ExportMenu({ eventQuery }: { readonly eventQuery: EventQuery }) {
  const { usage } = useProjectClient();
  const download = (format: 'csv' | 'ndjson') => {
    const link = document.createElement('a');
    // An export has two ends.
    link.href = usage.exportUrl({ ...eventsQuery(eventQuery), ...filterBounds(eventQuery), format });
    link.download = `usage-events.${format}`;
    link.click();
  };
  return (
    <Menu
      trigger={
        <Button>
          <Download size={14} />
          Export
        </Button>
      }
      items={[
        { label: 'CSV, one line per charge item', onSelect: () => download('csv') },
        { label: 'NDJSON, one line per event', onSelect: () => download('ndjson') },
      ]}
    />
  );
}

/** Warns about failed events of the project. */
function FailedNote({ onShow }: { readonly onShow: () => void }) {
  const { data } = useIngestStatus();
  if (data === undefined || data.failed === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg bg-bad-soft px-3.5 py-2 text-[13px] text-bad">
      {count(data.failed)} {data.failed === 1 ? 'event failed and is' : 'events failed and are'} not charged.
      <Button size="small" className="ml-auto" onClick={onShow}>
        Show reasons
      </Button>
    </p>
  );
}

import { type LimitCrossing, USAGE_RECOVERED_EVENT } from '@tollgate/contract';
import { useState } from 'react';
import { Amount } from '../../../ui/amount.js';
import { Badge } from '../../../ui/badge.js';
import { Moment } from '../../../ui/moment.js';
import { Pager } from '../../../ui/pager.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { type Column, Table } from '../../../ui/table.js';
import { useCrossings } from './api.js';
import { limitName } from './gauge.js';
import type { Subject } from './subject.js';

/** Recent alerts of a subject: the thresholds that it has reached, and fallen below again. */
export function Crossings({ subject, timezone }: { readonly subject: Subject; readonly timezone: string }) {
  const [offset, setOffset] = useState(0);
  const crossings = useCrossings(subject, offset);
  return (
    <section aria-label="Recent alerts" className="flex flex-col gap-3">
      <h2 className="text-[15px] font-semibold">
        Recent alerts
        <span className="ml-2 text-xs font-normal text-ink-faint">
          of this subject, last 30 days, also sent as webhooks
        </span>
      </h2>
      {crossings.isError && <ReadFailure of={crossings} />}
      {crossings.isPending && <Skeleton className="h-12" />}
      {crossings.data?.total_count === 0 && (
        <p className="text-[13px] text-ink-soft">No alerts in the last 30 days.</p>
      )}
      {crossings.data !== undefined && crossings.data.total_count > 0 && (
        <>
          <Table
            label="Recent alerts"
            columns={columnsFor(timezone)}
            rows={inOrder(crossings.data.crossings)}
            keyOf={({ id }) => id}
          />
          <Pager page={crossings.data} onOffset={setOffset} />
        </>
      )}
    </section>
  );
}

/** Newest first; of crossings at the same time, the highest threshold first. */
function inOrder(crossings: readonly LimitCrossing[]): LimitCrossing[] {
  return crossings.toSorted(
    (a, b) => b.crossed_at - a.crossed_at || b.threshold_percent - a.threshold_percent,
  );
}

function Threshold({ type, threshold_percent }: LimitCrossing) {
  if (type === USAGE_RECOVERED_EVENT) return <Badge tone="good">Below {threshold_percent} %</Badge>;
  return <Badge tone={threshold_percent === 100 ? 'bad' : 'warn'}>{threshold_percent} %</Badge>;
}

function columnsFor(timezone: string): readonly Column<LimitCrossing>[] {
  return [
    { title: 'When', cell: ({ crossed_at }) => <Moment at={crossed_at} timezone={timezone} /> },
    {
      title: 'Threshold',
      cell: (crossing) => <Threshold {...crossing} />,
    },
    { title: 'Limit', cell: ({ limit }) => limitName(limit) },
    {
      title: 'Used at that time',
      isNumber: true,
      cell: ({ limit: { used_amount, currency } }) => <Amount value={used_amount} currency={currency} />,
    },
    {
      title: 'Limit amount',
      isNumber: true,
      cell: ({ limit: { limit_amount, currency } }) => <Amount value={limit_amount} currency={currency} />,
    },
    { title: 'Event', cell: ({ type }) => <code className="font-mono text-xs">{type}</code> },
  ];
}

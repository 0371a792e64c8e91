import type { LimitBacktest, LimitBacktestResult } from '@tollgate/contract';
import { useState } from 'react';
import { count, dateTime } from '../../../format.js';
import { useProject } from '../../../project.js';
import { Amount } from '../../../ui/amount.js';
import { BacktestProgress } from '../../../ui/backtest-table.js';
import { Badge } from '../../../ui/badge.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { Pager } from '../../../ui/pager.js';
import { type Column, Table } from '../../../ui/table.js';
import { PAGE_SIZE } from '../query-key.js';
import { subjectHref, subjectName, subjectOf } from '../subjects/subject.js';

/** One backtest of a plan: its progress, then its results. */
export function PlanBacktestReport({
  backtest,
  isCancelling,
  onCancel,
}: {
  readonly backtest: LimitBacktest;
  readonly isCancelling: boolean;
  readonly onCancel: () => void;
}) {
  const { status, progress, failure, results, truncated, counted_until: until } = backtest;
  const { events_done: done } = progress;
  const [offset, setOffset] = useState(0);
  const { id: projectId } = useProject();
  if (status === 'running')
    return <BacktestProgress label="Events counted" {...{ progress, isCancelling, onCancel }} />;
  if (status === 'cancelled') return <p className="text-[13px] text-ink-soft">The backtest was cancelled.</p>;
  if (failure !== null) {
    return (
      <p role="alert" className="rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad">
        {failure.message}
      </p>
    );
  }
  const page = { offset, limit: PAGE_SIZE, total_count: results.length };
  return (
    <>
      {truncated && until !== null && (
        <p role="note" className="text-[13px] text-warn">
          Results are complete until {dateTime(until, 'UTC')} UTC. Choose a shorter time for more.
        </p>
      )}
      {results.length === 0 ? (
        <p className="text-[13px] text-ink-soft">
          {count(done)} {done === 1 ? 'event' : 'events'} counted. Nobody would have been warned or blocked.
        </p>
      ) : (
        <Table
          label="Backtest results"
          columns={columnsFor(projectId)}
          rows={results.slice(offset, offset + PAGE_SIZE)}
          keyOf={keyOf}
        />
      )}
      <Pager page={page} onOffset={setOffset} />
    </>
  );
}

function keyOf(result: LimitBacktestResult): string {
  const { subject_type, subject_id, limit_key, window_id, threshold_percent, raw_event_id } = result;
  return [subject_type, subject_id, limit_key, window_id, threshold_percent, raw_event_id].join(' ');
}

function columnsFor(projectId: string): readonly Column<LimitBacktestResult>[] {
  return [
    {
      title: 'When (UTC)',
      cell: ({ at }) => <span className="whitespace-nowrap">{dateTime(at, 'UTC')}</span>,
    },
    {
      title: 'Subject',
      cell: (result) => {
        const subject = subjectOf(result);
        return <InlineLink href={subjectHref(projectId, subject)}>{subjectName(subject)}</InlineLink>;
      },
    },
    {
      title: 'Outcome',
      cell: ({ outcome }) => <Badge tone={outcome === 'blocked' ? 'bad' : 'warn'}>{outcome}</Badge>,
    },
    { title: 'Limit', cell: ({ limit_key }) => limit_key },
    { title: 'Threshold', isNumber: true, cell: ({ threshold_percent }) => `${threshold_percent} %` },
    { title: 'Used', isNumber: true, cell: ({ used_amount }) => <Amount value={used_amount} /> },
    { title: 'Limit amount', isNumber: true, cell: ({ limit_amount }) => <Amount value={limit_amount} /> },
    {
      title: 'Event',
      cell: ({ raw_event_id: eventId }) => (
        <InlineLink href={`/p/${projectId}/usage?event=${eventId}`}>Show event</InlineLink>
      ),
    },
  ];
}

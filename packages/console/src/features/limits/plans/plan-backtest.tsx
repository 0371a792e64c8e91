import type { LimitBacktest, LimitBacktestResult } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { nowS } from '../../../clock.js';
import { count, dateTime } from '../../../format.js';
import { useProject } from '../../../project.js';
import { Amount } from '../../../ui/amount.js';
import { Badge } from '../../../ui/badge.js';
import { Button } from '../../../ui/button.js';
import { Field, Select } from '../../../ui/field.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { Pager } from '../../../ui/pager.js';
import { EventProgress } from '../../../ui/progress-bar.js';
import { FailureNote, ReadFailure } from '../../../ui/states.js';
import { type Column, Table } from '../../../ui/table.js';
import { PAGE_SIZE } from '../query-key.js';
import { subjectHref, subjectName, subjectOf } from '../subjects/subject.js';
import { usePlanBacktest, useStartPlanBacktest } from './api.js';

const RANGES = [
  { value: '86400', label: 'Last 24 hours' },
  { value: '604800', label: 'Last 7 days' },
  { value: '2592000', label: 'Last 30 days' },
  { value: '7776000', label: 'Last 90 days' },
] as const;
type Range = (typeof RANGES)[number]['value'];

/** Counts past usage by the rules of a plan: who would have been warned or blocked. */
export function PlanBacktest({ planId, isDraft }: { readonly planId: string; readonly isDraft: boolean }) {
  const [range, setRange] = useState<Range>('604800');
  const [shownId, setShownId] = useState<string>();
  const start = useStartPlanBacktest(planId);
  const shown = usePlanBacktest(planId, shownId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const to = nowS() + 1;
    start.mutate({ from: to - Number(range), to }, { onSuccess: ({ id }) => setShownId(id) });
  };
  return (
    <section aria-label="Backtest" className="flex flex-col gap-3">
      <h2 className="text-[15px] font-semibold">
        Backtest
        <span className="ml-2 text-xs font-normal text-ink-faint">
          {isDraft ? 'of the draft' : 'of the published rules'}, on past usage
        </span>
      </h2>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        <Field label="Time range">
          {(control) => <Select {...control} options={RANGES} value={range} onChange={setRange} />}
        </Field>
        <Button type="submit" isBusy={start.isPending || shown.data?.status === 'running'}>
          Backtest
        </Button>
      </form>
      <p className="max-w-prose text-[13px] text-ink-soft">
        Shows which subjects of this plan would have been warned or blocked, and when. Nothing is changed.
      </p>
      {start.isError && <FailureNote error={start.error} />}
      {shown.isError && <ReadFailure of={shown} />}
      {shown.data !== undefined && <Found key={shown.data.id} backtest={shown.data} />}
    </section>
  );
}

function Found({ backtest }: { readonly backtest: LimitBacktest }) {
  const { status, progress, failure, results, truncated, counted_until: until } = backtest;
  const { events_done: done } = progress;
  const [offset, setOffset] = useState(0);
  const { id: projectId } = useProject();
  if (status === 'running') {
    return (
      <div className="flex flex-wrap items-center gap-3">
        <EventProgress label="Events counted" progress={progress} />
      </div>
    );
  }
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

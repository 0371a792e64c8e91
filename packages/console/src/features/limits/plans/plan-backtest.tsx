import { type FormEvent, useState } from 'react';
import { nowS } from '../../../clock.js';
import { dateMinute } from '../../../format.js';
import { BacktestTable } from '../../../ui/backtest-table.js';
import { Button } from '../../../ui/button.js';
import { Field, Select } from '../../../ui/field.js';
import { FailureNote, ReadFailure, Skeleton } from '../../../ui/states.js';
import {
  type PlanBacktestSummary,
  usePlanBacktest,
  usePlanBacktestChanges,
  usePlanBacktests,
} from './api.js';
import { PlanBacktestReport } from './plan-backtest-report.js';

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
  const { start, cancel } = usePlanBacktestChanges(planId);
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
      {cancel.isError && <FailureNote error={cancel.error} />}
      {shown.isError && <ReadFailure of={shown} />}
      {shownId !== undefined && shown.isPending && <Skeleton className="h-24" />}
      {shown.data !== undefined && (
        <PlanBacktestReport
          key={shown.data.id}
          backtest={shown.data}
          isCancelling={cancel.isPending}
          onCancel={() => shownId !== undefined && cancel.mutate(shownId)}
        />
      )}
      <EarlierBacktests planId={planId} shownId={shownId} onShow={setShownId} />
    </section>
  );
}

/** The backtests of the plan of the last week; nothing before the first. */
function EarlierBacktests({
  planId,
  ...choice
}: {
  readonly planId: string;
  readonly shownId: string | undefined;
  readonly onShow: (id: string) => void;
}) {
  const backtests = usePlanBacktests(planId);
  if (backtests.isError) return <ReadFailure of={backtests} />;
  if (backtests.data === undefined || backtests.data.length === 0) return null;
  return (
    <section aria-label="Backtests of this plan" className="mt-2">
      <h3 className="mb-2 text-[13px] font-semibold">Backtests of this plan</h3>
      <BacktestTable
        backtests={backtests.data}
        columns={[
          { title: 'Rules', cell: revisionText },
          { title: 'Usage (UTC)', cell: ({ request }) => <TimeRange request={request} /> },
        ]}
        {...choice}
      />
    </section>
  );
}

function revisionText({ revision }: PlanBacktestSummary): string {
  return revision === 0 ? 'Draft' : `Revision ${revision}`;
}

function TimeRange({ request: { from, to, subjects } }: Pick<PlanBacktestSummary, 'request'>) {
  return (
    <span className="whitespace-nowrap">
      {dateMinute(from, 'UTC')} – {dateMinute(to, 'UTC')}
      {subjects !== undefined && `, ${subjects.length} ${subjects.length === 1 ? 'subject' : 'subjects'}`}
    </span>
  );
}

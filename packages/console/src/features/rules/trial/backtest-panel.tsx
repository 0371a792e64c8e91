import { type FormEvent, useState } from 'react';
import { useMay } from '../../../api/session.js';
import { Button } from '../../../ui/button.js';
import { Field, Select } from '../../../ui/field.js';
import { EmptyState, FailureNote, ReadFailure, Skeleton } from '../../../ui/states.js';
import { useBacktest, useBacktestChanges } from './api.js';
import { BacktestList } from './backtest-list.js';
import { BacktestReport } from './backtest-report.js';
import { backtestBody, PERIODS, type Period, SHARES, type Share } from './backtest-request.js';
import type { PanelProps } from './test-panel.js';

/** What stored usage would have come to by the draft. */
export function BacktestPanel(props: PanelProps) {
  const mayRead = useMay('usage:read');
  if (!mayRead) {
    return (
      <EmptyState title="Not with this key">
        A backtest reads stored usage, which needs the permission usage:read.
      </EmptyState>
    );
  }
  return <Backtests {...props} />;
}

function Backtests({ kind, ruleSetId, draft }: PanelProps) {
  const [shownId, setShownId] = useState<string>();
  const { start, cancel } = useBacktestChanges();
  const shown = useBacktest(shownId);
  const [period, setPeriod] = useState<Period>('604800');
  const [share, setShare] = useState<Share>('1');
  const body = backtestBody({ kind, ruleSetId, draft }, period, share);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (body !== undefined) start.mutate(body, { onSuccess: ({ id }) => setShownId(id) });
  };
  const isRunning = shown.data?.status === 'running';
  return (
    <div className="flex flex-col gap-6">
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        <Field label="Usage of">
          {(control) => <Select {...control} options={PERIODS} value={period} onChange={setPeriod} />}
        </Field>
        <Field label="Events">
          {(control) => <Select {...control} options={SHARES} value={share} onChange={setShare} />}
        </Field>
        <Button
          type="submit"
          look="primary"
          isBusy={start.isPending}
          disabled={body === undefined || isRunning}
        >
          Start backtest
        </Button>
      </form>
      <p className="max-w-prose text-[13px] text-ink-soft">
        Stored events are rated anew by the rules as they are edited here, and compared with what they came
        to. Nothing is changed.
        {body === undefined && ' The rules are not JSON at the moment.'}
      </p>
      {start.isError && <FailureNote error={start.error} />}
      {cancel.isError && <FailureNote error={cancel.error} />}
      {shown.isError && <ReadFailure of={shown} />}
      {shownId !== undefined && shown.isPending && <Skeleton className="h-48" />}
      {shown.data !== undefined && (
        <BacktestReport
          backtest={shown.data}
          isCancelling={cancel.isPending}
          onCancel={() => shownId !== undefined && cancel.mutate(shownId)}
        />
      )}
      <BacktestList shownId={shownId} onShow={setShownId} />
    </div>
  );
}

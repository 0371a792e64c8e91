import { type FormEvent, useState } from 'react';
import { useMay } from '../../../api/session.js';
import { nowS } from '../../../clock.js';
import { Button } from '../../../ui/button.js';
import { Field, Select } from '../../../ui/field.js';
import { EmptyState, FailureNote, ReadFailure, Skeleton } from '../../../ui/states.js';
import { useBacktest, useBacktestChanges } from './api.js';
import { BacktestList } from './backtest-list.js';
import { BacktestReport } from './backtest-report.js';
import {
  backtestBody,
  canBacktest,
  type EditedRules,
  PERIODS,
  type Period,
  SHARES,
  type Share,
} from './backtest-request.js';

/** Rates stored usage with the draft, and compares it with what was charged. */
export function BacktestPanel(props: EditedRules) {
  const mayRead = useMay('usage:read');
  if (!mayRead) {
    return (
      <EmptyState title="You cannot run backtests">
        This key lacks the permission usage:read, which backtests need.
      </EmptyState>
    );
  }
  return <Backtests {...props} />;
}

function Backtests(edited: EditedRules) {
  const [shownId, setShownId] = useState<string>();
  const { start, cancel } = useBacktestChanges();
  const shown = useBacktest(shownId);
  const [period, setPeriod] = useState<Period>('604800');
  const [share, setShare] = useState<Share>('1');
  const canStart = canBacktest(edited);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = backtestBody(edited, period, share, nowS());
    if (body !== undefined) start.mutate(body, { onSuccess: ({ id }) => setShownId(id) });
  };
  const isRunning = shown.data?.status === 'running';
  return (
    <div className="flex flex-col gap-6">
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        <Field label="Time range">
          {(control) => <Select {...control} options={PERIODS} value={period} onChange={setPeriod} />}
        </Field>
        <Field label="Events">
          {(control) => <Select {...control} options={SHARES} value={share} onChange={setShare} />}
        </Field>
        <Button type="submit" look="primary" isBusy={start.isPending} disabled={!canStart || isRunning}>
          Start backtest
        </Button>
      </form>
      <p className="max-w-prose text-[13px] text-ink-soft">
        Rates stored events with the rules as edited here and compares the result with what was charged.
        Nothing is changed.
        {!canStart && ' The rules are not valid JSON.'}
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

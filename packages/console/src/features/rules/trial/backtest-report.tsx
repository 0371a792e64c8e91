import type { Backtest, BacktestResult, BacktestTotal } from '@tollgate/contract';
import { count, dateTime, decimalExact } from '../../../format.js';
import { BacktestBadge, BacktestProgress } from '../../../ui/backtest-table.js';
import { classes } from '../../../ui/classes.js';
import { type Column, Table } from '../../../ui/table.js';
import { ApplyBacktest } from '../../corrections/apply-backtest.js';
import { BacktestExamples } from './backtest-examples.js';
import { describeRequest } from './backtest-request.js';
import { type Change, changeOf, isChanged, signed } from './comparison.js';

const CUT_BY: Readonly<Record<BacktestResult['cut_by'][number], string>> = {
  events: 'There are more events than one backtest can rate. Later events were left out.',
  time: 'The backtest reached its time limit. Later events were left out.',
  totals: 'There are more metrics, units and currencies than shown.',
};

/** One backtest: its progress, then its result. */
export function BacktestReport({
  backtest,
  isCancelling,
  onCancel,
}: {
  readonly backtest: Backtest;
  readonly isCancelling: boolean;
  readonly onCancel: () => void;
}) {
  const { status, result, failure, request, created_at } = backtest;
  return (
    <section aria-label="Backtest" className="flex flex-col gap-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px]">
        <h3 className="font-semibold">{dateTime(created_at, 'UTC')} UTC</h3>
        <BacktestBadge status={status} />
        <span className="text-ink-soft">{describeRequest(request)}</span>
      </div>
      {status === 'running' && (
        <BacktestProgress label="Events rated" progress={backtest.progress} {...{ isCancelling, onCancel }} />
      )}
      {status === 'cancelled' && <p className="text-[13px] text-ink-soft">The backtest was cancelled.</p>}
      {failure !== null && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad">
          {failure.message}
        </p>
      )}
      {result !== null && <Result result={result} />}
      <ApplyBacktest backtest={backtest} />
    </section>
  );
}

function Result({ result }: { readonly result: BacktestResult }) {
  const { event_count, changed_count, newly_failed, newly_succeeded, totals, examples, cut_by } = result;
  return (
    <>
      <p className="text-[13px]">
        <strong className="font-semibold">{count(changed_count)}</strong> of {counted(event_count, 'event')}{' '}
        would change.
        {event_count === 0 && ' There was no usage in this time.'}
      </p>
      {cut_by.map((bound) => (
        <p key={bound} className="rounded-lg bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn">
          {CUT_BY[bound]}
        </p>
      ))}
      <Failures title="Would newly fail" counts={newly_failed} isBad />
      <Failures title="Would no longer fail" counts={newly_succeeded} />
      {totals.length > 0 && <Totals totals={totals} />}
      {examples.length > 0 && <BacktestExamples examples={examples} />}
    </>
  );
}

function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function Failures({
  title,
  counts,
  isBad = false,
}: {
  readonly title: string;
  readonly counts: BacktestResult['newly_failed'];
  readonly isBad?: boolean;
}) {
  if (counts.length === 0) return null;
  return (
    <div className={classes('text-[13px]', isBad && 'rounded-lg bg-bad-soft px-3.5 py-2.5 text-bad')}>
      <h4 className="font-semibold">{title}</h4>
      <ul>
        {counts.map(({ code, count: events }) => (
          <li key={code}>
            {counted(events, 'event')}, <code className="font-mono text-xs">{code}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Totals by metric, unit and currency. Changed rows come first. */
function Totals({ totals }: { readonly totals: readonly BacktestTotal[] }) {
  const rows = totals
    .map((total) => ({
      ...total,
      amount: changeOf(total.before.amount, total.after.amount),
      quantity: changeOf(total.before.quantity, total.after.quantity),
      // Results of earlier releases have no costs.
      cost: changeOf(total.before.cost ?? '0', total.after.cost ?? '0'),
    }))
    .toSorted((a, b) => Number(rowChanges(b)) - Number(rowChanges(a)));
  type Row = (typeof rows)[number];
  const hasCosts = rows.some(({ cost }) => cost.before !== '0' || cost.after !== '0');
  const columns: readonly Column<Row>[] = [
    { title: 'Metric', cell: ({ metric }) => <span className="font-medium">{metric}</span> },
    {
      title: 'Quantity charged',
      isNumber: true,
      cell: ({ quantity, unit }) => `${decimalExact(quantity.before)} ${unit ?? ''}`,
    },
    {
      title: 'Quantity difference',
      isNumber: true,
      cell: ({ quantity }) => <Difference change={quantity} />,
    },
    {
      title: 'Amount charged',
      isNumber: true,
      cell: ({ amount, currency }) => <Amount text={amount.before} currency={currency} />,
    },
    {
      title: 'New amount',
      isNumber: true,
      cell: ({ amount, currency }) => <Amount text={amount.after} currency={currency} />,
    },
    { title: 'Amount difference', isNumber: true, cell: ({ amount }) => <Difference change={amount} /> },
    ...(hasCosts ? COST_COLUMNS : []),
  ];
  return (
    <Table
      label="Totals"
      columns={columns}
      rows={rows}
      keyOf={({ metric, unit, currency }) => JSON.stringify([metric, unit, currency])}
    />
  );
}

interface Costed {
  readonly cost: Change;
  readonly currency: string | null;
}

const COST_COLUMNS: readonly Column<Costed>[] = [
  {
    title: 'Cost recorded',
    isNumber: true,
    cell: ({ cost, currency }) => <Cost text={cost.before} currency={currency} />,
  },
  {
    title: 'New cost',
    isNumber: true,
    cell: ({ cost, currency }) => <Cost text={cost.after} currency={currency} />,
  },
  { title: 'Cost difference', isNumber: true, cell: ({ cost }) => <Difference change={cost} /> },
];

/** Costs are in rows that have a currency. */
function Cost({ text, currency }: { readonly text: string; readonly currency: string | null }) {
  return currency === null ? (
    <span className="text-ink-faint">—</span>
  ) : (
    <Amount text={text} currency={currency} />
  );
}

const rowChanges = ({ amount, quantity, cost }: Readonly<Record<'amount' | 'quantity' | 'cost', Change>>) =>
  isChanged(amount) || isChanged(quantity) || isChanged(cost);

function Amount({ text, currency }: { readonly text: string; readonly currency: string | null }) {
  if (currency === null) return <span className="text-ink-faint">no price</span>;
  return (
    <>
      {decimalExact(text)} {currency}
    </>
  );
}

function Difference({ change }: { readonly change: Change }) {
  if (!isChanged(change)) return <span className="text-ink-faint">—</span>;
  return <span className="font-medium">{signed(decimalExact(change.difference))}</span>;
}

import { CORRECTION_TOTALS_MAX, type CorrectionTotal } from '@tollgate/contract';
import { Fragment, useState } from 'react';
import { useMay } from '../../api/session.js';
import { totalsOf } from '../../exact-sum.js';
import { count, decimalExact } from '../../format.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { InlineLink } from '../../ui/inline-link.js';
import { type Column, Table } from '../../ui/table.js';
import { useAccount } from '../billing/api.js';
import { signed } from '../rules/trial/comparison.js';

/** Rows that are shown at first, and added by each click. */
const ROWS_SHOWN = 50;

/** Changes by account, metric and currency: before, after and the difference, with every digit. */
export function CorrectionTotals({
  label,
  totals,
  totalsCount,
}: {
  readonly label: string;
  readonly totals: readonly CorrectionTotal[];
  /** The number of all totals, of which the service lists those that differ most; absent where it is not known. */
  readonly totalsCount?: number;
}) {
  const [shown, setShown] = useState(ROWS_SHOWN);
  const { id } = useProject();
  const areAll =
    totalsCount === undefined ? totals.length < CORRECTION_TOTALS_MAX : totalsCount === totals.length;
  // A table of their own: beside the amounts they would not fit.
  const listed = totals.slice(0, shown);
  const costs = listed.filter(hasCost);
  return (
    <section aria-label={label} className="flex flex-col gap-2">
      <h2 className="text-[15px] font-semibold">{label}</h2>
      {areAll && <AmountsInTotal totals={totals} />}
      <Table
        label={`${label} by account, metric and currency`}
        columns={columnsFor(id)}
        rows={listed.filter((total) => !hasCost(total) || hasUsage(total))}
        keyOf={keyOf}
      />
      {totals.length > shown && (
        <Button className="self-center" onClick={() => setShown(shown + ROWS_SHOWN)}>
          Show more
        </Button>
      )}
      {totalsCount !== undefined && totalsCount > totals.length && (
        <p className="text-xs text-ink-faint">
          These are the {count(totals.length)} largest of {count(totalsCount)}.
        </p>
      )}
      {costs.length > 0 && (
        <>
          <h3 className="text-[13px] font-semibold">Costs</h3>
          <Table label={`${label} of costs`} columns={costColumnsFor(id)} rows={costs} keyOf={keyOf} />
        </>
      )}
    </section>
  );
}

/** The difference of all amounts, by currency. */
function AmountsInTotal({ totals }: { readonly totals: readonly CorrectionTotal[] }) {
  const sums = totalsOf(totals.map(({ amount, currency }) => ({ amount: amount.delta, currency })));
  if (sums.length === 0) return null;
  return (
    <p className="tabular text-[13px] text-ink-soft">
      Amounts in total:{' '}
      {sums.map(({ amount, currency }, index) => (
        <Fragment key={currency}>
          {index > 0 && ', '}
          <strong className="font-semibold text-ink">{signed(decimalExact(amount))}</strong> {currency}
        </Fragment>
      ))}
    </p>
  );
}

function hasCost({ cost }: CorrectionTotal): boolean {
  return cost.before !== '0' || cost.after !== '0';
}

/** Whether anything but a cost is counted: usage without a price can have a row for its cost alone. */
function hasUsage({ quantity, amount }: CorrectionTotal): boolean {
  return [quantity, amount].some(({ before, after }) => before !== '0' || after !== '0');
}

function keyOf({ metric, unit, currency, account_id }: CorrectionTotal): string {
  return JSON.stringify([metric, unit, currency, account_id]);
}

function namesFor(projectId: string): readonly Column<CorrectionTotal>[] {
  return [
    {
      title: 'Account',
      cell: ({ account_id }) => <AccountLink projectId={projectId} accountId={account_id} />,
    },
    { title: 'Metric', cell: ({ metric }) => <bdi className="font-medium">{metric}</bdi> },
  ];
}

function columnsFor(projectId: string): readonly Column<CorrectionTotal>[] {
  return [
    ...namesFor(projectId),
    { title: 'Quantity before', isNumber: true, cell: ({ quantity }) => decimalExact(quantity.before) },
    { title: 'Quantity after', isNumber: true, cell: ({ quantity }) => decimalExact(quantity.after) },
    {
      title: 'Quantity difference',
      isNumber: true,
      cell: ({ quantity, unit }) => <Delta text={quantity.delta} unit={unit} />,
    },
    { title: 'Amount before', isNumber: true, cell: (total) => amountText(total, 'before') },
    { title: 'Amount after', isNumber: true, cell: (total) => amountText(total, 'after') },
    {
      title: 'Amount difference',
      isNumber: true,
      cell: ({ amount, currency }) =>
        currency === null ? (
          <span className="text-ink-faint">no price</span>
        ) : (
          <Delta text={amount.delta} unit={currency} />
        ),
    },
  ];
}

function costColumnsFor(projectId: string): readonly Column<CorrectionTotal>[] {
  return [
    ...namesFor(projectId),
    { title: 'Cost before', isNumber: true, cell: ({ cost }) => decimalExact(cost.before) },
    { title: 'Cost after', isNumber: true, cell: ({ cost }) => decimalExact(cost.after) },
    {
      title: 'Cost difference',
      isNumber: true,
      cell: ({ cost, currency }) => <Delta text={cost.delta} unit={currency} />,
    },
  ];
}

function amountText({ amount, currency }: CorrectionTotal, side: 'before' | 'after'): string {
  return currency === null ? '—' : decimalExact(amount[side]);
}

/** The unit or currency of a row is beside its difference alone, so it is there for 0 too. */
function Delta({ text, unit }: { readonly text: string; readonly unit: string | null }) {
  const isSame = text === '0';
  return (
    <span className={isSame ? 'text-ink-faint' : 'font-medium'}>
      {isSame ? '0' : signed(decimalExact(text))} <span className="font-normal text-ink-soft">{unit}</span>
    </span>
  );
}

/** The name of an account as far as the user may read it, otherwise its id. */
function AccountLink({
  projectId,
  accountId,
}: {
  readonly projectId: string;
  readonly accountId: string | null;
}) {
  const mayRead = useMay('wallets:read');
  if (accountId === null) return <span className="text-ink-faint">none</span>;
  if (!mayRead) return accountId;
  return (
    <InlineLink href={`/p/${projectId}/billing/${accountId}`}>
      <AccountName accountId={accountId} />
    </InlineLink>
  );
}

function AccountName({ accountId }: { readonly accountId: string }) {
  const { data } = useAccount(accountId);
  return <bdi>{data?.name ?? accountId}</bdi>;
}

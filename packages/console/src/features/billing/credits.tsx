import type { Credit } from '@tollgate/contract';
import { useState } from 'react';
import { nowS } from '../../clock.js';
import { dateTime } from '../../format.js';
import { Amount } from '../../ui/amount.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Moment } from '../../ui/moment.js';
import { Pager } from '../../ui/pager.js';
import { ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { useCredits } from './api.js';
import { type CreditState, creditState } from './expiring.js';

const TONES: Readonly<Record<CreditState, 'good' | 'warn' | 'neutral'>> = {
  active: 'good',
  expiring: 'warn',
  expired: 'neutral',
  used: 'neutral',
};

/** The credits of a wallet and their remaining amounts. */
export function Credits({
  accountId,
  currency,
  onUsage,
}: {
  readonly accountId: string;
  readonly currency: string;
  /** Shows the usage that a credit may have paid. */
  readonly onUsage: (credit: Credit) => void;
}) {
  const [offset, setOffset] = useState(0);
  const credits = useCredits(accountId, currency, offset);
  if (credits.isError) return <ReadFailure of={credits} />;
  if (credits.data === undefined) return <Skeleton className="h-24" />;
  if (credits.data.total_count === 0) {
    return <p className="text-[13px] text-ink-soft">No credits in {currency}.</p>;
  }
  return (
    <>
      <Table
        label={`Credits in ${currency}`}
        columns={columnsFor(onUsage)}
        rows={credits.data.credits}
        keyOf={({ id }) => id}
      />
      <Pager page={credits.data} onOffset={setOffset} />
    </>
  );
}

function columnsFor(onUsage: (credit: Credit) => void): readonly Column<Credit>[] {
  return [
    { title: 'Added (UTC)', cell: ({ created_at }) => dateTime(created_at, 'UTC') },
    { title: 'Description', cell: ({ description, source }) => description ?? source },
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
    },
    {
      title: 'Remaining',
      isNumber: true,
      cell: ({ remaining, currency }) => <Amount value={remaining} currency={currency} />,
    },
    { title: 'Priority', isNumber: true, cell: ({ priority }) => priority },
    {
      title: 'Expires',
      cell: ({ expires_at }) => (expires_at === null ? 'Never' : <Moment at={expires_at} timezone="UTC" />),
    },
    {
      title: 'State',
      isTitleHidden: true,
      cell: (credit) => {
        const state = creditState(credit, nowS());
        return <Badge tone={TONES[state]}>{state}</Badge>;
      },
    },
    {
      title: 'Usage',
      isTitleHidden: true,
      isNumber: true,
      cell: (credit) =>
        credit.amount === credit.remaining ? null : (
          <Button
            look="quiet"
            size="small"
            aria-label={`View usage since ${credit.description ?? credit.source}`}
            onClick={() => onUsage(credit)}
          >
            View usage
          </Button>
        ),
    },
  ];
}

import type { LedgerEntry, Wallet } from '@tollgate/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { dateTime, decimalShort, money } from '../../format.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { EmptyState, FailureNote, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { useAccount, useLedger, useWalletChanges, useWallets } from './api.js';
import { CreditDialog } from './credit-dialog.js';

const KIND_LABELS: Readonly<Record<LedgerEntry['kind'], string>> = {
  usage: 'Usage',
  credit: 'Credit',
  adjustment: 'Adjustment',
  credit_expiry: 'Credit expired',
  mode_change: 'Mode changed',
};

/** The wallets of an account, and every movement of them, down to the events that it came from. */
export function AccountPage({ accountId }: { readonly accountId: string }) {
  const { id } = useProject();
  const account = useAccount(accountId);
  const wallets = useWallets(accountId);
  const [currency, setCurrency] = useState<string>();
  const [isCrediting, setCrediting] = useState(false);
  if (account.isError) {
    return (
      <div className="p-6">
        <FailureNote error={account.error} onRetry={() => void account.refetch()} />
      </div>
    );
  }
  return (
    <>
      <PageHeader
        title={
          <>
            <Link href={`/p/${id}/money`} className="font-normal text-ink-faint hover:text-ink">
              Money /
            </Link>{' '}
            {account.data?.name ?? ' '}
          </>
        }
        actions={
          <Button look="primary" onClick={() => setCrediting(true)}>
            Add credit
          </Button>
        }
      />
      <div className="flex flex-col gap-6 px-4 pb-10 sm:px-6">
        {wallets.isPending && <Skeleton className="h-28" />}
        <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
          {wallets.data?.map((wallet) => (
            <WalletCard key={wallet.currency} accountId={accountId} wallet={wallet} />
          ))}
        </ul>
        <Ledger
          accountId={accountId}
          currencies={wallets.data?.map((wallet) => wallet.currency) ?? []}
          currency={currency}
          onCurrency={setCurrency}
        />
      </div>
      <CreditDialog
        accountId={accountId}
        currencies={wallets.data?.map((wallet) => wallet.currency) ?? []}
        isOpen={isCrediting}
        onClose={() => setCrediting(false)}
      />
    </>
  );
}

function WalletCard({ accountId, wallet }: { readonly accountId: string; readonly wallet: Wallet }) {
  const { setMode } = useWalletChanges(accountId);
  const { currency, mode, balance, owed, reserved, available } = wallet;
  const other = mode === 'prepaid' ? 'postpaid' : 'prepaid';
  const facts = [
    ['Reserved', reserved],
    ['Available', available],
    ['Owed', owed],
  ] as const;
  return (
    <li className="rounded-xl border border-line bg-panel p-4 shadow-xs">
      <div className="flex items-center gap-2">
        <span className="text-[13px] font-medium text-ink-soft">{currency}</span>
        <Badge tone={mode === 'prepaid' ? 'accent' : 'neutral'}>{mode}</Badge>
        <Button
          look="quiet"
          size="small"
          className="ml-auto"
          isBusy={setMode.isPending}
          onClick={() => setMode.mutate({ currency, mode: other })}
        >
          Make {other}
        </Button>
      </div>
      <p
        title={balance}
        className={classes(
          'tabular mt-1 text-2xl font-semibold tracking-tight',
          balance.startsWith('-') && 'text-bad',
        )}
      >
        {decimalShort(balance)}
      </p>
      <dl className="tabular mt-3 flex gap-6 text-xs">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-ink-faint">{name}</dt>
            <dd title={value}>{decimalShort(value)}</dd>
          </div>
        ))}
      </dl>
      {setMode.isError && <FailureNote error={setMode.error} />}
    </li>
  );
}

function Ledger({
  accountId,
  currencies,
  currency,
  onCurrency,
}: {
  readonly accountId: string;
  readonly currencies: readonly string[];
  readonly currency: string | undefined;
  readonly onCurrency: (currency: string | undefined) => void;
}) {
  const { id } = useProject();
  const ledger = useLedger(accountId, currency);
  const entries = ledger.data?.pages.flatMap((page) => page.entries) ?? [];
  const columns: readonly Column<LedgerEntry>[] = [
    { title: 'When (UTC)', cell: ({ created_at }) => dateTime(created_at, 'UTC') },
    {
      title: 'What',
      cell: ({ kind, transaction_id }) =>
        kind === 'usage' ? (
          <Link href={`/p/${id}/usage?ledger_transaction_id=${transaction_id}`} className={ROW_TARGET}>
            {KIND_LABELS[kind]}
          </Link>
        ) : (
          KIND_LABELS[kind]
        ),
    },
    { title: 'Description', cell: ({ description }) => description ?? '' },
    {
      title: 'Amount',
      isNumber: true,
      cell: (entry) => <span title={entry.amount}>{money(entry.amount, entry.currency)}</span>,
    },
  ];
  return (
    <section aria-label="Ledger" className="flex flex-col gap-3">
      <div className="flex items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">Ledger</h2>
        {currencies.length > 1 &&
          currencies.map((each) => (
            <Button
              key={each}
              look="quiet"
              aria-pressed={each === currency}
              className={each === currency ? 'bg-sunken font-semibold' : ''}
              onClick={() => onCurrency(each === currency ? undefined : each)}
            >
              {each}
            </Button>
          ))}
      </div>
      {ledger.isError && <FailureNote error={ledger.error} onRetry={() => void ledger.refetch()} />}
      {ledger.isPending && <Skeleton className="h-64" />}
      {ledger.isSuccess && entries.length === 0 && (
        <EmptyState title="Nothing has moved yet">Usage, credits and adjustments appear here.</EmptyState>
      )}
      {entries.length > 0 && (
        <Table
          label="Ledger entries"
          columns={columns}
          rows={entries}
          keyOf={({ transaction_id, currency: entryCurrency }) => `${transaction_id} ${entryCurrency}`}
        />
      )}
      {ledger.hasNextPage && (
        <Button
          className="self-center"
          isBusy={ledger.isFetchingNextPage}
          onClick={() => void ledger.fetchNextPage()}
        >
          Show older
        </Button>
      )}
    </section>
  );
}

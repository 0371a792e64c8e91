import type { LedgerEntry } from '@tollgate/contract';
import { Link } from 'wouter';
import { dateTime, money } from '../../format.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { EmptyState, FailureNote, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { useLedger } from './api.js';

const KIND_LABELS: Readonly<Record<LedgerEntry['kind'], string>> = {
  usage: 'Usage',
  credit: 'Credit',
  adjustment: 'Adjustment',
  credit_expiry: 'Credit expired',
  mode_change: 'Mode changed',
};

/** Every movement of an account's wallets, newest first. */
export function Ledger({
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
  return (
    <section aria-label="Ledger" className="flex flex-col gap-3">
      <div className="flex items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">Ledger</h2>
        <CurrencyFilter currencies={currencies} chosen={currency} onChoose={onCurrency} />
      </div>
      {ledger.isError && <FailureNote error={ledger.error} onRetry={() => void ledger.refetch()} />}
      {ledger.isPending && <Skeleton className="h-64" />}
      {ledger.isSuccess && entries.length === 0 && (
        <EmptyState title="Nothing has moved yet">Usage, credits and adjustments appear here.</EmptyState>
      )}
      {entries.length > 0 && (
        <Table
          label="Ledger entries"
          columns={columnsFor(id)}
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

function CurrencyFilter({
  currencies,
  chosen,
  onChoose,
}: {
  readonly currencies: readonly string[];
  readonly chosen: string | undefined;
  readonly onChoose: (currency: string | undefined) => void;
}) {
  if (currencies.length < 2) return null;
  return currencies.map((currency) => (
    <Button
      key={currency}
      look={currency === chosen ? 'plain' : 'quiet'}
      aria-pressed={currency === chosen}
      onClick={() => onChoose(currency === chosen ? undefined : currency)}
    >
      {currency}
    </Button>
  ));
}

/** What an entry shows; one of usage leads to the events that it came from. */
function columnsFor(projectId: string): readonly Column<LedgerEntry>[] {
  return [
    { title: 'When (UTC)', cell: ({ created_at }) => dateTime(created_at, 'UTC') },
    {
      title: 'What',
      cell: ({ kind, transaction_id }) =>
        kind === 'usage' ? (
          <Link href={`/p/${projectId}/usage?ledger_transaction_id=${transaction_id}`} className={ROW_TARGET}>
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
}

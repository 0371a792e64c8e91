import type { Credit, LedgerEntry, LedgerKind } from '@tollgate/contract';
import { Link } from 'wouter';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { Amount } from '../../ui/amount.js';
import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, PhoneLine, ROW_TARGET, Table } from '../../ui/table.js';
import { type LedgerFilter, useLedger } from './api.js';
import { KIND_LABELS, LINE_LABELS } from './ledger-labels.js';

/** The filters of the ledger. */
export interface LedgerView extends LedgerFilter {
  /** Shows only entries from the time while this credit existed. */
  readonly since?: Credit | undefined;
}

export const STATEMENT: LedgerView = { currency: '', kind: '', ledger_account: 'wallet' };

interface LedgerProps {
  readonly accountId: string;
  readonly currencies: readonly string[];
  readonly view: LedgerView;
  readonly onView: (view: LedgerView) => void;
}

/** The ledger entries of an account, newest first. Entries link to their events or corrections. */
export function Ledger(props: LedgerProps) {
  const { since } = props.view;
  return (
    <section aria-label="Ledger" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">Ledger</h2>
        <div className="flex flex-wrap gap-2 max-sm:w-full max-sm:*:min-w-0 max-sm:*:flex-1">
          <LedgerFilters {...props} />
        </div>
      </div>
      {since !== undefined && (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg bg-accent-soft px-3.5 py-2 text-[13px]">
          <span className="grow">
            Usage in {since.currency} since “{since.description ?? since.source}” was added,{' '}
            {dateTime(since.created_at, 'UTC')} UTC. Credits are used in order of priority, expiry and age.
            The ledger does not record which usage used which credit.
          </span>
          <Button size="small" onClick={() => props.onView(STATEMENT)}>
            Show all entries
          </Button>
        </p>
      )}
      <Entries {...props} />
    </section>
  );
}

const KIND_OPTIONS = [
  { value: '', label: 'All types' } as const,
  ...(Object.keys(KIND_LABELS) as LedgerKind[]).map((value) => ({ value, label: KIND_LABELS[value] })),
];
const LINE_OPTIONS = [
  { value: 'wallet', label: 'Wallet statement' },
  { value: '', label: 'All entries (double entry)' },
  { value: 'receivable', label: 'Amounts owed' },
] as const;

function LedgerFilters({ currencies, view, onView }: LedgerProps) {
  const edit = (change: Partial<LedgerFilter>) => onView({ ...view, since: undefined, ...change });
  const currencyOptions = [
    { value: '', label: 'All currencies' },
    ...currencies.map((currency) => ({ value: currency, label: currency })),
  ];
  return (
    <>
      {currencies.length > 1 && (
        <Select
          aria-label="Currency"
          options={currencyOptions}
          value={view.currency}
          onChange={(currency) => edit({ currency })}
        />
      )}
      <Select
        aria-label="Type"
        options={KIND_OPTIONS}
        value={view.kind}
        onChange={(kind) => edit({ kind })}
      />
      <Select
        aria-label="View"
        options={LINE_OPTIONS}
        value={LINE_OPTIONS.find(({ value }) => value === view.ledger_account)?.value ?? ''}
        onChange={(ledger_account) => edit({ ledger_account })}
      />
    </>
  );
}

function Entries({ accountId, view }: LedgerProps) {
  const { id } = useProject();
  const { since, ...filter } = view;
  const ledger = useLedger(accountId, filter);
  if (ledger.isError) return <ReadFailure of={ledger} />;
  if (ledger.isPending) return <Skeleton className="h-64" />;
  const read = ledger.data.pages.flatMap((page) => page.entries);
  const entries = since === undefined ? read : read.filter((entry) => isDuring(since, entry));
  // Newest first: once an entry is older than the credit, so are all that follow.
  const isAllRead = since !== undefined && (read.at(-1)?.created_at ?? 0) < since.created_at;
  return (
    <>
      {entries.length === 0 ? (
        <EmptyState title={filter.kind === '' ? 'No entries yet' : 'No entries of this type'}>
          Usage, credits and adjustments appear here.
        </EmptyState>
      ) : (
        <Table
          label="Ledger entries"
          columns={columnsFor(id, filter.ledger_account !== 'wallet')}
          rows={entries}
          keyOf={(entry) => `${entry.transaction_id} ${entry.ledger_account} ${entry.currency}`}
        />
      )}
      {ledger.hasNextPage && !isAllRead && (
        <Button
          className="self-center"
          isBusy={ledger.isFetchingNextPage}
          onClick={() => void ledger.fetchNextPage()}
        >
          Show older
        </Button>
      )}
    </>
  );
}

function isDuring({ created_at, expired_at }: Credit, entry: LedgerEntry): boolean {
  return entry.created_at >= created_at && (expired_at === null || entry.created_at <= expired_at);
}

/** The columns of the ledger. On phones, the time stands below the type, so that the amount is visible. */
function columnsFor(projectId: string, hasLines: boolean): readonly Column<LedgerEntry>[] {
  const lines: readonly Column<LedgerEntry>[] = [
    { title: 'Ledger account', cell: ({ ledger_account }) => LINE_LABELS[ledger_account] },
    {
      title: 'Transaction',
      cell: ({ transaction_id }) => (
        <code className="font-mono text-xs text-ink-faint">{transaction_id}</code>
      ),
    },
  ];
  return [
    {
      title: 'Time (UTC)',
      isForWideScreens: true,
      cell: ({ created_at }) => dateTime(created_at, 'UTC'),
    },
    {
      title: 'Type',
      cell: (entry) => (
        <>
          <EntryType projectId={projectId} entry={entry} />
          <PhoneLine>{dateTime(entry.created_at, 'UTC')}</PhoneLine>
        </>
      ),
    },
    ...(hasLines ? lines : []),
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
    },
  ];
}

/** The type of an entry. One of usage links to its events, one of a correction to the correction. */
function EntryType({ projectId, entry }: { readonly projectId: string; readonly entry: LedgerEntry }) {
  const { kind, transaction_id, correction_id, description } = entry;
  const href =
    kind === 'usage'
      ? `/p/${projectId}/usage?ledger_transaction_id=${transaction_id}`
      : correction_id === null
        ? undefined
        : `/p/${projectId}/usage/corrections/${correction_id}`;
  if (href !== undefined) {
    return (
      <Link href={href} className={ROW_TARGET}>
        {KIND_LABELS[kind]}
      </Link>
    );
  }
  return (
    <span title={description ?? undefined}>
      {KIND_LABELS[kind]}{' '}
      <span className="ml-1.5 text-ink-faint max-sm:ml-0 max-sm:block max-sm:wrap-anywhere max-sm:whitespace-normal">
        {description}
      </span>
    </span>
  );
}

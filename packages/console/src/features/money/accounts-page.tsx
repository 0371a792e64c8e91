import type { Account } from '@tollgate/contract';
import { Wallet } from 'lucide-react';
import { Link } from 'wouter';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { Button } from '../../ui/button.js';
import { EmptyState, FailureNote, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { useAccounts } from './api.js';

export function AccountsPage() {
  const { id } = useProject();
  const accounts = useAccounts('');
  const rows = accounts.data?.pages.flatMap((page) => page.accounts) ?? [];
  const columns: readonly Column<Account>[] = [
    {
      title: 'Account',
      cell: (account) => (
        <Link href={`/p/${id}/money/${account.id}`} className={ROW_TARGET}>
          {account.name}
        </Link>
      ),
    },
    { title: 'Your id', cell: ({ external_id }) => external_id ?? '—' },
    { title: 'Opened (UTC)', cell: ({ created_at }) => dateTime(created_at, 'UTC') },
  ];
  return (
    <>
      <PageHeader title="Money" />
      <div className="px-4 pb-10 sm:px-6">
        {accounts.isError && <FailureNote error={accounts.error} onRetry={() => void accounts.refetch()} />}
        {accounts.isPending && <Skeleton className="h-64" />}
        {accounts.isSuccess && rows.length === 0 && (
          <EmptyState icon={<Wallet size={20} />} title="No accounts yet">
            An account is opened with the first route of a subject, or through the API. Its wallets pay for
            usage.
          </EmptyState>
        )}
        {rows.length > 0 && (
          <Table label="Accounts" columns={columns} rows={rows} keyOf={(account) => account.id} />
        )}
        {accounts.hasNextPage && (
          <Button
            className="mt-4"
            isBusy={accounts.isFetchingNextPage}
            onClick={() => void accounts.fetchNextPage()}
          >
            Show more
          </Button>
        )}
      </div>
    </>
  );
}

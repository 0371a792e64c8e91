import type { ListedAccount } from '@tollgate/contract';
import { Plus, Wallet } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button } from '../../ui/button.js';
import { TextInput } from '../../ui/field.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { useSettled } from '../../ui/use-settled.js';
import { AccountDialog } from './account-dialog.js';
import { useAccounts } from './api.js';
import { Balances } from './balances.js';

/** The accounts that pay for usage. */
export function AccountsPage() {
  const [externalId, setExternalId] = useState('');
  const isPermitted = useMay('wallets:read');
  return (
    <>
      <PageHeader
        title="Billing"
        lead="Accounts pay for usage. Each account has one wallet per currency."
        actions={<NewAccount />}
      />
      {isPermitted ? (
        <div className="flex flex-col gap-4 px-4 pb-10 sm:px-6">
          <search>
            <TextInput
              aria-label="External ID"
              placeholder="External ID (exact match)"
              className="w-full sm:w-72"
              value={externalId}
              onChange={(event) => setExternalId(event.target.value)}
            />
          </search>
          <AccountList typed={externalId} />
        </div>
      ) : (
        <EmptyState icon={<Wallet size={20} />} title="You cannot view balances">
          This key lacks the permission wallets:read.
        </EmptyState>
      )}
    </>
  );
}

function NewAccount() {
  const { id } = useProject();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  if (!useMay('wallets:write')) return null;
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        <Plus size={14} />
        New account
      </Button>
      <AccountDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onSaved={(account) => navigate(`/p/${id}/billing/${account.id}`)}
      />
    </>
  );
}

function AccountList({ typed }: { readonly typed: string }) {
  const { id } = useProject();
  const externalId = useSettled(typed);
  const accounts = useAccounts(externalId);
  const rows = accounts.data?.pages.flatMap((page) => page.accounts) ?? [];
  if (accounts.isError) return <ReadFailure of={accounts} />;
  if (accounts.isPending) return <Skeleton className="h-64" />;
  if (rows.length === 0) {
    return externalId === '' ? (
      <EmptyState icon={<Wallet size={20} />} title="No accounts yet">
        A new route creates an account unless you choose one. You can also create accounts here.
      </EmptyState>
    ) : (
      <EmptyState icon={<Wallet size={20} />} title="No matching account">
        No account in this project has this external ID.
      </EmptyState>
    );
  }
  return (
    <>
      <Table label="Accounts" columns={columnsFor(id)} rows={rows} keyOf={(account) => account.id} />
      {accounts.hasNextPage && (
        <Button
          className="self-center"
          isBusy={accounts.isFetchingNextPage}
          onClick={() => void accounts.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </>
  );
}

function columnsFor(projectId: string): readonly Column<ListedAccount>[] {
  return [
    {
      title: 'Account',
      cell: (account) => (
        <Link href={`/p/${projectId}/billing/${account.id}`} className={ROW_TARGET}>
          {account.name}
        </Link>
      ),
    },
    { title: 'Balance', isNumber: true, cell: (account) => <Balances account={account} /> },
    { title: 'External ID', cell: ({ external_id }) => external_id ?? '—' },
    {
      title: 'ID',
      isForWideScreens: true,
      cell: ({ id }) => <code className="font-mono text-xs">{id}</code>,
    },
    { title: 'Created (UTC)', isForWideScreens: true, cell: ({ created_at }) => dateTime(created_at, 'UTC') },
  ];
}

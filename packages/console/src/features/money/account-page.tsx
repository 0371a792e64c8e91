import type { Wallet } from '@tollgate/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { decimalShort } from '../../format.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { FailureNote, Skeleton } from '../../ui/states.js';
import { useAccount, useWalletChanges, useWallets } from './api.js';
import { CreditDialog } from './credit-dialog.js';
import { Ledger } from './ledger.js';

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

import type { Account, Credit, Wallet } from '@tollgate/contract';
import { Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { FailedPage } from '../../shell/failed-page.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { ReadFailure, Skeleton } from '../../ui/states.js';
import { AccountDialog } from './account-dialog.js';
import { AccountFacts } from './account-facts.js';
import { AdjustDialog } from './adjust-dialog.js';
import { useAccount, useWallets } from './api.js';
import { CreditDialog } from './credit-dialog.js';
import { Credits } from './credits.js';
import { Ledger, type LedgerView, STATEMENT } from './ledger.js';
import { WalletCard } from './wallet-card.js';
import { WalletDialog } from './wallet-dialog.js';

/** The suggested currency for an account without a wallet. */
const CURRENCY_DEFAULT = 'USD';

/** An account: its wallets, credits and ledger. */
export function AccountPage({ accountId }: { readonly accountId: string }) {
  const { id } = useProject();
  const account = useAccount(accountId);
  const [view, setView] = useState<LedgerView>(STATEMENT);
  const wallets = useWallets(accountId);
  const currencies = wallets.data?.map((wallet) => wallet.currency) ?? [];
  const main = mainCurrency(wallets.data ?? []);
  if (account.isError)
    return <FailedPage above={{ label: 'Billing', href: `/p/${id}/billing` }} of={account} />;
  const onUsage = (credit: Credit) =>
    setView({ currency: credit.currency, kind: 'usage', ledger_account: 'wallet', since: credit });
  return (
    <>
      <PageHeader
        above={{ label: 'Billing', href: `/p/${id}/billing` }}
        title={account.data?.name ?? ' '}
        actions={account.data !== undefined && <AccountActions account={account.data} currency={main} />}
      />
      <div className="flex flex-col gap-7 px-4 pb-10 sm:px-6">
        {account.data === undefined ? <Skeleton className="h-20" /> : <AccountFacts account={account.data} />}
        <Wallets accountId={accountId} />
        {currencies.length > 0 && (
          <CreditSection accountId={accountId} currencies={currencies} main={main} onUsage={onUsage} />
        )}
        <Ledger accountId={accountId} currencies={currencies} view={view} onView={setView} />
      </div>
    </>
  );
}

/** The currency of the first wallet with a balance other than zero. */
function mainCurrency(wallets: readonly Wallet[]): string {
  const [first] = wallets;
  return (wallets.find(({ balance }) => balance !== '0') ?? first)?.currency ?? CURRENCY_DEFAULT;
}

function AccountActions({ account, currency }: { readonly account: Account; readonly currency: string }) {
  const [shown, setShown] = useState<'edit' | 'credit' | 'adjust' | 'wallet'>();
  const accountId = account.id;
  const close = () => setShown(undefined);
  if (!useMay('wallets:write')) return null;
  return (
    <>
      <Button onClick={() => setShown('edit')}>
        <Pencil size={14} />
        Edit account
      </Button>
      <Button onClick={() => setShown('wallet')}>Create wallet</Button>
      <Button onClick={() => setShown('adjust')}>Adjust balance</Button>
      <Button look="primary" onClick={() => setShown('credit')}>
        <Plus size={14} />
        Add credit
      </Button>
      <AccountDialog account={account} isOpen={shown === 'edit'} onClose={close} onSaved={close} />
      <WalletDialog accountId={accountId} isOpen={shown === 'wallet'} onClose={close} />
      <AdjustDialog accountId={accountId} currency={currency} isOpen={shown === 'adjust'} onClose={close} />
      <CreditDialog accountId={accountId} currency={currency} isOpen={shown === 'credit'} onClose={close} />
    </>
  );
}

function Wallets({ accountId }: { readonly accountId: string }) {
  const wallets = useWallets(accountId);
  if (wallets.isError) return <ReadFailure of={wallets} />;
  if (wallets.data === undefined) return <Skeleton className="h-32" />;
  if (wallets.data.length === 0) {
    return (
      <p className="text-[13px] text-ink-soft">
        No wallets yet. The first usage, credit or adjustment in a currency creates one.
      </p>
    );
  }
  return (
    <ul aria-label="Wallets" className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3 2xl:grid-cols-4">
      {wallets.data.map((wallet) => (
        <WalletCard key={wallet.currency} accountId={accountId} wallet={wallet} />
      ))}
    </ul>
  );
}

function CreditSection({
  accountId,
  currencies,
  main,
  onUsage,
}: {
  readonly accountId: string;
  readonly currencies: readonly string[];
  readonly main: string;
  readonly onUsage: (credit: Credit) => void;
}) {
  const [chosen, setChosen] = useState<string>();
  const currency = chosen ?? main;
  return (
    <section aria-label="Credits" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">
          Credits
          <span className="ml-2 text-xs font-normal text-ink-faint">
            newest first, also used and expired ones
          </span>
        </h2>
        {currencies.length > 1 && (
          <Select
            aria-label="Currency of the credits"
            options={currencies.map((each) => ({ value: each, label: each }))}
            value={currency}
            onChange={setChosen}
          />
        )}
      </div>
      <Credits key={currency} accountId={accountId} currency={currency} onUsage={onUsage} />
    </section>
  );
}

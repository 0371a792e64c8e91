import type { Wallet } from '@tollgate/contract';
import { useState } from 'react';
import { useMay } from '../../api/session.js';
import { nowS } from '../../clock.js';
import { decimalExact, decimalShort, money } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Moment } from '../../ui/moment.js';
import { useCredits, useWalletChanges } from './api.js';
import { expiringSoon } from './expiring.js';

/** A balance, what of it is free, and what of it ends soon. */
export function WalletCard({ accountId, wallet }: { readonly accountId: string; readonly wallet: Wallet }) {
  const [isChanging, setChanging] = useState(false);
  const isPermitted = useMay('wallets:write');
  const { currency, mode, balance } = wallet;
  return (
    <li className="rounded-xl border border-line bg-panel p-4 shadow-xs">
      <div className="flex items-center gap-2">
        <span className="text-[13px] font-medium text-ink-soft">{currency}</span>
        <Badge tone={mode === 'prepaid' ? 'accent' : 'neutral'}>{mode}</Badge>
        {isPermitted && (
          <Button look="quiet" size="small" className="ml-auto" onClick={() => setChanging(true)}>
            Make {otherMode(wallet)}
          </Button>
        )}
      </div>
      <p
        title={decimalExact(balance)}
        className={classes(
          'tabular mt-1 text-2xl font-semibold tracking-tight',
          balance.startsWith('-') && 'text-bad',
        )}
      >
        {decimalShort(balance)}
      </p>
      <p className="tabular min-h-4 text-xs break-all text-ink-faint">
        {decimalExact(balance) === decimalShort(balance) ? '' : `${decimalExact(balance)} exactly`}
      </p>
      <dl className="tabular mt-2 flex flex-wrap gap-x-6 gap-y-2 text-xs">
        <Fact name="Available" value={wallet.available} />
        <Fact name="Reserved" value={wallet.reserved} />
        <Fact name="Owed" value={wallet.owed} isBad={wallet.owed !== '0'} />
      </dl>
      <Expiring accountId={accountId} currency={currency} />
      <ModeDialog
        accountId={accountId}
        wallet={wallet}
        isOpen={isChanging}
        onClose={() => setChanging(false)}
      />
    </li>
  );
}

const otherMode = ({ mode }: Wallet) => (mode === 'prepaid' ? 'postpaid' : 'prepaid');

function Fact({
  name,
  value,
  isBad = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly isBad?: boolean;
}) {
  return (
    <div>
      <dt className="text-ink-faint">{name}</dt>
      <dd title={decimalExact(value)} className={isBad ? 'text-bad' : ''}>
        {decimalShort(value)}
      </dd>
    </div>
  );
}

function Expiring({ accountId, currency }: { readonly accountId: string; readonly currency: string }) {
  const { data } = useCredits(accountId, currency);
  const soon = data === undefined ? undefined : expiringSoon(data.credits, nowS());
  if (soon === undefined) return null;
  return (
    <p
      className="mt-3 rounded-md bg-warn-soft px-2.5 py-1.5 text-xs text-warn"
      title={decimalExact(soon.amount)}
    >
      {money(soon.amount, currency)} of credit ends soon, the first{' '}
      <Moment at={soon.firstAt} timezone="UTC" />.
    </p>
  );
}

function ModeDialog({
  accountId,
  wallet,
  isOpen,
  onClose,
}: {
  readonly accountId: string;
  readonly wallet: Wallet;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const { setMode } = useWalletChanges(accountId);
  const { currency, balance, owed } = wallet;
  const mode = otherMode(wallet);
  const toPrepaid = balance.startsWith('-')
    ? `The ${money(balance.slice(1), currency)} below zero becomes owed, and the next credit pays it first. `
    : '';
  const toPostpaid =
    owed === '0' ? '' : `The ${money(owed, currency)} that is owed becomes a balance below zero. `;
  return (
    <ConfirmDialog
      title={`Make the ${currency} wallet ${mode}?`}
      action={`Make ${mode}`}
      change={setMode}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => setMode.mutate({ currency, mode }, { onSuccess: onClose })}
    >
      {mode === 'prepaid'
        ? `${toPrepaid}From then on it never falls below zero: checks and leases that it cannot pay are refused.`
        : `${toPostpaid}From then on it may fall below zero, and nothing is refused for want of money.`}{' '}
      It can be changed back at any time.
    </ConfirmDialog>
  );
}

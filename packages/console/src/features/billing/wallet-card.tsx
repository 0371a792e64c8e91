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
import { useEveryCredit, useWalletChanges } from './api.js';
import { expiringSoon } from './expiring.js';

/** A wallet: its balance, its available, reserved and owed amounts, and credits that expire soon. */
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
            Switch to {otherMode(wallet)}
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
        {decimalExact(balance) === decimalShort(balance) ? '' : `exact: ${decimalExact(balance)}`}
      </p>
      <dl className="tabular mt-2 flex flex-wrap gap-x-6 gap-y-2 text-xs">
        <Fact name="Available" value={wallet.available} />
        <Fact name="Reserved" value={wallet.reserved} />
        {wallet.mode === 'prepaid' && <Fact name="Owed" value={wallet.owed} isBad={wallet.owed !== '0'} />}
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
  const { data } = useEveryCredit(accountId, currency);
  const soon = data === undefined ? undefined : expiringSoon(data, nowS());
  if (soon === undefined) return null;
  return (
    <p
      className="mt-3 rounded-md bg-warn-soft px-2.5 py-1.5 text-xs text-warn"
      title={decimalExact(soon.amount)}
    >
      {soon.isAtLeast && 'At least '}
      {money(soon.amount, currency)} in credits expires soon, {soon.isAtLeast ? 'some of it' : 'the first'}{' '}
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
    ? `The negative balance of ${money(balance.slice(1), currency)} becomes an amount owed, which the next credit pays first. `
    : '';
  const toPostpaid = owed === '0' ? '' : `The ${money(owed, currency)} owed becomes a negative balance. `;
  return (
    <ConfirmDialog
      title={`Switch the ${currency} wallet to ${mode}?`}
      action={`Switch to ${mode}`}
      change={setMode}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => setMode.mutate({ currency, mode }, { onSuccess: onClose })}
    >
      {mode === 'prepaid'
        ? `${toPrepaid}The balance can no longer fall below zero: checks and leases that it does not cover are refused.`
        : `${toPostpaid}The balance may fall below zero, and nothing is refused for lack of credit.`}{' '}
      You can switch back at any time.
    </ConfirmDialog>
  );
}

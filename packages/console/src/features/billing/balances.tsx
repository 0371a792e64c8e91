import type { ListedAccount, Wallet } from '@tollgate/contract';
import { decimalExact, decimalShort } from '../../format.js';
import { classes } from '../../ui/classes.js';

/** The balance of each wallet of an account, one below the other. */
export function Balances({ account }: { readonly account: ListedAccount }) {
  const { wallets = [], has_more_wallets: hasMore = false } = account;
  if (wallets.length === 0) return <span title="This account has no wallet yet.">—</span>;
  return (
    <ul className="tabular">
      {wallets.map((wallet) => (
        <Balance key={wallet.currency} wallet={wallet} />
      ))}
      {hasMore && <li className="text-ink-faint">and more</li>}
    </ul>
  );
}

function Balance({ wallet: { currency, balance, owed } }: { readonly wallet: Wallet }) {
  return (
    <li>
      <span title={decimalExact(balance)} className={classes(balance.startsWith('-') && 'text-bad')}>
        {decimalShort(balance)} {currency}
      </span>
      {owed !== '0' && (
        <span title={decimalExact(owed)} className="ml-2 text-bad max-sm:block">
          {decimalShort(owed)} owed
        </span>
      )}
    </li>
  );
}

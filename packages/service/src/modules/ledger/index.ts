import { AccountService, type LedgerDeps } from './accounts.js';
import { WalletService } from './wallets.js';

export { findAccount } from './account-store.js';
export { AccountService, openAccount } from './accounts.js';
export {
  type Amount,
  amountField,
  amountFromText,
  amountOfJson,
  amountText,
  exactAmount,
  greaterAmount,
  numericText,
  smallerAmount,
} from './amount.js';
export { createCreditExpiryJob } from './expiry-job.js';
export { changeHoldsText, findWallets, lockHoldsText } from './hold-store.js';
export { earlierAnswer, type KeyedRequest, KeysTaken, once, RequestKeys, writeKeys } from './idempotency.js';
export { insertKeyUsesText, type KeyScope, type KeyUse, keyUseValues } from './idempotency-store.js';
export { insufficientFunds } from './insufficient-funds.js';
export { type CorrectionDebit, postCorrections, postUsage, type UsageDebit } from './posting.js';
export { recountLedger } from './recount-store.js';
export { type HoldChange, type Release, WalletHolds } from './reservations.js';
export { registerLedgerRoutes } from './routes.js';
export { latestUsageMs, readUsageSums, type UsageSum } from './usage-sum-store.js';
export { type WalletKey, type WalletState, walletKeyText, walletNumber } from './wallet.js';
export { availableText, isAnyPrepaidText, walletKeyLists } from './wallet-store.js';
export { WalletService } from './wallets.js';

/** The parts of the ledger that its routes need. */
export interface Ledger extends Pick<LedgerDeps, 'postgres'> {
  readonly accounts: AccountService;
  readonly wallets: WalletService;
}

export function createLedger(deps: LedgerDeps): Ledger {
  return { postgres: deps.postgres, accounts: new AccountService(deps), wallets: new WalletService(deps) };
}

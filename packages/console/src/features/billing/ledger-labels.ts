import type { LedgerAccount, LedgerKind } from '@tollgate/contract';

export const KIND_LABELS: Readonly<Record<LedgerKind, string>> = {
  usage: 'Usage',
  credit: 'Credit',
  adjustment: 'Adjustment',
  credit_expiry: 'Credit expired',
  mode_change: 'Mode changed',
  correction: 'Correction',
};

export const LINE_LABELS: Readonly<Record<LedgerAccount, string>> = {
  wallet: 'Wallet',
  receivable: 'Receivable',
  usage: 'Usage',
  credits: 'Credits',
  adjustments: 'Adjustments',
  expired_credits: 'Expired credits',
};

import { type Static, Type } from 'typebox';
import { AccountId } from './accounts.js';
import {
  Currency,
  closed,
  cursorFields,
  DecimalText,
  decimalInput,
  Nullable,
  pageFields,
  UnixSeconds,
} from './common.js';
import { IDENTIFIER_CHARS_MAX, WALLETS_LIMIT_MAX } from './limits.js';
import { ProjectParams } from './tenancy.js';

/** Longest description of a credit, or reason of an adjustment. */
export const LEDGER_TEXT_CHARS_MAX = 500;
/** Least and greatest priority of a credit. */
export const CREDIT_PRIORITY_MIN = -2_147_483_648;
export const CREDIT_PRIORITY_MAX = 2_147_483_647;

export const WALLET_MODES = ['postpaid', 'prepaid'] as const;
export type WalletMode = (typeof WALLET_MODES)[number];

export const LEDGER_KINDS = [
  'usage',
  'credit',
  'adjustment',
  'credit_expiry',
  'mode_change',
  'correction',
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

export const LEDGER_ACCOUNTS = [
  'wallet',
  'receivable',
  'usage',
  'credits',
  'adjustments',
  'expired_credits',
] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

const TransactionId = Type.String({ description: 'Ledger transaction id, `led_…`.' });
const LedgerText = Type.String({ maxLength: LEDGER_TEXT_CHARS_MAX });

export const WalletModeSchema = Type.Unsafe<WalletMode>({
  type: 'string',
  enum: [...WALLET_MODES],
  description:
    'A `postpaid` wallet may go below zero. A `prepaid` one never does: usage that it cannot pay becomes `owed`, ' +
    'and the next credit pays that first.',
});
export const LedgerKindSchema = Type.Unsafe<LedgerKind>({
  type: 'string',
  enum: [...LEDGER_KINDS],
  description: 'The reason of a ledger transaction.',
});
export const LedgerAccountSchema = Type.Unsafe<LedgerAccount>({
  type: 'string',
  enum: [...LEDGER_ACCOUNTS],
  description:
    'Ledger account of the entry. Entries of `wallet` add up to the balance, entries of `receivable` to the ' +
    'negated amount owed; the others show where the amount came from or went.',
});

export const WalletParams = Type.Object(
  { ...ProjectParams.properties, id: AccountId, currency: Currency },
  closed,
);

export const Wallet = Type.Object(
  {
    currency: Currency,
    mode: WalletModeSchema,
    balance: DecimalText,
    owed: { ...DecimalText, description: 'Usage that a prepaid wallet could not pay.' },
    reserved: { ...DecimalText, description: 'Amount reserved by active budget leases.' },
    available: {
      ...DecimalText,
      description: '`balance` less `reserved`; below zero if usage consumed reserved amounts.',
    },
    created_at: UnixSeconds,
  },
  { ...closed, description: 'The balance of an account in one currency.' },
);

export const WalletList = Type.Object(
  { wallets: Type.Array(Wallet), next_cursor: Nullable(Type.String()) },
  { ...closed, description: 'The wallets of an account, one per currency.' },
);

/** Nearly every account has all its wallets on one page. */
export const WalletsQuery = Type.Object(
  cursorFields('Page size.', WALLETS_LIMIT_MAX, WALLETS_LIMIT_MAX),
  closed,
);

export const UpdateWalletBody = Type.Object(
  { mode: WalletModeSchema },
  { ...closed, description: 'The new mode of the wallet.' },
);

const idempotencyKey = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_CHARS_MAX,
  description:
    'Repeating a request with the same key has no further effect and returns the same response. Using the key for ' +
    'a different request returns 409. Scoped to the project.',
});
export const IdempotencyKeyHeaders = Type.Object({ 'idempotency-key': idempotencyKey });
export const OptionalIdempotencyKeyHeaders = Type.Object({
  'idempotency-key': Type.Optional(idempotencyKey),
});

const creditFields = {
  description: Type.Optional(LedgerText),
  expires_at: Type.Optional({
    ...UnixSeconds,
    description: 'When the remaining amount of the credit is removed; in the future. Unix seconds.',
  }),
  priority: Type.Optional(
    Type.Integer({
      minimum: CREDIT_PRIORITY_MIN,
      maximum: CREDIT_PRIORITY_MAX,
      description:
        'Credits are consumed by priority, lowest first; then by earliest expiry, then by age. Default: 0.',
    }),
  ),
};

export const CreateCreditBody = Type.Object(
  { amount: decimalInput('Above 0.'), ...creditFields },
  { ...closed, description: 'A credit to grant.' },
);

export const Credit = Type.Object(
  {
    id: Type.String({ description: 'Credit grant id, `crg_…`.' }),
    transaction_id: TransactionId,
    account_id: AccountId,
    currency: Currency,
    source: Type.Union([Type.Literal('credit'), Type.Literal('adjustment')]),
    amount: DecimalText,
    remaining: { ...DecimalText, description: 'Remaining balance of the credit.' },
    priority: Type.Integer(),
    expires_at: Nullable(UnixSeconds),
    expired_at: Nullable({
      ...UnixSeconds,
      description: 'When the remaining amount was removed because the credit expired.',
    }),
    description: Nullable(Type.String()),
    created_at: UnixSeconds,
  },
  { ...closed, description: 'A credit, and how much of it remains.' },
);

export const CreditList = Type.Object(
  { credits: Type.Array(Credit), ...pageFields },
  { ...closed, description: 'One page of the credits of a wallet.' },
);

export const CreateAdjustmentBody = Type.Object(
  {
    amount: decimalInput('Signed, not 0.'),
    reason: Type.String({ minLength: 1, maxLength: LEDGER_TEXT_CHARS_MAX, pattern: '\\S' }),
  },
  { ...closed, description: 'A change of a balance by hand, with its reason.' },
);

export const Adjustment = Type.Object(
  {
    transaction_id: TransactionId,
    account_id: AccountId,
    currency: Currency,
    amount: DecimalText,
    reason: Type.String(),
    credit_id: Nullable(Type.String({ description: 'The credit that was created for an amount above 0.' })),
    created_at: UnixSeconds,
  },
  { ...closed, description: 'A change of a balance by hand, as it was posted.' },
);

export const LedgerQuery = Type.Object(
  {
    currency: Type.Optional(Currency),
    kind: Type.Optional(LedgerKindSchema),
    ledger_account: Type.Optional(LedgerAccountSchema),
    ...cursorFields(),
  },
  closed,
);

export const LedgerEntry = Type.Object(
  {
    transaction_id: TransactionId,
    kind: LedgerKindSchema,
    ledger_account: LedgerAccountSchema,
    currency: Currency,
    amount: { ...DecimalText, description: 'Signed. The entries of a transaction add up to zero.' },
    description: Nullable(Type.String()),
    correction_id: Nullable(
      Type.String({ description: 'The correction that posted the transaction; null for other kinds.' }),
    ),
    created_at: UnixSeconds,
  },
  { ...closed, description: 'An entry of a ledger transaction.' },
);

export const LedgerPage = Type.Object(
  { entries: Type.Array(LedgerEntry), next_cursor: Nullable(Type.String()) },
  { ...closed, description: 'One page of ledger entries, newest first.' },
);

export type Wallet = Static<typeof Wallet>;
export type WalletsQuery = Static<typeof WalletsQuery>;
export type WalletList = Static<typeof WalletList>;
export type UpdateWalletBody = Static<typeof UpdateWalletBody>;
export type CreateCreditBody = Static<typeof CreateCreditBody>;
export type Credit = Static<typeof Credit>;
export type CreditList = Static<typeof CreditList>;
export type CreateAdjustmentBody = Static<typeof CreateAdjustmentBody>;
export type Adjustment = Static<typeof Adjustment>;
export type LedgerQuery = Static<typeof LedgerQuery>;
export type LedgerEntry = Static<typeof LedgerEntry>;
export type LedgerPage = Static<typeof LedgerPage>;

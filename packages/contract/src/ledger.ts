import { type Static, Type } from 'typebox';
import {
  closed,
  cursorFields,
  DecimalText,
  decimalInput,
  Nullable,
  PageQuery,
  pageFields,
  ResourceName,
  UNIX_SECONDS_MAX,
  UnixSeconds,
} from './common.js';
import { CURRENCY_PATTERN, IDENTIFIER_CHARS_MAX } from './limits.js';
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

const AccountId = Type.String({ description: 'Account id, `acct_…`.' });
const TransactionId = Type.String({ description: 'Ledger transaction id, `led_…`.' });
const Currency = Type.String({
  pattern: CURRENCY_PATTERN,
  description: 'ISO 4217 code, or a unit of your own.',
});
const ExternalId = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_CHARS_MAX,
  description: 'Id of the account in your own system; unique in the project.',
});
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

export const AccountParams = Type.Object({ ...ProjectParams.properties, id: AccountId }, closed);
export const WalletParams = Type.Object(
  { ...ProjectParams.properties, id: AccountId, currency: Currency },
  closed,
);

const AccountTimezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    "IANA timezone of the periods of the account's counters; default: `UTC`. A new one applies from the next period on.",
});
const AccountAnchor = Type.Integer({
  minimum: 0,
  maximum: UNIX_SECONDS_MAX,
  description:
    "Unix seconds from which periods such as `1 month` of the account's counters are counted; default: when the account " +
    'was created. A new one applies from the next period on.',
});
const AccountMetadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Your own fields; at most 16 KiB as compact JSON.',
});
const accountSettings = {
  timezone: Type.Optional(AccountTimezone),
  anchor: Type.Optional(AccountAnchor),
  metadata: Type.Optional(AccountMetadata),
};

export const CreateAccountBody = Type.Object(
  { name: ResourceName, external_id: Type.Optional(ExternalId), ...accountSettings },
  { ...closed, description: 'A billing account to create.' },
);

export const UpdateAccountBody = Type.Object(
  { name: Type.Optional(ResourceName), external_id: Type.Optional(Nullable(ExternalId)), ...accountSettings },
  {
    ...closed,
    description: 'Fields to change; others stay as they are. `metadata` is replaced as a whole.',
  },
);

export const Account = Type.Object(
  {
    id: AccountId,
    tenant_id: Type.String(),
    project_id: Type.String(),
    name: ResourceName,
    external_id: Nullable(ExternalId),
    timezone: AccountTimezone,
    anchor: AccountAnchor,
    metadata: AccountMetadata,
    created_at: UnixSeconds,
  },
  { ...closed, description: 'A billing account of a customer.' },
);

export const AccountListQuery = Type.Object(
  {
    external_id: Type.Optional({ ...ExternalId, description: 'Only the account with this external id.' }),
    ...PageQuery.properties,
  },
  closed,
);

export const AccountList = Type.Object(
  { accounts: Type.Array(Account), ...pageFields },
  { ...closed, description: 'One page of billing accounts.' },
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
  { wallets: Type.Array(Wallet) },
  { ...closed, description: 'The wallets of an account, one per currency.' },
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

export type CreateAccountBody = Static<typeof CreateAccountBody>;
export type UpdateAccountBody = Static<typeof UpdateAccountBody>;
export type Account = Static<typeof Account>;
export type AccountListQuery = Static<typeof AccountListQuery>;
export type AccountList = Static<typeof AccountList>;
export type Wallet = Static<typeof Wallet>;
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

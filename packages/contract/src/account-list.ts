import { type Static, Type } from 'typebox';
import { Account, ExternalId } from './accounts.js';
import { closed, PageQuery, pageFields } from './common.js';
import { Wallet } from './ledger.js';
import { LISTED_WALLETS_MAX } from './limits.js';

export const AccountListQuery = Type.Object(
  {
    external_id: Type.Optional({ ...ExternalId, description: 'Only the account with this external id.' }),
    include: Type.Optional(
      Type.Literal('wallets', { description: '`wallets`: also return the wallets of each account.' }),
    ),
    ...PageQuery.properties,
  },
  closed,
);

export const ListedAccount = Type.Object(
  {
    ...Account.properties,
    wallets: Type.Optional(
      Type.Array(Wallet, {
        maxItems: LISTED_WALLETS_MAX,
        description: `With \`include=wallets\`: the first ${LISTED_WALLETS_MAX} wallets, in order of currency.`,
      }),
    ),
    has_more_wallets: Type.Optional(
      Type.Boolean({
        description: 'With `include=wallets`: the account has more wallets than were returned.',
      }),
    ),
  },
  { ...closed, description: 'A billing account in a list.' },
);

export const AccountList = Type.Object(
  { accounts: Type.Array(ListedAccount), ...pageFields },
  { ...closed, description: 'One page of billing accounts.' },
);

export type AccountListQuery = Static<typeof AccountListQuery>;
export type ListedAccount = Static<typeof ListedAccount>;
export type AccountList = Static<typeof AccountList>;

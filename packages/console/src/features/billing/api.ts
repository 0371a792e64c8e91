import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type {
  CreateAccountBody,
  CreateAdjustmentBody,
  CreateCreditBody,
  LedgerAccount,
  LedgerKind,
  UpdateAccountBody,
  Wallet,
} from '@tollgate/contract';
import { firstEntries } from '../../api/every-page.js';
import { filled } from '../../api/filled.js';
import { useProjectClient } from '../../project.js';

const BILLING = 'billing';
const PAGE_SIZE = 50;
const CREDITS_PAGE_SIZE = 100;
const REFRESH_MS = 5_000;
/** Longer, because it takes several requests for a wallet with many credits. */
const EVERY_CREDIT_REFRESH_MS = 30_000;

/** Accounts with their wallets, oldest first. With an external ID, only the account that has it. */
export function useAccounts(externalId: string) {
  const { projectId, accounts } = useProjectClient();
  return useInfiniteQuery({
    queryKey: [BILLING, projectId, 'accounts', externalId],
    queryFn: ({ pageParam }) =>
      accounts.list({
        ...filled({ external_id: externalId }),
        include: 'wallets',
        limit: PAGE_SIZE,
        offset: pageParam,
      }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total_count }) =>
      offset + limit < total_count ? offset + limit : undefined,
  });
}

export function useAccount(id: string) {
  const { projectId, accounts } = useProjectClient();
  return useQuery({
    queryKey: [BILLING, projectId, 'account', id],
    queryFn: () => accounts.get(id),
  });
}

export function useWallets(accountId: string) {
  const { projectId, accounts } = useProjectClient();
  return useQuery({
    queryKey: [BILLING, projectId, 'wallets', accountId],
    queryFn: async () => (await accounts.wallets(accountId)).wallets,
    refetchInterval: REFRESH_MS,
  });
}

export interface LedgerFilter {
  readonly currency: string;
  readonly kind: LedgerKind | '';
  /** Empty for all entries of every transaction. */
  readonly ledger_account: LedgerAccount | '';
}

export function useLedger(accountId: string, filter: LedgerFilter) {
  const { projectId, accounts } = useProjectClient();
  return useInfiniteQuery({
    queryKey: [BILLING, projectId, 'ledger', accountId, filter],
    queryFn: ({ pageParam }) =>
      accounts.ledger(accountId, { ...filled({ ...filter, cursor: pageParam }), limit: PAGE_SIZE }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

/** The credits of a wallet and their remaining amounts, newest first. */
export function useCredits(accountId: string, currency: string, offset: number) {
  const { projectId, accounts } = useProjectClient();
  return useQuery({
    queryKey: [BILLING, projectId, 'credits', accountId, currency, offset],
    queryFn: () => accounts.credits(accountId, currency, { offset, limit: CREDITS_PAGE_SIZE }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** All credits of a wallet, unless there are very many. */
export function useEveryCredit(accountId: string, currency: string) {
  const { projectId, accounts } = useProjectClient();
  return useQuery({
    queryKey: [BILLING, projectId, 'every credit', accountId, currency],
    queryFn: () =>
      firstEntries(
        (page) => accounts.credits(accountId, currency, page),
        (page) => page.credits,
      ),
    refetchInterval: EVERY_CREDIT_REFRESH_MS,
  });
}

/** Creates an account, or changes some of its fields. */
export function useSaveAccount() {
  const { projectId, accounts } = useProjectClient();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: [BILLING, projectId] });
  return {
    create: useMutation({ mutationFn: (body: CreateAccountBody) => accounts.create(body), onSettled }),
    update: useMutation({
      mutationFn: ({ id, changes }: { readonly id: string; readonly changes: UpdateAccountBody }) =>
        accounts.update(id, changes),
      onSettled,
    }),
  };
}

/** A change of a wallet that is applied once for each key. */
interface Once<Body> {
  readonly currency: string;
  readonly key: string;
  readonly body: Body;
}

/** Changes of a wallet. After each of them, all billing data is fetched again. */
export function useWalletChanges(accountId: string) {
  const { projectId, accounts } = useProjectClient();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: [BILLING, projectId] });
  return {
    credit: useMutation({
      mutationFn: ({ currency, key, body }: Once<CreateCreditBody>) =>
        accounts.credit(accountId, currency, body, { idempotencyKey: key }),
      onSettled,
    }),
    adjust: useMutation({
      mutationFn: ({ currency, key, body }: Once<CreateAdjustmentBody>) =>
        accounts.adjust(accountId, currency, body, { idempotencyKey: key }),
      onSettled,
    }),
    setMode: useMutation({
      mutationFn: ({ currency, mode }: Pick<Wallet, 'currency' | 'mode'>) =>
        accounts.setWalletMode(accountId, currency, mode),
      onSettled,
    }),
  };
}

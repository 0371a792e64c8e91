import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type {
  Account,
  AccountList,
  Adjustment,
  CreateAccountBody,
  CreateAdjustmentBody,
  CreateCreditBody,
  Credit,
  CreditList,
  LedgerAccount,
  LedgerKind,
  LedgerPage,
  Wallet,
  WalletList,
} from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useProjectPath } from '../../project.js';

const MONEY = 'money';
const PAGE_SIZE = 50;
const CREDITS_PAGE_SIZE = 100;
const REFRESH_MS = 5_000;

/** Accounts, oldest first. With an external ID, only the account that has it. */
export function useAccounts(externalId: string) {
  const project = useProjectPath();
  return useInfiniteQuery({
    queryKey: [MONEY, project, 'accounts', externalId],
    queryFn: ({ pageParam }) =>
      request<AccountList>(
        'GET',
        withQuery(`${project}/accounts`, { external_id: externalId, limit: PAGE_SIZE, offset: pageParam }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total_count }) =>
      offset + limit < total_count ? offset + limit : undefined,
  });
}

export function useAccount(id: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [MONEY, project, 'account', id],
    queryFn: () => request<Account>('GET', `${project}/accounts/${id}`),
  });
}

export function useWallets(accountId: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [MONEY, project, 'wallets', accountId],
    queryFn: async () =>
      (await request<WalletList>('GET', `${project}/accounts/${accountId}/wallets`)).wallets,
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
  const project = useProjectPath();
  return useInfiniteQuery({
    queryKey: [MONEY, project, 'ledger', accountId, filter],
    queryFn: ({ pageParam }) =>
      request<LedgerPage>(
        'GET',
        withQuery(`${project}/accounts/${accountId}/ledger`, {
          ...filter,
          limit: PAGE_SIZE,
          cursor: pageParam,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

/** The credits of a wallet and their remaining amounts, newest first. */
export function useCredits(accountId: string, currency: string, offset = 0) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [MONEY, project, 'credits', accountId, currency, offset],
    queryFn: () =>
      request<CreditList>(
        'GET',
        withQuery(`${project}/accounts/${accountId}/wallets/${currency}/credits`, {
          offset,
          limit: CREDITS_PAGE_SIZE,
        }),
      ),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export function useCreateAccount() {
  const project = useProjectPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: CreateAccountBody) => request<Account>('POST', `${project}/accounts`, { body }),
    onSettled: () => client.invalidateQueries({ queryKey: [MONEY, project] }),
  });
}

/** A change of a wallet that is applied once for each key. */
interface Once<Body> {
  readonly currency: string;
  readonly key: string;
  readonly body: Body;
}

/** Changes of a wallet. After each of them, all billing data is fetched again. */
export function useWalletChanges(accountId: string) {
  const project = useProjectPath();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: [MONEY, project] });
  const path = (currency: string) =>
    `${project}/accounts/${accountId}/wallets/${encodeURIComponent(currency)}`;
  const post = <Answer>(what: string, { currency, key, body }: Once<unknown>) =>
    request<Answer>('POST', `${path(currency)}/${what}`, { body, headers: { 'idempotency-key': key } });
  return {
    credit: useMutation({
      mutationFn: (once: Once<CreateCreditBody>) => post<Credit>('credits', once),
      onSettled,
    }),
    adjust: useMutation({
      mutationFn: (once: Once<CreateAdjustmentBody>) => post<Adjustment>('adjustments', once),
      onSettled,
    }),
    setMode: useMutation({
      mutationFn: ({ currency, mode }: Pick<Wallet, 'currency' | 'mode'>) =>
        request<Wallet>('PUT', path(currency), { body: { mode } }),
      onSettled,
    }),
  };
}

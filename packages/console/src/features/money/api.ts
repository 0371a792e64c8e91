import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  Account,
  AccountList,
  CreateCreditBody,
  Credit,
  LedgerPage,
  Wallet,
  WalletList,
} from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useProjectPath } from '../../project.js';

const MONEY = 'money';
const PAGE_SIZE = 50;

/** Accounts, oldest first; of an external id, only the one that has it. */
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
    refetchInterval: 5_000,
  });
}

export function useLedger(accountId: string, currency: string | undefined) {
  const project = useProjectPath();
  return useInfiniteQuery({
    queryKey: [MONEY, project, 'ledger', accountId, currency],
    queryFn: ({ pageParam }) =>
      request<LedgerPage>(
        'GET',
        withQuery(`${project}/accounts/${accountId}/ledger`, {
          currency,
          ledger_account: 'wallet',
          limit: PAGE_SIZE,
          cursor: pageParam,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

/** What is done to a wallet by hand; afterwards everything about money is read anew. */
export function useWalletChanges(accountId: string) {
  const project = useProjectPath();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: [MONEY, project] });
  const path = (currency: string) => `${project}/accounts/${accountId}/wallets/${currency}`;
  return {
    credit: useMutation({
      mutationFn: ({ currency, key, body }: { currency: string; key: string; body: CreateCreditBody }) =>
        request<Credit>('POST', `${path(currency)}/credits`, { body, headers: { 'idempotency-key': key } }),
      onSettled,
    }),
    setMode: useMutation({
      mutationFn: ({ currency, mode }: Pick<Wallet, 'currency' | 'mode'>) =>
        request<Wallet>('PUT', path(currency), { body: { mode } }),
      onSettled,
    }),
  };
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type Me, type Permission, permits } from '@tollgate/contract';
import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { onUnauthenticated, session } from './transport.js';

const SESSION_KEY = ['session'];
const MeContext = createContext<Me | undefined>(undefined);

/** The signed-in user; only below `MeProvider`. */
export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === undefined) throw new Error('no user is signed in');
  return me;
}

/** Whether the signed-in user has this permission. */
export function useMay(needed: Permission): boolean {
  return permits(useMe().permissions, needed);
}

export function MeProvider({ me, children }: { readonly me: Me; readonly children: ReactNode }) {
  return <MeContext value={me}>{children}</MeContext>;
}

/**
 * The session of this browser; null if no user is signed in. It is fetched again when a request is rejected,
 * because the session may have ended or another tab may have started a new one.
 */
export function useSession() {
  const client = useQueryClient();
  useEffect(
    () =>
      onUnauthenticated(
        () => void client.invalidateQueries({ queryKey: SESSION_KEY }, { cancelRefetch: false }),
      ),
    [client],
  );
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

async function readSession(): Promise<Me | null> {
  return (await session.read()).me;
}

/** Signing in and out. Both clear all data that was fetched in the previous session. */
export function useSignIn() {
  const client = useQueryClient();
  return {
    async signIn(apiKey: string): Promise<void> {
      await session.begin(apiKey);
      client.clear();
      await client.fetchQuery({ queryKey: SESSION_KEY, queryFn: readSession });
    },
    async signOut(): Promise<void> {
      await session.end();
      client.clear();
      await client.invalidateQueries({ queryKey: SESSION_KEY });
    },
  };
}

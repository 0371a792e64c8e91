import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type Me, type Permission, permits } from '@tollgate/contract';
import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { onUnauthenticated, rememberCsrfToken, request, SESSION_PATH } from './client.js';

interface SessionAnswer {
  readonly csrf_token: string | null;
  readonly me: Me | null;
}

const SESSION_KEY = ['session'];
const MeContext = createContext<Me | undefined>(undefined);

/** Who is signed in; only below `WithSession`. */
export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === undefined) throw new Error('nobody is signed in');
  return me;
}

/** Whether who is signed in may do what needs this permission. */
export function useMay(needed: Permission): boolean {
  return permits(useMe().permissions, needed);
}

export function MeProvider({ me, children }: { readonly me: Me; readonly children: ReactNode }) {
  return <MeContext value={me}>{children}</MeContext>;
}

/**
 * The session of this browser: null where nobody is signed in. It is read again when a request is refused:
 * the session may have ended, or another tab has begun a new one.
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
  const { csrf_token, me } = await request<SessionAnswer>('GET', SESSION_PATH);
  rememberCsrfToken(csrf_token ?? '');
  return me;
}

/** Signing in and out; either forgets everything that was read as somebody else. */
export function useSignIn() {
  const client = useQueryClient();
  return {
    async signIn(apiKey: string): Promise<void> {
      await request('POST', SESSION_PATH, { body: { api_key: apiKey } });
      client.clear();
      await client.fetchQuery({ queryKey: SESSION_KEY, queryFn: readSession });
    },
    async signOut(): Promise<void> {
      await request('DELETE', SESSION_PATH);
      client.clear();
      await client.invalidateQueries({ queryKey: SESSION_KEY });
    },
  };
}

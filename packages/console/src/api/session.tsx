import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type Me, type Permission, permits } from '@tollgate/contract';
import { createContext, type ReactNode, useContext } from 'react';
import { rememberCsrfToken, request } from './client.js';

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

/** The session of this browser: null where nobody is signed in. */
export function useSession() {
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

async function readSession(): Promise<Me | null> {
  const { csrf_token, me } = await request<SessionAnswer>('GET', '/session');
  rememberCsrfToken(csrf_token ?? '');
  return me;
}

/** Signing in and out; either forgets everything that was read as somebody else. */
export function useSignIn() {
  const client = useQueryClient();
  return {
    async signIn(apiKey: string): Promise<void> {
      await request('POST', '/session', { body: { api_key: apiKey } });
      client.clear();
      await client.fetchQuery({ queryKey: SESSION_KEY, queryFn: readSession });
    },
    async signOut(): Promise<void> {
      await request('DELETE', '/session');
      client.clear();
      await client.invalidateQueries({ queryKey: SESSION_KEY });
    },
  };
}

import { ApiError } from '@tollgate/sdk/browser';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { useSignIn } from '../../api/session.js';
import { Logo } from '../../shell/logo.js';
import { Button } from '../../ui/button.js';
import { Field, TextInput } from '../../ui/field.js';
import { messageOf } from '../../ui/states.js';

/** Signs in with an API key that is typed or part of a link as `#key=…`, which browsers do not send to servers. */
export function SignInPage() {
  const { signIn } = useSignIn();
  const [, navigate] = useLocation();
  const [parameters] = useSearchParams();
  const from = pageOf(parameters.get('from'));
  const [key, setKey] = useState('');
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const enter = async (apiKey: string) => {
    setBusy(true);
    setFailure(undefined);
    try {
      await signIn(apiKey);
      navigate(from ?? '/', { replace: true });
    } catch (error) {
      setFailure(isInvalidKey(error) ? 'Invalid or revoked API key.' : messageOf(error));
      setBusy(false);
    }
  };
  useLinkKey(enter);
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void enter(key.trim());
  };
  return (
    <main className="flex min-h-dvh items-center justify-center px-4 pb-24">
      <form
        onSubmit={submit}
        className="w-full max-w-sm rounded-xl border border-line bg-panel p-6 shadow-sm"
      >
        <div className="mb-5 flex items-center gap-2.5">
          <Logo />
          <h1 className="text-[15px] font-semibold tracking-tight">Sign in to Tollgate</h1>
        </div>
        {from !== undefined && <p className="mb-4 text-[13px] text-ink-soft">Sign in to continue.</p>}
        <Field
          label="API key"
          error={failure}
          hint="An API key, or the service key printed at the first start. It is not stored in this browser."
        >
          {(control) => (
            <TextInput
              {...control}
              type="password"
              required
              autoFocus
              spellCheck={false}
              placeholder="tg_live_…"
              className="w-full font-mono"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" look="primary" className="mt-5 w-full" isBusy={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
    </main>
  );
}

function isInvalidKey(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** A path of the console or the return from a payment; undefined for any other address. */
function pageOf(path: string | null): string | undefined {
  return path !== null && /^\/(p\/|\?)/.test(path) ? path : undefined;
}

/** Signs in with the key of a link and removes it from the address bar. */
function useLinkKey(enter: (apiKey: string) => Promise<void>): void {
  const isTaken = useRef(false);
  useEffect(() => {
    const key = /^#key=(.+)$/.exec(window.location.hash)?.[1];
    if (key === undefined || isTaken.current) return;
    isTaken.current = true;
    window.history.replaceState(null, '', window.location.pathname);
    void enter(decodeURIComponent(key));
  });
}

import { ApiError, ConnectionError } from '@tollgate/sdk/browser';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.js';

/** Shown when there is no content: the reason, and what to do next. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-16 text-center">
      {icon !== undefined && (
        <div className="mb-4 flex size-11 items-center justify-center rounded-full bg-accent-soft text-accent">
          {icon}
        </div>
      )}
      <h2 className="text-[15px] font-semibold">{title}</h2>
      {children !== undefined && <p className="mt-1.5 max-w-md text-[13px] text-ink-soft">{children}</p>}
      {action !== undefined && <div className="mt-5 text-[13px] font-medium empty:hidden">{action}</div>}
    </div>
  );
}

/** A query that has failed. */
export interface FailedRead {
  readonly error: unknown;
  refetch(): unknown;
}

/** Shows why data could not be loaded, with a button to try again. */
export function ReadFailure({ of }: { readonly of: FailedRead }) {
  return <FailureNote error={of.error} onRetry={() => void of.refetch()} />;
}

/** Shows the error of a request, with a button to try again if `onRetry` is given and the error can pass. */
export function FailureNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const isDenied = isPermissionDenied(error);
  return (
    <div
      role="alert"
      className="flex items-start gap-2.5 rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad"
    >
      <CircleAlert size={16} className="mt-0.5 shrink-0" />
      <div className="min-w-0 grow">
        <p className="break-words">{messageOf(error)}</p>
        {error instanceof ApiError && error.details.length > 0 && !isDenied && (
          <ul className="mt-1 list-disc pl-4">
            {error.details.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path !== '' && <code className="font-mono text-xs">{path}</code>} {message}
              </li>
            ))}
          </ul>
        )}
      </div>
      {onRetry !== undefined && !isDenied && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function messageOf(error: unknown): string {
  if (error instanceof ConnectionError)
    return 'The service cannot be reached. Check your connection and try again.';
  if (error instanceof ApiError && error.code === 'unknown')
    return `The service responded with status ${error.status}.`;
  const message = error instanceof Error ? error.message : 'Something went wrong.';
  return isPermissionDenied(error) ? `${message} Sign in with a key that has it.` : message;
}

function isPermissionDenied(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'permission_denied';
}

/** Placeholder while data loads. Give it the height of the content, so that the page does not jump. */
export function Skeleton({ className }: { readonly className: string }) {
  return <div aria-hidden className={`animate-pulse rounded-md bg-sunken ${className}`} />;
}

import { ApiError } from '@tollgate/sdk/browser';
import { Compass } from 'lucide-react';
import { InlineLink } from '../ui/inline-link.js';
import { EmptyState, type FailedRead, ReadFailure } from '../ui/states.js';
import { type Above, PageHeader } from './page-header.js';

const NOT_FOUND = 404;

/** Shown in place of a page whose data could not be loaded: the reason, and a link to the list above it. */
export function FailedPage({ above, of }: { readonly above: Above; readonly of: FailedRead }) {
  const { error } = of;
  if (error instanceof ApiError && error.status === NOT_FOUND)
    return <MissingPage above={above}>{error.message}</MissingPage>;
  return (
    <>
      <PageHeader above={above} title="Not available" />
      <div className="px-4 pb-10 sm:px-6">
        <ReadFailure of={of} />
      </div>
    </>
  );
}

/** Shown for an address that does not exist, with a link back. */
export function MissingPage({ above, children }: { readonly above: Above; readonly children: string }) {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={<Compass size={20} />}
        title="There is no such page"
        action={<InlineLink href={above.href}>Back to {above.label}</InlineLink>}
      >
        {children}
      </EmptyState>
    </>
  );
}

import { Compass } from 'lucide-react';
import { ApiFailure } from '../api/client.js';
import { InlineLink } from '../ui/inline-link.js';
import { EmptyState, type FailedRead, ReadFailure } from '../ui/states.js';
import { type Above, PageHeader } from './page-header.js';

const NOT_FOUND = 404;

/** In place of the page of one thing that could not be read: why, and the way back to the others. */
export function FailedPage({ above, of }: { readonly above: Above; readonly of: FailedRead }) {
  const { error } = of;
  if (error instanceof ApiFailure && error.status === NOT_FOUND)
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

/** Of an address that leads to nothing, with the way back. */
export function MissingPage({ above, children }: { readonly above: Above; readonly children: string }) {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={<Compass size={20} />}
        title="There is nothing here"
        action={<InlineLink href={above.href}>Back to {above.label}</InlineLink>}
      >
        {children}
      </EmptyState>
    </>
  );
}

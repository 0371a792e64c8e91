import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** A link within text. The line sets it apart for people who do not see its colour. */
export function InlineLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <Link
      href={href}
      className="text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
    >
      {children}
    </Link>
  );
}

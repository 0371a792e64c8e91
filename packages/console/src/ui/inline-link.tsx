import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** A link within text. */
export function InlineLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <Link href={href} className="text-accent hover:underline">
      {children}
    </Link>
  );
}

import type { ReactNode } from 'react';

/** A list of names and values. Values of lists below each other are aligned, unless a name is long. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="grid min-w-0 grow grid-cols-[minmax(6rem,auto)_minmax(0,1fr)] gap-x-3 gap-y-1.5 text-[13px] sm:gap-x-6">
      {children}
    </dl>
  );
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-faint">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

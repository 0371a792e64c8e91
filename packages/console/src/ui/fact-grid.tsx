import type { ReactNode } from 'react';

export type NamedFact = readonly [name: string, value: ReactNode];

/** Facts about the thing that a page is about, in up to three columns. Each name is above its value. */
export function FactGrid({ facts }: { readonly facts: readonly NamedFact[] }) {
  return (
    <dl className="grid gap-x-6 gap-y-3 text-[13px] sm:grid-cols-3">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-ink-faint">{name}</dt>
          <dd className="mt-0.5 wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

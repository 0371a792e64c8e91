import { type ReactNode, useId } from 'react';

/** A section of the form with a title and a hint. */
export function FormSection({
  title,
  hint,
  actions,
  children,
}: {
  readonly title: string;
  readonly hint?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className="grid gap-x-8 gap-y-3 border-t border-line py-6 first:border-0 first:pt-0 xl:grid-cols-[14rem_minmax(0,1fr)]"
    >
      <div>
        <h2 id={id} className="text-[15px] font-semibold">
          {title}
        </h2>
        {hint !== undefined && <p className="mt-1 max-w-prose text-xs text-ink-faint">{hint}</p>}
        {actions !== undefined && <div className="mt-3">{actions}</div>}
      </div>
      <div className="flex min-w-0 flex-col gap-4">{children}</div>
    </section>
  );
}

/** Fields in two columns on wide screens. */
export function FieldGrid({ children }: { readonly children: ReactNode }) {
  return <div className="grid gap-4 sm:grid-cols-2">{children}</div>;
}

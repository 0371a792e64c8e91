import { Search } from 'lucide-react';
import type { FormEvent, ReactNode } from 'react';
import { Button } from './button.js';

/** Asks for what is looked for by more than one letter at a time: fields in a row, and the button that finds it. */
export function SearchForm({
  action,
  onSubmit,
  children,
}: {
  /** What the button says. */
  readonly action: string;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <search>
      <form onSubmit={submit} className="flex flex-wrap gap-2">
        {children}
        <Button type="submit">
          <Search size={14} />
          {action}
        </Button>
      </form>
    </search>
  );
}

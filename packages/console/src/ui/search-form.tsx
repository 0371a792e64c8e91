import { Search } from 'lucide-react';
import type { FormEvent, ReactNode } from 'react';
import { Button } from './button.js';

/** A search form: fields in a row, and a submit button. */
export function SearchForm({
  action,
  onSubmit,
  children,
}: {
  /** Label of the button. */
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

import { Link, useLocation } from 'wouter';
import { classes } from './classes.js';

export interface Tab {
  readonly label: string;
  readonly href: string;
}

/** Tabs of a page, each with its own address. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const [location] = useLocation();
  return (
    <nav aria-label={label} className="mx-4 mb-5 flex gap-5 overflow-x-auto border-b border-line sm:mx-6">
      {tabs.map(({ label: name, href }) => (
        <Link
          key={href}
          href={href}
          aria-current={location === href ? 'page' : undefined}
          className={classes(
            '-mb-px border-b-2 pb-2 text-[13px] font-medium whitespace-nowrap',
            location === href ? 'border-accent text-ink' : 'border-transparent text-ink-soft hover:text-ink',
          )}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

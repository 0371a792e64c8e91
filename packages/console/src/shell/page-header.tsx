import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { useProject } from '../project.js';

export const CONTENT_ID = 'content';

/** The first page that is shown has not been gone to: its heading does not take the focus. */
let hasShownPage = false;

/** The list, or the like, that a page belongs to. */
export interface Above {
  readonly label: string;
  readonly href: string;
}

/** The head of a page: what it shows, and what can be done here. It names the page in the window's title, too. */
export function PageHeader({
  above,
  title,
  lead,
  actions,
}: {
  readonly above?: Above;
  readonly title: ReactNode;
  /** What it is about, in a sentence, for who has not read the documentation. */
  readonly lead?: string;
  readonly actions?: ReactNode;
}) {
  const project = useProject();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${heading.current?.textContent} · ${project.name} · Tollgate`;
  });
  useEffect(() => {
    // Who hears the page is told of it; who has the focus in it already, in a field say, keeps it.
    const isInside = document.getElementById(CONTENT_ID)?.contains(document.activeElement) === true;
    if (hasShownPage && !isInside) heading.current?.focus({ preventScroll: true });
    hasShownPage = true;
  }, []);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-5 pb-4 sm:px-6 lg:pt-6">
      <h1
        ref={heading}
        tabIndex={-1}
        className="mr-auto min-w-0 truncate text-lg leading-8 font-semibold tracking-tight outline-none"
      >
        {above !== undefined && (
          <>
            <Link href={above.href} className="font-normal text-ink-faint hover:text-ink">
              {above.label} /
            </Link>{' '}
          </>
        )}
        <bdi>{title}</bdi>
      </h1>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      {lead !== undefined && <p className="basis-full text-[13px] text-ink-soft">{lead}</p>}
    </div>
  );
}

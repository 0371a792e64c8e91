import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { useProject } from '../project.js';

export const CONTENT_ID = 'content';

/** Whether a page was shown before. The heading of the first page does not take the focus. */
let hasShownPage = false;

/** The parent page, usually a list. */
export interface Above {
  readonly label: string;
  readonly href: string;
}

/** The header of a page, with its title and actions. It also sets the title of the window. */
export function PageHeader({
  above,
  title,
  lead,
  actions,
}: {
  readonly above?: Above;
  readonly title: ReactNode;
  /** One sentence that explains the page to new users. */
  readonly lead?: string;
  readonly actions?: ReactNode;
}) {
  const project = useProject();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${heading.current?.textContent} · ${project.name} · Tollgate`;
  });
  useEffect(() => {
    // Focuses the heading so that screen readers announce the page, unless the focus is already in the page.
    const isInside = document.getElementById(CONTENT_ID)?.contains(document.activeElement) === true;
    if (hasShownPage && !isInside) heading.current?.focus({ preventScroll: true });
    hasShownPage = true;
  }, []);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-5 pb-4 sm:px-6 lg:pt-6">
      <h1
        ref={heading}
        tabIndex={-1}
        className="mr-auto line-clamp-2 min-w-0 text-lg wrap-anywhere leading-8 font-semibold tracking-tight outline-none"
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

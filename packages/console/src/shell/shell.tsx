import { Menu as MenuIcon, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useProject } from '../project.js';
import { IconButton } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { AccountMenu } from './account-menu.js';
import { Logo } from './logo.js';
import { NAVIGATION } from './navigation.js';
import { CONTENT_ID } from './page-header.js';
import { ProjectSwitcher } from './project-switcher.js';
import { SavedWarnings } from './saved-warnings.js';

/** Boards use the full width; all other pages have a maximum width for reading. */
const BOARD = /^\/p\/[^/]+\/boards\/./;

/** The frame around all pages: the navigation is a sidebar or, on narrow screens, a menu behind a button. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [location] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: going anywhere closes the menu
  useEffect(() => setOpen(false), [location]);
  useScrollToTop(location);
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[14.5rem_minmax(0,1fr)]">
      <a
        href={`#${CONTENT_ID}`}
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-panel focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-panel px-3 lg:hidden">
        <IconButton
          label={isOpen ? 'Close menu' : 'Open menu'}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? <X size={18} /> : <MenuIcon size={18} />}
        </IconButton>
        <Logo />
        <span className="font-semibold tracking-tight">Tollgate</span>
      </header>
      <aside
        onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
        className={classes(
          'z-20 flex-col border-line bg-panel lg:sticky lg:top-0 lg:flex lg:h-dvh lg:border-r',
          isOpen ? 'fixed inset-0 top-12 flex' : 'hidden',
        )}
      >
        <div className="hidden items-center gap-2.5 px-4 pt-4 pb-3 lg:flex">
          <Logo />
          <span className="text-[15px] font-semibold tracking-tight">Tollgate</span>
        </div>
        <div className="px-3 py-2">
          <ProjectSwitcher />
        </div>
        <Navigation />
        <div className="mt-auto border-t border-line p-2">
          <AccountMenu />
        </div>
      </aside>
      <main
        id={CONTENT_ID}
        tabIndex={-1}
        className={classes(
          'min-w-0 outline-none',
          !BOARD.test(location) && 'mx-auto w-full max-w-[100rem]',
          isOpen && 'max-lg:hidden',
        )}
      >
        {children}
      </main>
      <SavedWarnings />
    </div>
  );
}

/** Scrolls to the top of a new page. When going back, the browser restores the scroll position. */
function useScrollToTop(location: string): void {
  const isBack = useRef(false);
  useEffect(() => {
    const note = () => {
      isBack.current = true;
    };
    window.addEventListener('popstate', note);
    return () => window.removeEventListener('popstate', note);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with every page
  useEffect(() => {
    if (!isBack.current) window.scrollTo(0, 0);
    isBack.current = false;
  }, [location]);
}

function Navigation() {
  const { id } = useProject();
  const [location] = useLocation();
  return (
    <nav aria-label="Project" className="flex flex-col gap-0.5 px-3 py-2">
      {NAVIGATION.map(({ label, path, icon: Icon }) => {
        const href = `/p/${id}/${path}`;
        const isHere = location === href || location.startsWith(`${href}/`);
        return (
          <Link
            key={path}
            href={href}
            aria-current={isHere ? 'page' : undefined}
            className={classes(
              'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-[13px] font-medium transition-colors',
              isHere ? 'bg-sunken text-ink' : 'text-ink-soft hover:bg-sunken hover:text-ink',
            )}
          >
            <Icon size={16} className={isHere ? 'text-accent' : ''} />
            {label}
          </Link>
        );
      })}
    </nav>
  );
}

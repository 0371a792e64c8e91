import { BookOpen, LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { useLocation } from 'wouter';
import { useSignIn } from '../api/session.js';
import { chooseTheme, type ThemeChoice, useThemeChoice } from '../theme.js';
import { Button, IconButton } from '../ui/button.js';
import { Menu } from '../ui/menu.js';

const THEMES: readonly { readonly choice: ThemeChoice; readonly label: string; readonly icon: typeof Sun }[] =
  [
    { choice: 'light', label: 'Light', icon: Sun },
    { choice: 'dark', label: 'Dark', icon: Moon },
    { choice: 'system', label: 'System', icon: Monitor },
  ];

/** The menu of the user: theme, documentation and sign-out. */
export function AccountMenu() {
  const { signOut } = useSignIn();
  const [, navigate] = useLocation();
  const leave = async () => {
    await signOut();
    // The next user starts at the start page, not at this one.
    navigate('/sign-in', { replace: true });
  };
  const chosen = useThemeChoice();
  const ThemeIcon = THEMES.find(({ choice }) => choice === chosen)?.icon ?? Monitor;
  return (
    <div className="flex items-center gap-1">
      <Menu
        trigger={
          <IconButton label="Theme">
            <ThemeIcon size={16} />
          </IconButton>
        }
        items={THEMES.map(({ choice, label, icon: Icon }) => ({
          label,
          icon: <Icon size={14} />,
          isChosen: choice === chosen,
          onSelect: () => chooseTheme(choice),
        }))}
      />
      <a
        href="/docs"
        target="_blank"
        rel="noreferrer"
        title="API documentation"
        aria-label="API documentation"
        className="inline-flex size-8 items-center justify-center rounded-md text-ink-soft hover:bg-sunken hover:text-ink"
      >
        <BookOpen size={16} />
      </a>
      <Button look="quiet" className="ml-auto" onClick={() => void leave()}>
        <LogOut size={15} />
        Sign out
      </Button>
    </div>
  );
}

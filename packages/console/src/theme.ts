import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark';
export type ThemeChoice = Theme | 'system';

const STORAGE_KEY = 'tollgate.theme';
const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function choice(): ThemeChoice {
  const stored = localStorage.getItem(STORAGE_KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

function theme(): Theme {
  const chosen = choice();
  if (chosen !== 'system') return chosen;
  return systemIsDark.matches ? 'dark' : 'light';
}

/** Applies the chosen theme or, by default, the system's. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}

export function chooseTheme(chosen: ThemeChoice): void {
  if (chosen === 'system') localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, chosen);
  applyTheme();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The current theme. Charts need it because a canvas does not use style sheets. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, theme);
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, choice);
}

systemIsDark.addEventListener('change', applyTheme);

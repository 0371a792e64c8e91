import type { Theme } from '../../theme.js';

/** Told apart by most kinds of colour vision, next to each other too; dark themes get lighter ones. */
const COLORS: Readonly<Record<Theme, readonly string[]>> = {
  light: ['#0f766e', '#3b6fd4', '#c2620b', '#8b46c8', '#be345f', '#5a7a16', '#0c7fa6', '#8a5a2b', '#6b7280'],
  dark: ['#3ec9b8', '#7ba4f5', '#f0a04b', '#bd8df0', '#f07f9e', '#a5c74f', '#4fc0e6', '#cfa070', '#9aa3b0'],
};

export function seriesColor(theme: Theme, index: number): string {
  const colors = COLORS[theme];
  return colors[index % colors.length] ?? '#6b7280';
}

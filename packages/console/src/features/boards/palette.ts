import type { Theme } from '../../theme.js';
import type { Series } from './series.js';

/** Twelve colours that differ for every kind of colour vision and have contrast with the panel. */
export const COLORS: Readonly<Record<Theme, readonly string[]>> = {
  light: [
    ...['#0f766e', '#248fe1', '#f16307', '#8659fc', '#28a25c', '#6f044c'],
    ...['#bb7fa6', '#0a427a', '#b13a30', '#ac1db0', '#653501', '#5d1fc0'],
  ],
  dark: [
    ...['#3ec9b8', '#3365f7', '#ee7270', '#bb7afb', '#a5c01f', '#c61b73'],
    ...['#f9c8fe', '#fddd4e', '#7960a1', '#3da007', '#7a6c1e', '#76feab'],
  ],
};
/** The colour of all others. */
export const OTHER: Readonly<Record<Theme, string>> = { light: '#6b7280', dark: '#9aa3b0' };

/** A series with its colour, which stays the same while other series are hidden. */
export interface ColoredSeries extends Series {
  readonly color: string;
}

export function colored(series: readonly Series[], theme: Theme): ColoredSeries[] {
  const colors = COLORS[theme];
  return series.map((each, index) => ({
    ...each,
    color: each.isOther ? OTHER[theme] : (colors[index % colors.length] ?? OTHER[theme]),
  }));
}

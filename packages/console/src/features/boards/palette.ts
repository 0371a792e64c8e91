import type { Theme } from '../../theme.js';
import type { Series } from './series.js';

/** Told apart by most kinds of colour vision, next to each other too; dark themes get lighter ones. */
const COLORS: Readonly<Record<Theme, readonly string[]>> = {
  light: ['#0f766e', '#3b6fd4', '#c2620b', '#8b46c8', '#be345f', '#5a7a16', '#0c7fa6', '#8a5a2b'],
  dark: ['#3ec9b8', '#7ba4f5', '#f0a04b', '#bd8df0', '#f07f9e', '#a5c74f', '#4fc0e6', '#cfa070'],
};
/** All others have no colour of their own. */
const OTHER: Readonly<Record<Theme, string>> = { light: '#6b7280', dark: '#9aa3b0' };

/** A line of a chart, with the colour that it keeps while others are hidden. */
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

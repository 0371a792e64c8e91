import { describe, expect, it } from 'vitest';
import { COLORS, colored, OTHER } from './palette.js';
import type { Series } from './series.js';

/** `--panel` of each theme, on which charts are drawn, as linear light. */
const PANEL = { light: [1, 1, 1], dark: linearOf('#151a1c') } as const;
const CONTRAST_MIN = 3;
/** In Oklab, where 0.02 is just seen between two patches side by side. */
const DISTANCE_MIN = 0.1;
const DISTANCE_MIN_OF_TWO_CONES = 0.06;
const NORMAL = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
/** Machado, Oliveira and Fernandes (2009): eyes without green, and without red, cones. */
const DEUTERANOPIA = [
  [0.367322, 0.860646, -0.227968],
  [0.280085, 0.672501, 0.047413],
  [-0.01182, 0.04294, 0.968881],
];
const PROTANOPIA = [
  [0.152286, 1.052583, -0.204868],
  [0.114503, 0.786281, 0.099216],
  [-0.003882, -0.048116, 1.051998],
];
/** Ottosson (2020): linear sRGB to cone response, and its cube root to Oklab. */
const CONES = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const OKLAB = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];

describe.each(['light', 'dark'] as const)('the colours of the %s theme', (theme) => {
  const all = [...COLORS[theme], OTHER[theme]];

  it('are twelve, and stand out from the panel', () => {
    expect(new Set(COLORS[theme]).size).toBeGreaterThanOrEqual(12);
    const faint = all.filter((color) => contrast(linearOf(color), PANEL[theme]) < CONTRAST_MIN);
    expect(faint).toEqual([]);
  });

  it.each([
    ['with all cones', NORMAL, DISTANCE_MIN],
    ['without green ones', DEUTERANOPIA, DISTANCE_MIN_OF_TWO_CONES],
    ['without red ones', PROTANOPIA, DISTANCE_MIN_OF_TWO_CONES],
  ])('differ, each from each, for eyes %s', (_eyes, vision, least) => {
    const seen = COLORS[theme].map((color) => oklab(times(vision, linearOf(color))));
    const alike = seen.flatMap((a, index) =>
      seen.slice(0, index).flatMap((b, other) => (distance(a, b) < least ? [[index, other]] : [])),
    );
    expect(alike).toEqual([]);
  });

  it('go to series in their order, and a grey to all others', () => {
    const series = [{ isOther: false }, { isOther: false }, { isOther: true }] as Series[];
    expect(colored(series, theme).map(({ color }) => color)).toEqual([
      ...COLORS[theme].slice(0, 2),
      OTHER[theme],
    ]);
  });
});

function linearOf(hex: string): number[] {
  return [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
}

function times(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  return matrix.map((row) => row.reduce((sum, value, index) => sum + value * (vector[index] ?? 0), 0));
}

function oklab(linear: readonly number[]): number[] {
  return times(OKLAB, times(CONES, linear).map(Math.cbrt));
}

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((value, index) => value - (b[index] ?? 0)));
}

/** The contrast ratio of WCAG 2. */
function contrast(a: readonly number[], b: readonly number[]): number {
  const luminance = ([red = 0, green = 0, blue = 0]: readonly number[]) =>
    0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const [dark = 0, bright = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}

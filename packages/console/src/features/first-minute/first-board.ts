import type { ChartInput } from '@tollgate/contract';
import type { UsedMetric } from '../boards/metrics.js';

export type FirstChart = Omit<ChartInput, 'board_id'>;

const ANALYSIS_METRICS_MAX = 32;
/** Dimensions with more values make charts unreadable. */
const GROUPS_MAX = 12;
const GROUPS_SHOWN = 8;

/** Charts of received usage: its amounts by the most informative dimension, and its quantities. */
export function firstCharts(used: readonly UsedMetric[]): FirstChart[] {
  const priced = used.filter(({ currencies }) => currencies.length > 0);
  const dimension = bestDimension(used);
  const group = dimension === undefined ? {} : { group_by: [dimension], limit: GROUPS_SHOWN };
  const by = dimension === undefined ? '' : ` by ${dimension}`;
  const amount: FirstChart = {
    title: `Amount${by}`,
    chart_type: 'bar',
    size: 'half',
    measures: ['amount'],
    split_by: [],
    ...group,
  };
  const quantity: FirstChart = {
    title: 'Usage by metric',
    chart_type: 'bar',
    size: priced.length > 0 ? 'half' : 'full',
    measures: ['quantity'],
    metrics: namesOf(ofOneUnit(used)),
  };
  return priced.length > 0 ? [amount, quantity] : [quantity];
}

function namesOf(used: readonly UsedMetric[]): string[] {
  return [...new Set(used.map(({ metric }) => metric))].slice(0, ANALYSIS_METRICS_MAX);
}

/** The metrics with the most common unit. Tokens and milliseconds cannot share an axis. */
function ofOneUnit(used: readonly UsedMetric[]): readonly UsedMetric[] {
  const alike = used.map(({ unit }) => used.filter((other) => other.unit === unit));
  return alike.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** The dimension with few values that most metrics have, such as `model`. Ties go to the one with more values. */
function bestDimension(used: readonly UsedMetric[]): string | undefined {
  const found = new Map<string, { metrics: number; values: number }>();
  for (const { name, cardinality } of used.flatMap(({ dimensions }) => dimensions)) {
    const { metrics, values } = found.get(name) ?? { metrics: 0, values: 0 };
    found.set(name, { metrics: metrics + 1, values: Math.max(values, cardinality) });
  }
  const [best] = [...found]
    .filter(([, { values }]) => values <= GROUPS_MAX)
    .toSorted(([, a], [, b]) => b.metrics - a.metrics || b.values - a.values);
  return best?.[0];
}

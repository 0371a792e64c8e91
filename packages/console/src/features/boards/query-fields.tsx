import {
  ANALYSIS_GROUP_BY_MAX,
  ANALYSIS_MEASURES_MAX,
  ANALYSIS_METRICS_MAX,
  isUnique,
  MEASURES,
  type Measure,
} from '@tollgate/contract';
import { Choices } from '../../ui/choices.js';
import { Field, Select } from '../../ui/field.js';
import { type ChartDraft, hasChosenMetrics, METRICS_MODES, type MetricsMode } from './chart-draft.js';
import { FilterFields } from './filter-fields.js';
import { measureLabel } from './measures.js';
import { dimensionsOf, type UsedMetric } from './metrics.js';

const MODE_LABELS: Readonly<Record<MetricsMode, string>> = {
  'all-added': 'All metrics, summed',
  'all-split': 'All metrics, separately',
  'chosen-added': 'Chosen metrics, summed',
  'chosen-split': 'Chosen metrics, separately',
};
const MODES = METRICS_MODES.map((value) => ({ value, label: MODE_LABELS[value] }));

export interface FieldsProps {
  readonly draft: ChartDraft;
  readonly onEdit: (change: Partial<ChartDraft>) => void;
}

/** The query of a chart: usage to select, dimensions to split by, and measures. */
export function QueryFields({
  draft,
  metrics,
  onEdit,
}: FieldsProps & { readonly metrics: readonly UsedMetric[] }) {
  const names = [...new Set([...metrics.map(({ metric }) => metric), ...draft.metrics])];
  const drawn = hasChosenMetrics(draft) ? draft.metrics : names;
  const dimensions = [...new Set([...dimensionsOf(metrics, drawn), ...draft.groupBy])];
  // Those that count different values are made by the API, and kept here.
  const measures: Measure[] = [...MEASURES, ...draft.measures.filter(isUnique)];
  return (
    <>
      <Field label="Metrics">
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={MODES}
            value={draft.metricsMode}
            onChange={(metricsMode) => onEdit({ metricsMode })}
          />
        )}
      </Field>
      {hasChosenMetrics(draft) && (
        <Choices
          label="Chosen metrics"
          names={names}
          chosen={draft.metrics}
          max={ANALYSIS_METRICS_MAX}
          onChange={(chosen) => onEdit({ metrics: chosen })}
        />
      )}
      <Choices
        label="Measures"
        names={measures}
        chosen={draft.measures}
        max={ANALYSIS_MEASURES_MAX}
        labelOf={(name) => measureLabel(name as Measure)}
        onChange={(chosen) => onEdit({ measures: measures.filter((measure) => chosen.includes(measure)) })}
      />
      {dimensions.length > 0 && (
        <>
          <Choices
            label="Group by"
            names={dimensions}
            chosen={draft.groupBy}
            max={ANALYSIS_GROUP_BY_MAX}
            onChange={(chosen) => onEdit({ groupBy: chosen })}
          />
          <FilterFields
            metrics={metrics}
            names={dimensions}
            filters={draft.filters}
            onChange={(filters) => onEdit({ filters })}
          />
        </>
      )}
    </>
  );
}

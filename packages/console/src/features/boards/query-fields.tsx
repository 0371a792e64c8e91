import {
  ANALYSIS_GROUP_BY_MAX,
  ANALYSIS_MEASURES_MAX,
  ANALYSIS_METRICS_MAX,
  ANALYSIS_UNIQUES_MAX,
  isUnique,
  MEASURES,
  type Measure,
  UNIQUE_PREFIX,
  type UniqueMeasure,
} from '@tollgate/contract';
import { Choices } from '../../ui/choices.js';
import { Field, Select } from '../../ui/field.js';
import {
  type ChartDraft,
  chosenMeasures,
  hasChosenMetrics,
  METRICS_MODES,
  type MetricsMode,
} from './chart-draft.js';
import { FilterFields } from './filter-fields.js';
import { measureLabel } from './measures.js';
import { nameLabel, namesOf, type UsedMetric } from './metrics.js';

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
  const dimensions = [...new Set([...namesOf(metrics, drawn), ...draft.groupBy])];
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
      <MeasureFields {...{ draft, dimensions, onEdit }} />
      {dimensions.length > 0 && (
        <>
          <Choices
            label="Group by"
            names={dimensions}
            labelOf={nameLabel}
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

/** The measures, and apart from them those that count different values. */
function MeasureFields({
  draft: { measures },
  dimensions,
  onEdit,
}: FieldsProps & { readonly dimensions: readonly string[] }) {
  const uniques = measures.filter(isUnique);
  const others = measures.filter((measure) => !isUnique(measure));
  const counts: UniqueMeasure[] = dimensions.map((name) => `${UNIQUE_PREFIX}${name}` as const);
  const choose = (isOffered: (measure: Measure) => boolean) => (chosen: string[]) =>
    onEdit({ measures: chosenMeasures(measures, chosen as Measure[], isOffered) });
  const labelOf = (name: string) => measureLabel(name as Measure);
  return (
    <>
      <Choices
        label="Measures"
        names={MEASURES}
        chosen={others}
        max={ANALYSIS_MEASURES_MAX - uniques.length}
        labelOf={labelOf}
        onChange={choose((measure) => !isUnique(measure))}
      />
      {counts.length + uniques.length > 0 && (
        <Choices
          label="Count different values"
          names={[...new Set([...counts, ...uniques])]}
          chosen={uniques}
          max={Math.min(ANALYSIS_UNIQUES_MAX, ANALYSIS_MEASURES_MAX - others.length)}
          labelOf={labelOf}
          onChange={choose(isUnique)}
        />
      )}
    </>
  );
}

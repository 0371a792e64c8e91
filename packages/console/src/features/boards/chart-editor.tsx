import {
  ANALYSIS_GROUP_BY_MAX,
  ANALYSIS_METRICS_MAX,
  type Board,
  CHART_TITLE_CHARS_MAX,
  type Chart,
  type ChartSize,
  type ChartType,
  MEASURES,
} from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.js';
import { Choices } from '../../ui/choices.js';
import { Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select, TextInput } from '../../ui/field.js';
import { FailureNote } from '../../ui/states.js';
import { useBoardChanges } from './api.js';
import { type ChartDraft, draftOf, EMPTY_DRAFT, inputOf, queryOf } from './chart-draft.js';
import { ChartPreview } from './chart-preview.js';
import { FilterFields } from './filter-fields.js';
import { MEASURE_LABELS } from './measures.js';
import { dimensionsOf, type UsedMetric, useMetrics } from './metrics.js';
import type { TimeRange } from './time-range.js';

const TYPES: readonly { readonly value: ChartType; readonly label: string }[] = [
  { value: 'area', label: 'Stacked area' },
  { value: 'line', label: 'Lines' },
  { value: 'bar', label: 'Stacked bars' },
];
const SIZES: readonly { readonly value: ChartSize; readonly label: string }[] = [
  { value: 'half', label: 'Half a row' },
  { value: 'full', label: 'A whole row' },
];
const BUCKETS = ['auto', '1m', '5m', '15m', '30m', '1h', '2h', '4h', '6h', '12h', '1d', '7d'].map(
  (value) => ({
    value,
    label: value === 'auto' ? 'By the range' : value,
  }),
);

export interface ChartEditorProps {
  readonly board: Board;
  readonly chart?: Chart;
  readonly range: TimeRange;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Makes or changes a chart, and shows at once what it will look like. */
export function ChartEditor({ isOpen, onClose, ...rest }: ChartEditorProps) {
  return (
    <Dialog
      title={rest.chart === undefined ? 'New chart' : 'Edit chart'}
      isOpen={isOpen}
      onClose={onClose}
      isWide
    >
      <EditorForm {...rest} onClose={onClose} />
    </Dialog>
  );
}

function EditorForm({ board, chart, range, onClose }: Omit<ChartEditorProps, 'isOpen'>) {
  const [draft, setDraft] = useState<ChartDraft>(chart === undefined ? EMPTY_DRAFT : draftOf(chart));
  const changes = useBoardChanges();
  const metrics = useMetrics();
  const saving = chart === undefined ? changes.createChart : changes.updateChart;
  const edit = (change: Partial<ChartDraft>) => setDraft({ ...draft, ...change });
  const isComplete = draft.metrics.length > 0 && draft.measures.length > 0 && draft.title.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = inputOf(draft, board.report_id, chart);
    if (chart === undefined) changes.createChart.mutate(body, { onSuccess: onClose });
    else changes.updateChart.mutate({ id: chart.chart_id, body }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="grid gap-6 lg:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
      <div className="flex flex-col gap-4">
        <Field label="Title">
          {(control) => (
            <TextInput
              {...control}
              required
              autoFocus
              maxLength={CHART_TITLE_CHARS_MAX}
              value={draft.title}
              onChange={(event) => edit({ title: event.target.value })}
            />
          )}
        </Field>
        <QueryFields draft={draft} metrics={metrics.data ?? []} onEdit={edit} />
        <LookFields draft={draft} onEdit={edit} />
      </div>
      <div className="min-w-0">
        {metrics.isError && <FailureNote error={metrics.error} onRetry={() => void metrics.refetch()} />}
        <ChartPreview
          isComplete={draft.metrics.length > 0 && draft.measures.length > 0}
          query={queryOf(draft, chart)}
          type={draft.chartType}
          timezone={board.timezone}
          range={range}
        />
        {saving.isError && (
          <div className="mt-4">
            <FailureNote error={saving.error} />
          </div>
        )}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={saving.isPending} disabled={!isComplete}>
            {chart === undefined ? 'Add chart' : 'Save'}
          </Button>
        </DialogActions>
      </div>
    </form>
  );
}

interface FieldsProps {
  readonly draft: ChartDraft;
  readonly onEdit: (change: Partial<ChartDraft>) => void;
}

function QueryFields({ draft, metrics, onEdit }: FieldsProps & { readonly metrics: readonly UsedMetric[] }) {
  const names = [...new Set([...metrics.map(({ metric }) => metric), ...draft.metrics])];
  const dimensions = [...new Set([...dimensionsOf(metrics, draft.metrics), ...draft.groupBy])];
  return (
    <>
      <Choices
        label="Metrics"
        names={names}
        chosen={draft.metrics}
        max={ANALYSIS_METRICS_MAX}
        onChange={(chosen) => onEdit({ metrics: chosen })}
      />
      {dimensions.length > 0 && (
        <>
          <Choices
            label="Split by"
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
      <Choices
        label="Measures"
        names={MEASURES}
        chosen={draft.measures}
        max={MEASURES.length}
        labelOf={(name) => MEASURE_LABELS[name as (typeof MEASURES)[number]]}
        onChange={(chosen) => onEdit({ measures: MEASURES.filter((measure) => chosen.includes(measure)) })}
      />
    </>
  );
}

function LookFields({ draft, onEdit }: FieldsProps) {
  return (
    <div className="grid grid-cols-2 gap-3">
      <Field label="Type">
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={TYPES}
            value={draft.chartType}
            onChange={(chartType) => onEdit({ chartType })}
          />
        )}
      </Field>
      <Field label="Size">
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={SIZES}
            value={draft.size}
            onChange={(size) => onEdit({ size })}
          />
        )}
      </Field>
      <Field label="Bucket">
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={BUCKETS}
            value={draft.bucketSize}
            onChange={(bucketSize) => onEdit({ bucketSize })}
          />
        )}
      </Field>
    </div>
  );
}

import {
  type Board,
  CHART_GROUPS_MAX,
  CHART_TITLE_CHARS_MAX,
  type Chart,
  type ChartComparison,
  type ChartSize,
  type ChartType,
  isOfTotals,
} from '@tollgate/contract';
import { type FormEvent, useMemo, useState } from 'react';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select, TextInput } from '../../ui/field.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { FailureNote, ReadFailure } from '../../ui/states.js';
import { useSettled } from '../../ui/use-settled.js';
import { useBoardChanges } from './api.js';
import { bucketLabel } from './buckets.js';
import {
  type ChartDraft,
  canQuery,
  chartDraft,
  chartInput,
  copyChart,
  EMPTY_DRAFT,
  isCompared,
  queryOf,
} from './chart-draft.js';
import { ChartPreview } from './chart-preview.js';
import { measureLabel } from './measures.js';
import { useMetrics } from './metrics.js';
import { type FieldsProps, QueryFields } from './query-fields.js';
import type { TimeRange } from './time-range.js';

const TYPES: readonly { readonly value: ChartType; readonly label: string }[] = [
  { value: 'area', label: 'Stacked area' },
  { value: 'line', label: 'Lines' },
  { value: 'bar', label: 'Stacked bars' },
  { value: 'big_number', label: 'Big number' },
  { value: 'top_n', label: 'Top groups' },
  { value: 'table', label: 'Table' },
];
const COMPARISONS: readonly { readonly value: ChartComparison | 'none'; readonly label: string }[] = [
  { value: 'none', label: 'None' },
  { value: 'previous_period', label: 'Period before' },
];
const SIZES: readonly { readonly value: ChartSize; readonly label: string }[] = [
  { value: 'half', label: 'Half width' },
  { value: 'full', label: 'Full width' },
];
const BUCKETS = ['auto', '1m', '5m', '15m', '30m', '1h', '2h', '4h', '6h', '12h', '1d', '7d', '1mo'];

export interface ChartEditorProps {
  readonly board: Board;
  readonly chart?: Chart;
  /** Whether to create a copy of the chart. */
  readonly isCopy?: boolean;
  readonly range: TimeRange;
  readonly onClose: () => void;
}

/** Form to create or edit a chart, with a preview. */
export function ChartEditor({ board, chart, isCopy = false, range, onClose }: ChartEditorProps) {
  const [before] = useState(() => {
    if (chart === undefined) return EMPTY_DRAFT;
    return isCopy ? copyChart(chart) : chartDraft(chart);
  });
  const [draft, setDraft] = useState<ChartDraft>(before);
  const changes = useBoardChanges();
  const metrics = useMetrics();
  const isNew = chart === undefined || isCopy;
  const saving = isNew ? changes.createChart : changes.updateChart;
  const edit = (change: Partial<ChartDraft>) => setDraft({ ...draft, ...change });
  const isQueryable = canQuery(draft);
  const query = useSettled(
    useMemo(() => (isQueryable ? queryOf(draft, chart) : undefined), [isQueryable, draft, chart]),
  );
  const errors = fieldErrorsOf(saving.error, ['title']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = chartInput(draft, board.report_id, chart, isCopy);
    if (isNew) changes.createChart.mutate(body, { onSuccess: onClose });
    else changes.updateChart.mutate({ id: chart.chart_id, body }, { onSuccess: onClose });
  };
  return (
    <Dialog
      title={isNew ? 'New chart' : 'Edit chart'}
      isOpen
      onClose={onClose}
      isWide
      isDirty={JSON.stringify(draft) !== JSON.stringify(before)}
    >
      <form onSubmit={submit} className="grid gap-6 lg:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
        <div className="flex flex-col gap-4">
          <TitleField draft={draft} error={errors.at('title')} onEdit={edit} />
          <QueryFields draft={draft} metrics={metrics.data ?? []} onEdit={edit} />
          <LookFields draft={draft} onEdit={edit} />
        </div>
        <div className="min-w-0">
          {metrics.isError && <ReadFailure of={metrics} />}
          {metrics.data?.length === 0 && <NoMetrics />}
          <ChartPreview
            query={query}
            type={draft.chartType}
            isCompared={isCompared(draft)}
            timezone={board.timezone}
            range={range}
          />
          {errors.rest !== undefined && (
            <div className="mt-4">
              <FailureNote error={errors.rest} />
            </div>
          )}
          <DialogActions>
            <CancelButton />
            <Button
              type="submit"
              look="primary"
              isBusy={saving.isPending}
              disabled={!isQueryable || draft.title.trim() === ''}
            >
              {isNew ? 'Add chart' : 'Save'}
            </Button>
          </DialogActions>
        </div>
      </form>
    </Dialog>
  );
}

function NoMetrics() {
  return <p className="mb-3 text-[13px] text-ink-soft">No metrics yet. They appear after the first event.</p>;
}

function TitleField({ draft, error, onEdit }: FieldsProps & { readonly error: string | undefined }) {
  return (
    <Field label="Title" error={error}>
      {(control) => (
        <TextInput
          {...control}
          required
          autoFocus
          maxLength={CHART_TITLE_CHARS_MAX}
          value={draft.title}
          onChange={(event) => onEdit({ title: event.target.value })}
        />
      )}
    </Field>
  );
}

const GROUPS = ['all', '5', '10', '20', '50', String(CHART_GROUPS_MAX)];

/** The options, including the current value of the chart. */
function optionsOf(values: readonly string[], chosen: string, labelOf: (value: string) => string) {
  const all = values.includes(chosen) ? values : [...values, chosen];
  return all.map((value) => ({ value, label: labelOf(value) }));
}

function groupLabel(value: string): string {
  return value === 'all' ? 'All' : `Top ${value}`;
}

function groupsHint({ limit, measures: [first] }: ChartDraft): string {
  if (limit === undefined || first === undefined) return 'Each group is drawn by itself.';
  return `The largest by the first measure, ${measureLabel(first)}. All others are summed as one.`;
}

function bucketOption(value: string): string {
  return value === 'auto' ? 'Automatic' : bucketLabel(value);
}

function LookFields({ draft, onEdit }: FieldsProps) {
  const groups = draft.limit === undefined ? 'all' : String(draft.limit);
  return (
    <div className="grid grid-cols-2 gap-3">
      {draft.groupBy.length > 0 && draft.chartType !== 'big_number' && (
        <Field label="Groups" hint={groupsHint(draft)} className="col-span-2">
          {(control) => (
            <Select
              {...control}
              className="w-full"
              options={optionsOf(GROUPS, groups, groupLabel)}
              value={groups}
              onChange={(value) => onEdit({ limit: value === 'all' ? undefined : Number(value) })}
            />
          )}
        </Field>
      )}
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
      {isOfTotals(draft.chartType) ? (
        <ComparisonField {...{ draft, onEdit }} />
      ) : (
        <IntervalField {...{ draft, onEdit }} />
      )}
    </div>
  );
}

function IntervalField({ draft, onEdit }: FieldsProps) {
  return (
    <Field label="Interval">
      {(control) => (
        <Select
          {...control}
          className="w-full"
          options={optionsOf(BUCKETS, draft.bucketSize, bucketOption)}
          value={draft.bucketSize}
          onChange={(bucketSize) => onEdit({ bucketSize })}
        />
      )}
    </Field>
  );
}

function ComparisonField({ draft, onEdit }: FieldsProps) {
  return (
    <Field label="Comparison">
      {(control) => (
        <Select
          {...control}
          className="w-full"
          options={COMPARISONS}
          value={draft.comparison ?? 'none'}
          onChange={(comparison) => onEdit({ comparison: comparison === 'none' ? undefined : comparison })}
        />
      )}
    </Field>
  );
}

import { type AnalysisRow, isOfMoney, type Measure } from '@tollgate/contract';
import { useMemo, useState } from 'react';
import { decimal, decimalExact } from '../../format.js';
import { Button } from '../../ui/button.js';
import { ChangeNote } from './change-note.js';
import { type ChartData, rowsOf } from './chart-data.js';
import { measureLabel } from './measures.js';
import { nameLabel } from './metrics.js';
import { unitOf } from './series.js';
import type { PreviousTotals } from './totals.js';

/** Rows to show at first, and with each click on the button. */
const ROWS_STEP = 100;

/** The totals of each metric, currency and group as rows, with all measures; largest of the chosen measure first. */
export function TotalsTable({
  title,
  data,
  measure,
  previous,
}: {
  readonly title: string;
  readonly data: ChartData;
  readonly measure: Measure;
  readonly previous: PreviousTotals | undefined;
}) {
  const [shown, setShown] = useState(ROWS_STEP);
  const rows = useMemo(() => rowsOf(data).toSorted((a, b) => order(a, b, measure)), [data, measure]);
  const before = useMemo(
    () => previous && new Map(rowsOf(previous.data).map((row) => [keyOf(row), row])),
    [previous],
  );
  const names = Object.keys(rows.find(({ other }) => other !== true)?.group ?? {});
  const hasMetrics = rows.some(({ metric }) => metric !== null);
  return (
    <div className="max-h-96 overflow-auto px-4 pb-4">
      <table className="tabular w-full text-[13px]">
        <caption className="sr-only">{title}</caption>
        <thead className="sticky top-0 bg-panel">
          <tr className="border-b border-line text-left text-xs text-ink-soft">
            {hasMetrics && <HeadCell>Metric</HeadCell>}
            {names.map((name) => (
              <HeadCell key={name}>{nameLabel(name)}</HeadCell>
            ))}
            {data.measures.map((each) => (
              <HeadCell key={each} isNumber>
                {measureLabel(each)}
              </HeadCell>
            ))}
            {before !== undefined && (
              <HeadCell isNumber>Change of {measureLabel(measure).toLowerCase()}</HeadCell>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => (
            <TotalsRow
              key={keyOf(row)}
              {...{ row, names, hasMetrics, measure }}
              measures={data.measures}
              before={before && { row: before.get(keyOf(row)) }}
            />
          ))}
        </tbody>
      </table>
      {rows.length > shown && (
        <Button size="small" className="mt-3" onClick={() => setShown(shown + ROWS_STEP)}>
          Show more
        </Button>
      )}
    </div>
  );
}

function TotalsRow({
  row,
  names,
  hasMetrics,
  measures,
  measure,
  before,
}: {
  readonly row: AnalysisRow;
  readonly names: readonly string[];
  readonly hasMetrics: boolean;
  readonly measures: readonly Measure[];
  readonly measure: Measure;
  /** Undefined without a comparison; its row is undefined if the period before had no such usage. */
  readonly before: { readonly row: AnalysisRow | undefined } | undefined;
}) {
  return (
    <tr className="border-b border-line last:border-0">
      {hasMetrics && <td className="py-1.5 pr-4">{row.metric ?? 'All'}</td>}
      {names.map((name) => (
        <td key={name} className="py-1.5 pr-4">
          {row.other === true ? 'All others' : (row.group[name] ?? '(none)')}
        </td>
      ))}
      {measures.map((each) => (
        <td key={each} className="py-1.5 pl-4 text-right whitespace-nowrap">
          <Value row={row} measure={each} />
        </td>
      ))}
      {before !== undefined && (
        <td className="py-1.5 pl-4 text-right whitespace-nowrap">
          <ChangeNote now={cellValue(row, measure)} before={cellValue(before.row, measure)} />
        </td>
      )}
    </tr>
  );
}

function HeadCell({
  children,
  isNumber = false,
}: {
  readonly children: React.ReactNode;
  readonly isNumber?: boolean;
}) {
  return (
    <th scope="col" className={isNumber ? 'py-1.5 pl-4 text-right font-medium' : 'py-1.5 pr-4 font-medium'}>
      {children}
    </th>
  );
}

function Value({ row, measure }: { readonly row: AnalysisRow; readonly measure: Measure }) {
  const value = cellValue(row, measure);
  if (value === undefined) return <span className="text-ink-faint">–</span>;
  return (
    <span title={decimalExact(value)}>
      {decimal(value)} <span className="text-xs text-ink-soft">{unitOf(row, measure)}</span>
    </span>
  );
}

function cellValue(row: AnalysisRow | undefined, measure: Measure): string | undefined {
  if (row === undefined || (isOfMoney(measure) && row.currency === null)) return undefined;
  const value = row[measure];
  return value == null ? undefined : String(value);
}

function keyOf({ metric, unit, currency, group, other }: AnalysisRow): string {
  return JSON.stringify([metric, unit, currency, other === true ? null : Object.entries(group)]);
}

function order(a: AnalysisRow, b: AnalysisRow, measure: Measure): number {
  return (
    Number(a.other === true) - Number(b.other === true) ||
    Number(cellValue(b, measure) ?? 0) - Number(cellValue(a, measure) ?? 0)
  );
}

import type { AnalysisResult, AnalysisRow, Measure } from '@tollgate/contract';
import { csvLine, csvText } from '../../kernel/csv.js';

/**
 * The rows as CSV (RFC 4180) with a header line; the columns of groups are named `group.<dimension>`. Numbers
 * are plain. `flagsOtherGroups` adds the column `other`, which distinguishes the row of all other groups from that of
 * events without the dimension.
 */
export function toCsv(
  { rows, group_by, measures }: Pick<AnalysisResult, 'rows' | 'group_by' | 'measures'>,
  flagsOtherGroups: boolean,
): string {
  const dimensions = group_by.slice(1);
  const header = [
    'bucket',
    'metric',
    'unit',
    'currency',
    ...dimensions.map((name) => `group.${name}`),
    ...(flagsOtherGroups ? ['other'] : []),
    ...measures,
  ];
  const lines = [csvLine(header.map(csvText))];
  for (const row of rows) lines.push(lineOf(row, dimensions, measures, flagsOtherGroups));
  return lines.join('');
}

function lineOf(
  row: AnalysisRow,
  dimensions: readonly string[],
  measures: readonly Measure[],
  flagsOtherGroups: boolean,
): string {
  const cells = [
    row.bucket === null ? '' : String(row.bucket),
    csvText(row.metric),
    csvText(row.unit),
    csvText(row.currency),
    ...dimensions.map((name) => csvText(row.group[name] ?? null)),
    ...(flagsOtherGroups ? [String(row.other ?? false)] : []),
    ...measures.map((measure) => String(row[measure] ?? '')),
  ];
  return csvLine(cells);
}

import type { AnalysisResult, AnalysisRow, Measure } from '@tollgate/contract';

const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;
/** A spreadsheet would run a cell that begins so as a formula. */
const FORMULA_START = /^[=+\-@\t\r]/;

/**
 * The rows as CSV (RFC 4180) with a header line; the columns of groups are named `group.<dimension>`. Numbers are plain.
 * A null is an empty cell, an empty text `""`. Text that a spreadsheet would take for a formula gets an apostrophe in
 * front, because dimension values come from whoever caused the usage. `marksOther` adds the column `other`, which tells
 * rows of all other groups from those of events without the dimension.
 */
export function toCsv({ rows, group_by, measures }: AnalysisResult, marksOther: boolean): string {
  const dimensions = group_by.slice(1);
  const header = [
    'bucket',
    'metric',
    'unit',
    'currency',
    ...dimensions.map((name) => `group.${name}`),
    ...(marksOther ? ['other'] : []),
    ...measures,
  ];
  const lines = [header.map(textCell).join(',')];
  for (const row of rows) lines.push(lineOf(row, dimensions, measures, marksOther));
  return lines.join(LINE_END) + LINE_END;
}

function lineOf(
  row: AnalysisRow,
  dimensions: readonly string[],
  measures: readonly Measure[],
  marksOther: boolean,
): string {
  const cells = [
    row.bucket === null ? '' : String(row.bucket),
    textCell(row.metric),
    textCell(row.unit),
    textCell(row.currency),
    ...dimensions.map((name) => textCell(row.group[name] ?? null)),
    ...(marksOther ? [String(row.other ?? false)] : []),
    ...measures.map((measure) => String(row[measure] ?? '')),
  ];
  return cells.join(',');
}

function textCell(text: string | null): string {
  if (text === null) return '';
  const safe = FORMULA_START.test(text) ? `'${text}` : text;
  return safe === '' || NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

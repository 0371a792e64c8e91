const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;
/** A spreadsheet would run a cell that begins so as a formula. */
const FORMULA_START = /^[=+\-@\t\r]/;

/**
 * A cell of text in CSV (RFC 4180): a null is an empty cell, an empty text `""`. Text that a spreadsheet
 * would take for a formula gets an apostrophe in front, because the text may come from anybody who sends events.
 * Numbers are written unchanged.
 */
export function csvText(text: string | null): string {
  if (text === null) return '';
  const safe = FORMULA_START.test(text) ? `'${text}` : text;
  return safe === '' || NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A line of finished cells. */
export function csvLine(cells: readonly string[]): string {
  return cells.join(',') + LINE_END;
}

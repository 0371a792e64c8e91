const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;
/** A spreadsheet would run a cell that begins with one of these as a formula. */
const FORMULA_START = /^[=+\-@\t\r]/;

/**
 * Formats a text cell in CSV (RFC 4180): null is an empty cell, an empty text is `""`. Text that a spreadsheet would
 * take for a formula gets an apostrophe in front, because anybody who sends events can choose the text. Numbers are
 * written unchanged.
 */
export function csvText(text: string | null): string {
  if (text === null) return '';
  const safe = FORMULA_START.test(text) ? `'${text}` : text;
  return safe === '' || NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Joins finished cells to a line. */
export function csvLine(cells: readonly string[]): string {
  return cells.join(',') + LINE_END;
}

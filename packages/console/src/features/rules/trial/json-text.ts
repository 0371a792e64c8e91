import { offsetOf } from '../../../ui/code/text-place.js';

/** The parsed JSON object of a text, or an error with its position. */
export type JsonReading =
  | { readonly isObject: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly isObject: false; readonly message: string; readonly offset: number };

/** Parses a JSON object from user input. `offset` of an error is in UTF-16 units. */
export function readJsonObject(text: string): JsonReading {
  if (text.trim() === '') return { isObject: false, message: 'Paste an event as JSON.', offset: 0 };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { isObject: false, ...placeOf(error, text) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { isObject: false, message: 'Expected a JSON object that begins with {.', offset: 0 };
  }
  return { isObject: true, value: value as Record<string, unknown> };
}

const AT_POSITION = /at position (\d+)/;
const AT_LINE = /line (\d+) column (\d+)/;

/** Finds the position in the browser's error message; without one, it is the end of the text. */
function placeOf(error: unknown, text: string): { readonly message: string; readonly offset: number } {
  const reason = error instanceof Error ? error.message : '';
  const position = AT_POSITION.exec(reason)?.[1];
  const [, line, column] = AT_LINE.exec(reason) ?? [];
  const offset =
    position !== undefined
      ? Number(position)
      : line !== undefined
        ? offsetOf(text, Number(line), Number(column))
        : text.length;
  const place = placeIn(text, offset);
  return { message: `Invalid JSON at line ${place.line}, column ${place.column}.`, offset };
}

function placeIn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

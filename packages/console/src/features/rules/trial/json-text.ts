import { offsetOf } from '../../../ui/code/text-place.js';

/** Text that should be a JSON object: what it says, or where it stops being one. */
export type JsonReading =
  | { readonly isObject: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly isObject: false; readonly message: string; readonly offset: number };

/** Reads what somebody is typing. The message is in plain words; `offset` counts UTF-16 units from the start. */
export function readJsonObject(text: string): JsonReading {
  if (text.trim() === '') return { isObject: false, message: 'Paste an event as JSON.', offset: 0 };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { isObject: false, ...placeOf(error, text) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { isObject: false, message: 'An event is a JSON object: it begins with {.', offset: 0 };
  }
  return { isObject: true, value: value as Record<string, unknown> };
}

const AT_POSITION = /at position (\d+)/;
const AT_LINE = /line (\d+) column (\d+)/;

/** Browsers tell the place in words of their own, or not at all: then it is the end. */
function placeOf(error: unknown, text: string): { readonly message: string; readonly offset: number } {
  const said = error instanceof Error ? error.message : '';
  const position = AT_POSITION.exec(said)?.[1];
  const [, line, column] = AT_LINE.exec(said) ?? [];
  const offset =
    position !== undefined
      ? Number(position)
      : line !== undefined
        ? offsetOf(text, Number(line), Number(column))
        : text.length;
  const place = placeIn(text, offset);
  return { message: `Not JSON yet: line ${place.line}, column ${place.column}.`, offset };
}

function placeIn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

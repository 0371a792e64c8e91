import { type ReactNode, useMemo } from 'react';
import { CodeEditor } from '../../../ui/code/code-editor.js';
import type { CodeFinding } from '../../../ui/code/code-editor-props.js';
import { readJsonObject } from './json-text.js';

const HEIGHT_PX_MAX = 440;

/** An input for a JSON object. Long text scrolls, so that the content below stays visible. */
export function JsonText({
  label,
  text,
  minHeight,
  placeholder,
  hint,
  onChange,
}: {
  readonly label: string;
  readonly text: string;
  readonly minHeight: number;
  readonly placeholder: string;
  /** Shown below, unless there is an error. */
  readonly hint?: ReactNode;
  readonly onChange: (text: string) => void;
}) {
  const { message, findings } = useMemo(() => jsonProblem(text), [text]);
  return (
    <div>
      <CodeEditor
        language="json"
        label={label}
        value={text}
        onChange={onChange}
        findings={findings}
        minHeight={minHeight}
        maxHeight={HEIGHT_PX_MAX}
        placeholder={placeholder}
      />
      <p role="status" className="mt-1.5 min-h-4 text-xs text-ink-faint">
        {message === undefined ? hint : <span className="text-bad">{message}</span>}
      </p>
    </div>
  );
}

interface JsonProblem {
  readonly message: string | undefined;
  readonly findings: readonly CodeFinding[];
}

const NO_PROBLEM: JsonProblem = { message: undefined, findings: [] };

/** The error of an input for a JSON object, with its place. An empty text has none. */
export function jsonProblem(text: string): JsonProblem {
  const reading = readJsonObject(text);
  if (reading.isObject || text.trim() === '') return NO_PROBLEM;
  const { message, offset: from } = reading;
  return { message, findings: [{ from, to: Math.min(from + 1, text.length), message }] };
}

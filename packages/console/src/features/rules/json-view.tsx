import { useMemo } from 'react';
import { CodeEditor } from '../../ui/code/code-editor.js';
import { jsonMistake } from '../../ui/code/json-place.js';
import type { Finding } from './finding.js';
import { inJson } from './json-finding.js';

const MIN_HEIGHT = 480;

/** The body as it is sent, with what is wrong marked where it stands. */
export function JsonView({
  text,
  findings,
  isReadOnly,
  onChange,
}: {
  readonly text: string;
  readonly findings: readonly Finding[];
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}) {
  const mistake = useMemo(() => jsonMistake(text), [text]);
  // New findings, not every letter that is typed, set the marks anew: in between the editor moves them along.
  // biome-ignore lint/correctness/useExhaustiveDependencies: findings are about the text as it was when they came
  const marks = useMemo(
    () => (mistake === undefined ? inJson(text, findings) : [mistake]),
    [findings, mistake === undefined, mistake?.from],
  );
  return (
    <CodeEditor
      label="Rule set as JSON"
      language="json"
      minHeight={MIN_HEIGHT}
      value={text}
      isReadOnly={isReadOnly}
      findings={marks}
      onChange={onChange}
    />
  );
}

import { useMemo } from 'react';
import { CodeEditor } from '../../ui/code/code-editor.js';
import { jsonMistake } from '../../ui/code/json-place.js';
import type { Finding } from './finding.js';
import { inJson } from './json-finding.js';

const MIN_HEIGHT = 480;

/** The body as JSON text, with errors marked at their position. */
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
  // Only new errors set the marks again. In between, the editor moves them with the text.
  // biome-ignore lint/correctness/useExhaustiveDependencies: findings are about the text at that time
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

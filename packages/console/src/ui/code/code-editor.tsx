import { lazy, Suspense } from 'react';
import type { CodeEditorProps } from './code-editor-props.js';

const LINE_HEIGHT = 32;

const CodeMirror = lazy(async () => ({ default: (await import('./code-mirror.js')).CodeMirror }));

/**
 * A text editor with highlighting, completion and error marks. Its code is loaded when an editor is first shown.
 */
export function CodeEditor({ minHeight = LINE_HEIGHT, ...rest }: CodeEditorProps) {
  return (
    <Suspense
      fallback={
        <div
          aria-hidden
          style={{ minHeight }}
          className="animate-pulse rounded-md border border-line-strong bg-sunken"
        />
      }
    >
      <CodeMirror minHeight={minHeight} {...rest} />
    </Suspense>
  );
}

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  completionStatus,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers, placeholder, tooltips } from '@codemirror/view';
import { getNonce } from 'get-nonce';
import { useEffect, useEffectEvent, useRef } from 'react';
import { cel, celCompletions } from './cel.js';
import type { CodeEditorProps, CodeFinding } from './code-editor-props.js';
import { EDITOR_COLOURS, HIGHLIGHTING } from './look.js';
import { typingOverSelection } from './typing.js';

/** Marks a change that came through `value`, for which `onChange` is not called. */
const fromOutside = Annotation.define<true>();

const NO_FINDINGS: readonly CodeFinding[] = [];
const NO_NAMES: readonly string[] = [];

export function CodeMirror(props: CodeEditorProps & { readonly minHeight: number }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const settings = useRef(new Compartment());
  // The editor's callbacks read the latest props.
  const latest = useEffectEvent(() => props);
  const { value, language, isSingleLine = false, findings = NO_FINDINGS, minHeight } = props;

  useEffect(() => {
    const { current: parent } = host;
    if (parent === null) return;
    const view = new EditorView({
      parent,
      state: EditorState.create({
        doc: latest().value,
        extensions: [
          EditorView.cspNonce.of(getNonce() ?? ''),
          settings.current.of(settingsOf(latest())),
          language === 'json' ? JSON_TEXT : celText(() => latest().dimensionNames ?? NO_NAMES),
          isSingleLine ? SINGLE_LINE : [],
          COMMON,
          EditorView.updateListener.of(({ docChanged, transactions, state }) => {
            if (!docChanged || transactions.some((each) => each.annotation(fromOutside) === true)) return;
            latest().onChange?.(state.doc.toString());
          }),
        ],
      }),
    });
    editor.current = view;
    return () => view.destroy();
  }, [language, isSingleLine]);

  useEffect(() => {
    const { current: view } = editor;
    if (view === undefined || view.state.doc.toString() === value) return;
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: value },
      annotations: fromOutside.of(true),
    });
  }, [value]);

  useEffect(() => {
    const { current: view } = editor;
    if (view !== undefined) view.dispatch(setDiagnostics(view.state, diagnosticsOf(findings, view.state)));
  }, [findings]);

  const { label, isReadOnly, placeholder: hint, control } = props;
  const isInvalid = control?.['aria-invalid'] === true || findings.length > 0;
  const describedBy = control?.['aria-describedby'];
  // biome-ignore lint/correctness/useExhaustiveDependencies: each of them is a setting
  useEffect(() => {
    editor.current?.dispatch({ effects: settings.current.reconfigure(settingsOf(latest())) });
  }, [label, isReadOnly, hint, control?.id, isInvalid, describedBy]);

  return (
    <div
      ref={host}
      style={{ minHeight, maxHeight: props.maxHeight }}
      data-invalid={isInvalid}
      className="min-w-0 overflow-hidden rounded-md border border-line-strong bg-panel shadow-xs focus-within:outline-2 focus-within:outline-offset-1 focus-within:outline-accent data-[invalid=true]:border-bad"
    />
  );
}

/** Settings that may change while the editor is shown. */
function settingsOf({
  label,
  isReadOnly = false,
  placeholder: hint,
  control,
  findings,
}: CodeEditorProps): Extension {
  const isInvalid = control?.['aria-invalid'] === true || (findings ?? NO_FINDINGS).length > 0;
  return [
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-invalid': String(isInvalid),
      ...(isReadOnly ? { 'aria-readonly': 'true' } : {}),
      ...(control === undefined ? {} : { id: control.id, 'aria-describedby': control['aria-describedby'] }),
    }),
    hint === undefined ? [] : placeholder(hint),
  ];
}

const COMMON: Extension = [
  history(),
  drawSelection(),
  bracketMatching(),
  closeBrackets(),
  EditorView.lineWrapping,
  tooltips({ position: 'fixed' }),
  syntaxHighlighting(HIGHLIGHTING),
  EDITOR_COLOURS,
  typingOverSelection,
  // Tab is not bound, so that it moves the focus to the next control.
  keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap]),
];

/** Escape leaves the editor, as Tab does. It closes open tooltips first. */
const LEAVING = keymap.of([
  {
    key: 'Escape',
    run: ({ contentDOM }) => {
      contentDOM.blur();
      return true;
    },
  },
]);

const JSON_TEXT: Extension = [
  json(),
  lineNumbers(),
  lintGutter(),
  indentOnInput(),
  keymap.of(defaultKeymap),
  LEAVING,
];

function celText(dimensionNames: () => readonly string[]): Extension {
  return [
    cel,
    autocompletion({ override: [(context) => celCompletions(context, dimensionNames())], icons: false }),
    keymap.of(defaultKeymap),
    LEAVING,
  ];
}

/** Enter does nothing. Existing or pasted line breaks stay, because CEL allows them. */
const SINGLE_LINE = Prec.high(
  keymap.of([{ key: 'Enter', run: (view) => completionStatus(view.state) !== 'active' }]),
);

function diagnosticsOf(findings: readonly CodeFinding[], { doc }: EditorState): Diagnostic[] {
  return findings.map(({ from, to, message }) => {
    const start = Math.min(from, doc.length);
    return { from: start, to: Math.max(start, Math.min(to, doc.length)), severity: 'error', message };
  });
}

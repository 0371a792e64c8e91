import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The editor in the colours of the console: each theme gives the roles their values. */
export const EDITOR_COLOURS = EditorView.theme({
  '&': {
    color: 'var(--ink)',
    backgroundColor: 'transparent',
    fontSize: '12.5px',
    minHeight: 'inherit',
    maxHeight: 'inherit',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--font-mono, "JetBrains Mono Variable", ui-monospace, monospace)',
    lineHeight: '1.55',
    minHeight: 'inherit',
    overflow: 'auto',
  },
  '.cm-content': { padding: '5px 0', caretColor: 'var(--ink)', minHeight: 'inherit' },
  '.cm-line': { padding: '0 10px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-placeholder': { color: 'var(--ink-faint)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)', color: 'var(--bad)' },
  '.cm-gutters': {
    color: 'var(--ink-faint)',
    backgroundColor: 'var(--sunken)',
    borderRight: '1px solid var(--line)',
    alignSelf: 'stretch',
    height: 'auto',
  },
  '.cm-gutter-lint': { width: '1.1em' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textDecorationSkipInk: 'none',
    textUnderlineOffset: '3px',
    paddingBottom: '0',
  },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--bad)' },
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    boxShadow: '0 4px 12px rgb(0 0 0 / 0.14)',
    overflow: 'hidden',
  },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)', padding: '6px 10px', fontSize: '12px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--font-mono, "JetBrains Mono Variable", ui-monospace, monospace)',
    maxWidth: 'min(34rem, calc(100vw - 2rem))',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--ink)',
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)', fontWeight: '600' },
  '.cm-completionDetail': { color: 'var(--ink-faint)', fontStyle: 'normal', marginLeft: '1em' },
});

export const HIGHLIGHTING = HighlightStyle.define([
  { tag: [tags.propertyName, tags.special(tags.variableName)], color: 'var(--accent)' },
  { tag: tags.function(tags.variableName), color: 'var(--accent-strong)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: tags.keyword, color: 'var(--accent)' },
  { tag: [tags.operator, tags.punctuation, tags.separator, tags.bracket], color: 'var(--ink-soft)' },
  { tag: tags.comment, color: 'var(--ink-faint)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

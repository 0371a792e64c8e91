import { EditorView } from '@codemirror/view';

/**
 * Replaces a selection by what is typed over it, and puts in what comes with line breaks. Left to itself,
 * Chromium carries the look of what was there over to the new text as an inline style, which the content
 * policy refuses and reports.
 */
export const typingOverSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data: text, inputType, isComposing } = event;
    if (inputType !== 'insertText' || text === null || isComposing || view.state.readOnly) return false;
    takeSelection(view);
    const { main } = view.state.selection;
    if (main.empty && !text.includes('\n')) return false;
    const insert = () =>
      view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true });
    const isHandled = view.state
      .facet(EditorView.inputHandler)
      .some((handle) => handle(view, main.from, main.to, text, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});

/** What was selected just now, the editor is told of only afterwards. */
function takeSelection(view: EditorView): void {
  const shown = view.contentDOM.ownerDocument.getSelection();
  const { anchorNode, anchorOffset, focusNode, focusOffset } = shown ?? {};
  if (!view.state.selection.main.empty || shown?.isCollapsed !== false) return;
  if (
    !anchorNode ||
    !focusNode ||
    !view.contentDOM.contains(anchorNode) ||
    !view.contentDOM.contains(focusNode)
  )
    return;
  view.dispatch({
    selection: {
      anchor: view.posAtDOM(anchorNode, anchorOffset),
      head: view.posAtDOM(focusNode, focusOffset),
    },
  });
}

import { EditorView } from '@codemirror/view';

/**
 * Handles typing over a selection and input with line breaks. By default, Chromium copies the look of the
 * replaced text to the new text as an inline style, which the content policy blocks and reports.
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

/** Applies the current selection, of which the browser informs the editor only later. */
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

import { EditorView } from '@codemirror/view';

/**
 * Replaces a selection by what is typed over it. Left to itself, Chromium carries the look of what was there over to the new text as
 * an inline style, which the content policy refuses and reports.
 */
export const typingOverSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data: text, inputType, isComposing } = event;
    const { main } = view.state.selection;
    if (inputType !== 'insertText' || text === null || isComposing || main.empty || view.state.readOnly) {
      return false;
    }
    const insert = () =>
      view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true });
    const isHandled = view.state
      .facet(EditorView.inputHandler)
      .some((handle) => handle(view, main.from, main.to, text, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});

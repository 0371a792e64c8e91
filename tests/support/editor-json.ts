import type { Locator } from 'playwright-core';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';

/** Returns the value in a JSON editor. Waits for all of its text, because the editor draws the beginning first. */
export async function editorJson(editor: Locator) {
  let parsed: { readonly value: ReturnType<typeof JSON.parse> } | undefined;
  await waitFor(async () => {
    parsed = parsedOrNone((await editor.textContent()) ?? '');
    return parsed !== undefined;
  });
  return parsed?.value;
}

function parsedOrNone(text: string) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

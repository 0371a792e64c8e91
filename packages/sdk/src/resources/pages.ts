/** A page of a list, with the cursor of the next page. */
interface CursorPage {
  readonly next_cursor: string | null;
}

/** Yields the entries of all pages of a list. */
export async function* everyEntry<Page extends CursorPage, Entry>(
  read: (cursor: { readonly cursor?: string }) => Promise<Page>,
  entriesOf: (page: Page) => readonly Entry[],
): AsyncGenerator<Entry, void> {
  let cursor: string | null = null;
  do {
    const page: Page = await read(cursor === null ? {} : { cursor });
    yield* entriesOf(page);
    cursor = page.next_cursor;
  } while (cursor !== null);
}

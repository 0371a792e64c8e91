/** A page of a list that goes on from a cursor. */
interface CursorPage {
  readonly next_cursor: string | null;
}

/** Walks through every page of a list that goes on from a cursor. */
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

const PAGE_SIZE = 100;
/** Longer lists are cut. */
const ENTRIES_MAX = 1_000;

/** All entries of a short list, such as those of the settings. */
export async function everyPage<Page extends { readonly total_count: number }, Entry>(
  read: (page: { readonly limit: number; readonly offset: number }) => Promise<Page>,
  entriesOf: (page: Page) => readonly Entry[],
  entriesMax = ENTRIES_MAX,
): Promise<Entry[]> {
  const found: Entry[] = [];
  for (let offset = 0; offset < entriesMax; offset += PAGE_SIZE) {
    const page = await read({ limit: PAGE_SIZE, offset });
    found.push(...entriesOf(page));
    if (offset + PAGE_SIZE >= page.total_count) break;
  }
  return found;
}
